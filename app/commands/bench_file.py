"""Where a benchmark's results are kept: written while it goes on, so that nothing that ends it takes them along."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from app import paths

EVERY: Final = 30.0
"""Seconds between two writings while it goes on: what a killed process loses at most."""


class BenchFile:
    """One file beside those of other days. A folder that cannot be written to is no reason to end a benchmark."""

    def __init__(self, text: Callable[[], str], clock: Callable[[], float] = time.monotonic) -> None:
        """``text``: the results so far."""
        self._text, self._clock = text, clock
        self._stamp = datetime.now(UTC).strftime("%Y-%m-%d-%H%M%S")
        self._written = clock()
        self._file: Path | None = None
        self.outcome = ""
        """Where the results are, or why they are nowhere, in a sentence; empty before the first writing."""

    def now_and_then(self) -> None:
        """Between two runs: write, if that is long ago."""
        if self._clock() - self._written >= EVERY:
            self.write()

    def write(self) -> None:
        """Now, over what was written before."""
        try:
            file = self._file or _new(paths.bench_dir(), self._stamp)
            self._file = file
            _replace(file, self._text())
        except (OSError, paths.FolderError) as error:
            self.outcome = f"The results are not kept: {error}."
        else:
            self.outcome = f"kept in {file}"
        self._written = self._clock()


def _new(folder: Path, stamp: str) -> Path:
    """A name that no other benchmark has: two may begin in one second."""
    for number in range(1, 1000):
        file = folder / (f"{stamp}.json" if number == 1 else f"{stamp}-{number}.json")
        with contextlib.suppress(FileExistsError):
            file.open("x").close()
            return file
    raise FileExistsError(f"{folder / stamp}.json is there already")


def _replace(file: Path, text: str) -> None:
    """The whole of it or what was there before."""
    fresh = file.with_name(f".{file.name}.new")
    try:
        fresh.write_text(text, encoding="utf-8", errors="replace")  # a file's name may be no text
        os.replace(fresh, file)
    except OSError:
        for left in (fresh, file):
            with contextlib.suppress(OSError):
                if left == fresh or not left.stat().st_size:  # half a result, or none, would look like one
                    left.unlink()
        raise
