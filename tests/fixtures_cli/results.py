"""What a command that was run inside the test's process leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Result:
    code: int
    out: str
    err: str


Slipstream = Callable[..., Result]
