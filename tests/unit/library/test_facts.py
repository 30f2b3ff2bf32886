"""What is kept of headers that were read, and when it still counts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.library.facts import FactStore
from tests.fixtures.headers import write_model


def test_a_file_that_may_no_longer_be_read_is_not_known_by_heart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_model(tmp_path / "a.gguf", name="tiny")
    store = FactStore(tmp_path / "facts.json")
    assert store.facts(path, path.stat()).fault is None

    def refuse(found: object, mode: int) -> bool:
        return str(found) != str(path)

    def denied(found: object, **_: object) -> object:
        raise PermissionError(13, "Permission denied", str(found))

    with monkeypatch.context() as locked:
        locked.setattr(os, "access", refuse)
        locked.setattr("app.library.facts.read_header", denied)
        assert store.facts(path, path.stat()).fault == "it cannot be read: permission denied"
    assert store.facts(path, path.stat()).fault is None, "and it may be read again"
