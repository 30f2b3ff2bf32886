"""Sizes as people read them."""

from __future__ import annotations

_UNITS = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


def human(count: int) -> str:
    """``98 MB``, ``3.1 GB``: decimal, as disks and models are sold."""
    for unit, name in _UNITS:
        if abs(count) >= unit:
            return f"{count / unit:.1f} {name}" if unit >= 10**9 else f"{count / unit:.0f} {name}"
    return f"{count} B"
