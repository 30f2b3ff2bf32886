"""What a command that was run inside the test's process leaves behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Result:
    code: int
    out: str
    err: str


Slipstream = Callable[..., Result]


def requests(record: Path) -> list[dict[str, Any]]:
    """What the engine that is a script was asked."""
    return [json.loads(line) for line in record.read_text().splitlines()]
