"""Reading small files that the program keeps for itself, whatever somebody has laid in their place."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final

_FLAGS: Final = sum(getattr(os, name, 0) for name in ("O_RDONLY", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))


def read_kept(path: Path, most: int, *, links: bool = False) -> bytes:
    """All of a regular file of ``most`` bytes at most. OSError for any other: opening a pipe would wait for ever, and a
    device never ends. ``links``: whether a link is followed to one."""
    descriptor = os.open(path, _FLAGS | (0 if links else getattr(os, "O_NOFOLLOW", 0)))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    with open(descriptor, "rb") as opened:
        found = opened.read(most + 1)
    if len(found) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes", str(path))
    return found
