"""How the list and the progress of downloads are said: the same words in the terminal interface and in commands."""

from __future__ import annotations

from app.library.records import Entry, Getting, Phase, State
from app.percent import written
from engine.files.sizes import size_words

DASH = "–"
CUT = "…"
"""Before the end of a name whose beginning a list leaves out."""
SILENT = "stalled, no data"
"""Of a download that is connected while nothing comes; how long it waits for that is its patience's business."""


def why_words(name: str, why: str, verb: str = "") -> str:
    """``NAME: WHY``, or the reason alone where it names the file itself. ``verb``: what stands instead of the colon."""
    return why if why.startswith(f"{name} ") else f"{name}{verb}: {why}"


def size_cell(count: int | None) -> str:
    """``3.1 GB``, or a dash."""
    return DASH if count is None else size_words(count)


def speed_words(entry: Entry) -> str:
    """``42 tok/s 1.31x``: what was measured here; a dash where nothing was."""
    if entry.speed is None:
        return DASH
    speed = f"{entry.speed:.0f}" if entry.speed >= 9.95 else f"{entry.speed:.1f}"
    return f"{speed} tok/s" + (f" {entry.factor:.2f}x" if entry.factor is not None else "")


def state_words(entry: Entry) -> str:
    """``partly here, 1.2 of 2.5 GB``."""
    words = str(entry.state)
    if entry.state is State.PARTLY:
        words = f"{words}, {of_words(entry.here, entry.size)}"
    if entry.fits is False:
        words += ", does not fit"
    return words


def of_words(done: int, total: int | None) -> str:
    """``1.2 of 2.5 GB``: the unit once where it is the same. More than there should be is no part of it."""
    if total is None or done > total:
        return size_words(done)
    first, second = size_words(done), size_words(total)
    number, _, unit = first.partition(" ")
    return f"{number if unit == second.partition(' ')[2] else first} of {second}"


def percent(getting: Getting) -> int:
    """0 to 100; 100 is said only of all bytes."""
    return 100 if getting.done >= getting.total else min(99, int(getting.share * 100))


def rate_words(speed: float) -> str:
    """``12 MB/s``; what trickles in is a share of a kilobyte, and the unit does not jump. Empty where nothing was
    measured yet."""
    if speed <= 0:
        return ""
    return f"{size_words(round(speed))}/s" if speed >= 999.5 else f"{speed / 1e3:.0f} kB/s"


def left_words(seconds: float | None) -> str:
    """``40 s``, ``3 min``, ``1.5 h``; empty while that cannot be said."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h" if seconds < 99 * 3600 else "days"


def progress_words(getting: Getting) -> str:
    """``41 %  1.0 of 2.5 GB  12 MB/s  2 min left``, or why it does not move."""
    so_far = f"{written(percent(getting))}  {of_words(getting.done, getting.total)}"
    match getting.phase:
        case Phase.FETCHING if getting.silent:
            return f"{so_far}  {SILENT}"
        case Phase.FETCHING:
            left = left_words(getting.left)
            return "  ".join(filter(None, (so_far, rate_words(getting.speed), f"{left} left" if left else "")))
        case Phase.CHECKING:
            return f"{so_far}  checking"
        case Phase.DONE:
            return f"{size_words(getting.total)}  whole"
        case _:
            return f"{so_far}  {getting.phase}"


def ended_words(getting: Getting) -> str:
    """How a download ended: ``Qwen3-4B with 0.6B is here``, or sentences about what was kept and what was not."""
    match getting.phase:
        case Phase.DONE:
            return f"{getting.title} is here"
        case Phase.CANCELLED:
            return getting.trouble or f"{getting.title} was given up; what had arrived of it is deleted."
        case _:
            return getting.trouble or f"{getting.title} could not be fetched; what has arrived is kept."
