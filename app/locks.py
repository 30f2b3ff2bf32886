"""Operating-system locks on files: the one place that knows how each platform takes them.

The kernel lets go of a lock however its process ends, so a killed process blocks nobody.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def try_lock(descriptor: int) -> bool:
        """Whether the lock is ours now."""
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Whether the lock is ours now. On a file system without locks everybody gets it."""
        # flock, not lockf: it belongs to the open file, so two users in one process exclude each other as well.
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True


def is_at(file: Path, descriptor: int) -> bool:
    """Whether the open file is still the one of that name: its last holder may have removed it meanwhile."""
    try:
        there, here = file.stat(), os.fstat(descriptor)
    except OSError:
        return False
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)
