"""What each way of a comparison takes of the memory: estimated from the files, and measured while it runs."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.compare.ways import Way
from engine.files.fit import estimate
from engine.files.header import HeaderError, read_header
from engine.files.machine import PROC
from engine.files.shape import Shape
from engine.protocol import LoadSettings

RESET_PEAK: Final = "5"
"""Written to ``clear_refs``: the high-water mark of the resident memory starts anew (proc(5), Linux 4.0)."""


def memory_of(way: Way, load: LoadSettings, context: int, refused: Collection[Way] = ()) -> int | None:
    """Bytes of the pair with its draft, or of the target alone, estimated as ``models check`` does; None where a file
    cannot be read. ``refused``: ways whose draft is not used."""
    wanted = way.load(load)
    drafts = wanted.draft is not None and way.mode in ("draft", "auto") and way not in refused
    try:
        target = _shape(wanted.target.path)
        draft = _shape(wanted.draft.path) if drafts and wanted.draft is not None else None
    except (HeaderError, OSError):
        return None
    return estimate(target, draft, context=context).total


def _shape(path: str) -> Shape:
    return Shape.of(read_header(Path(path)))


@dataclass(frozen=True, slots=True)
class Peak:
    """The most memory that the engine had resident during a run, in bytes. ``sampled``: looked at now and then, since
    the system's own mark could not be started anew; a short peak may be missing."""

    bytes: int
    sampled: bool


class PeakMemory:
    """Of one process, from when it is made on (Linux; elsewhere unknown)."""

    def __init__(self, pid: int | None, proc: Path = PROC) -> None:
        self._status = proc / str(pid) / "status" if pid is not None else None
        self._sampled = not _reset(proc / str(pid)) if pid is not None else True
        self._most = 0
        self.look()

    def look(self) -> None:
        """Now and then, while the run goes on; of use only where the mark could not be started anew."""
        if self._sampled:
            self._most = max(self._most, self._read("VmRSS") or 0)

    def peak(self) -> Peak | None:
        """So far; None where the system does not tell."""
        self.look()
        most = self._most if self._sampled else self._read("VmHWM")
        return Peak(most, self._sampled) if most else None

    def _read(self, field: str) -> int | None:
        if self._status is None:
            return None
        with contextlib.suppress(OSError):
            return _field(self._status.read_text(), field)
        return None


def _reset(process: Path) -> bool:
    """Whether the mark starts anew: some containers take the order and do nothing."""
    try:
        (process / "clear_refs").write_text(RESET_PEAK)
        status = (process / "status").read_text()
    except OSError:
        return False
    most, now = _field(status, "VmHWM"), _field(status, "VmRSS")
    return most is not None and now is not None and most <= now * 1.01


def _field(status: str, name: str) -> int | None:
    """A line of ``/proc/PID/status`` in bytes."""
    return next(_sizes(status, name), None)


def _sizes(status: str, name: str) -> Iterator[int]:
    for line in status.splitlines():
        words = line.split()
        if words and words[0] == f"{name}:" and len(words) > 1 and words[1].isdigit():
            yield int(words[1]) * 1024
