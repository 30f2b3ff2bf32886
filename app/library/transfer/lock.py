"""One writer per file, across processes."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from app.library.transfer.plain import open_plain
from app.locks import is_at, try_lock


class WriterLock:
    """Held by whoever writes a ``.part``, on a file of its own: the part itself changes its name in the end."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._descriptor = -1

    @property
    def held(self) -> bool:
        return self._descriptor >= 0

    def take(self) -> bool:
        """Whether it is ours now; false while somebody else has it."""
        while not self.held:
            descriptor = open_plain(self._file, os.O_RDWR | os.O_CREAT, 0o600)
            if not try_lock(descriptor):
                os.close(descriptor)
                return False
            if is_at(self._file, descriptor):
                self._descriptor = descriptor
            else:  # the last holder removed it between our open and our lock
                os.close(descriptor)
        return True

    def release(self) -> None:
        """Let go, and tidy the file away."""
        if not self.held:
            return
        if sys.platform == "win32":  # which keeps an open file
            os.close(self._descriptor)
            self._remove()
        else:  # once it is closed, the file of this name may be somebody else's
            self._remove()
            os.close(self._descriptor)
        self._descriptor = -1

    def _remove(self) -> None:
        with contextlib.suppress(OSError):
            self._file.unlink(missing_ok=True)
