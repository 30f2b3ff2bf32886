"""How a command speaks on stderr, and how it fails: one sentence and the exit code."""

from __future__ import annotations

import contextlib
import sys

from app.clean import clean

FAILED = 1
CANCELLED = 130
PIPE_CLOSED = 141
"""What a shell reports of a program that a closed pipe ended."""


class CommandError(Exception):
    """The message says what happened, what was kept, what to do."""


def say(text: str) -> None:
    """One cleaned line on stderr. A stderr that is gone is no reason to stop."""
    line = " ".join(clean(text).splitlines())
    with contextlib.suppress(OSError, ValueError, AttributeError):
        encoding = sys.stderr.encoding or "utf-8"
        sys.stderr.write(line.encode(encoding, "replace").decode(encoding) + "\n")
        sys.stderr.flush()
