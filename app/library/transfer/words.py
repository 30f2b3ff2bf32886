"""Sizes, times and sentences for people."""

from __future__ import annotations


def size(count: int) -> str:
    """``5 bytes``, ``812 kB``, ``8.0 MB``, ``98 MB``, ``3.1 GB``: decimal, as disks and models are sold."""
    if count < 1000:
        return f"{count} byte{'' if count == 1 else 's'}"
    if count < 999_500:
        return f"{count / 1e3:.0f} kB"
    if count < 9_950_000:
        return f"{count / 1e6:.1f} MB"
    return f"{count / 1e6:.0f} MB" if count < 999_500_000 else f"{count / 1e9:.1f} GB"


def two_sizes(one: int, other: int) -> tuple[str, str]:
    """Both in words that differ when the numbers do: ``7.0 MB`` and ``8.0 MB``, else bytes to the last one."""
    if one != other and size(one) == size(other):
        return f"{one:,} bytes", f"{other:,} bytes"
    return size(one), size(other)


def duration(seconds: float) -> str:
    """``40 s``, ``5 min``, ``2 h``."""
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{round(seconds / 3600)} h"


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
