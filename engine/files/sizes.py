"""Sizes as people read them: one function for the engine, the commands and the screens."""

from __future__ import annotations


def size_words(count: int) -> str:
    """``5 bytes``, ``812 kB``, ``8.0 MB``, ``98 MB``, ``3.1 GB``, ``1.2 TB``: decimal, as disks and models are sold.

    What rounds to a thousand of one unit is said in the next.
    """
    if count < 1000:
        return f"{count} byte{'' if count == 1 else 's'}"
    if count < 999_500:
        return f"{count / 1e3:.0f} kB"
    if count < 9_950_000:
        return f"{count / 1e6:.1f} MB"
    if count < 999_500_000:
        return f"{count / 1e6:.0f} MB"
    return f"{count / 1e9:.1f} GB" if count < 999_950_000_000 else f"{count / 1e12:.1f} TB"


def two_sizes(one: int, other: int) -> tuple[str, str]:
    """Both in words that differ when the numbers do: ``7.0 MB`` and ``8.0 MB``, else bytes to the last one."""
    if one != other and size_words(one) == size_words(other):
        return f"{one:,} bytes", f"{other:,} bytes"
    return size_words(one), size_words(other)
