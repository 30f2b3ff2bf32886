"""A place for headers put together by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def write(tmp_path: Path) -> Callable[[bytes], Path]:
    """``write(data)``: a file with these bytes."""

    def to_file(data: bytes) -> Path:
        path = tmp_path / "m.gguf"
        path.write_bytes(data)
        return path

    return to_file
