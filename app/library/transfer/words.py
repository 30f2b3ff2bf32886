"""Times and sentences for people."""

from __future__ import annotations

from engine.files.sizes import two_sizes


def duration(seconds: float) -> str:
    """``40 s``, ``5 min``, ``2 h``, ``3 days``."""
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    if seconds < 48 * 3600:
        return f"{round(seconds / 60)} min" if seconds < 5400 else f"{round(seconds / 3600)} h"
    days = round(seconds / 86_400)
    return f"{days} days" if days < 400 else "more than a year"


def kept(done: int, total: int) -> str:
    """What is still on the disk of a file that is not whole."""
    if done <= 0:
        return "nothing of it was received"
    first, second = two_sizes(done, total)
    return f"{first} of {second} are kept" if done < total else f"all {second} are kept"


def sentence(*clauses: str) -> str:
    """One sentence from its clauses."""
    text = "; ".join(clause.strip().rstrip(".") for clause in clauses if clause.strip())
    return f"{text}."
