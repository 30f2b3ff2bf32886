"""The progress of a download on stderr: a redrawn line for each file on a terminal, a plain line now and then else."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from typing import Final

from app.clean import clean_line
from app.commands.errors import say
from app.library.records import FileProgress, Getting, Phase
from app.library.words import SILENT, left_words, of_words, percent, progress_words, rate_words
from app.percent import written

PLAIN_SECONDS: Final = 10.0
BAR: Final = 12


class ProgressLines:
    """Call :meth:`show` as often as there is news, and :meth:`finish` once."""

    def __init__(self) -> None:
        self._terminal = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._drawn = 0
        self._said_at = float("-inf")
        self._said: tuple[Phase, str] | None = None
        self._quarter = 0
        self._note = ""

    def show(self, getting: Getting) -> None:
        """As it is now."""
        if self._terminal:
            self._draw(getting)
            return
        self._say_note(getting)
        if time.monotonic() - self._said_at >= PLAIN_SECONDS or self._news(getting):
            self._said_at, self._said = time.monotonic(), (getting.phase, getting.trouble)
            self._quarter = percent(getting) // 25
            more = f" ({getting.trouble})" if getting.phase is Phase.STALLED and getting.trouble else ""
            say(f"{getting.title}: {progress_words(getting)}{more}")

    def finish(self, getting: Getting) -> None:
        """The last state stays on the screen; a short transfer may have ended before anybody looked."""
        if self._terminal:
            self._draw(getting)
        else:
            self._say_note(getting)

    def _say_note(self, getting: Getting) -> None:
        if getting.note not in ("", self._note):
            self._note = getting.note
            say(getting.note)

    def _news(self, getting: Getting) -> bool:
        """Worth a line of its own are a wait that begins or ends, and every quarter: the values of a short transfer
        are seen to rise, too."""
        stalled = getting.phase is Phase.STALLED
        if self._said is None or (self._said[0] is Phase.STALLED) != stalled:
            return True
        return getting.phase is Phase.FETCHING and percent(getting) // 25 > self._quarter

    def _draw(self, getting: Getting) -> None:
        width = shutil.get_terminal_size().columns - 1
        files = getting.files or (FileProgress(getting.title, getting.done, getting.total, getting.phase, 0.0),)
        names = max(len(clean_line(file.name, 48)) for file in files)
        lines = [_line(file, names, getting)[:width] for file in files]
        if getting.phase is Phase.STALLED and getting.trouble:
            lines.append(clean_line(getting.trouble)[:width])
        if getting.note:
            lines.append(clean_line(getting.note)[:width])
        up = f"\x1b[{self._drawn}A" if self._drawn else ""
        lines += [""] * (self._drawn - len(lines))
        self._drawn = len(lines)
        self._write(up + "".join(f"\r\x1b[K{line}\n" for line in lines))

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            encoding = sys.stderr.encoding or "utf-8"
            sys.stderr.write(text.encode(encoding, "replace").decode(encoding))
            sys.stderr.flush()


def _line(file: FileProgress, names: int, getting: Getting) -> str:
    share = min(1.0, file.done / file.total) if file.total else 0.0
    filled = int(share * BAR)
    bar = "▇" * filled + "▁" * (BAR - filled)
    name = clean_line(file.name, 48).ljust(names)
    hundredths = 100 if file.done >= file.total else min(99, int(100 * share))
    rest = str(file.phase)
    if file.phase is Phase.FETCHING and getting.silent:
        rest = SILENT
    elif file.phase is Phase.FETCHING:
        left = left_words((file.total - file.done) / file.speed) if file.speed > 0 else ""
        rest = f"{rate_words(file.speed):>8}  {left:>6}"
    elif file.phase is Phase.DONE:
        rest = "whole"
    return f"{name}  {bar} {written(hundredths):>5}  {of_words(file.done, file.total):>16}  {rest}"
