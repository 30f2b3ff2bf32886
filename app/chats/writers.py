"""Which instance is writing which answer, and whether it is still there.

Each open store holds an operating-system lock on a file of its own beside the store. The kernel lets go of it
however the process ends, so nobody has to guess: no heartbeat that a suspended laptop misses, no process id that was
given to somebody else or that means nothing inside a container. The file's name is written into the rows of answers
that are being received.

On a file system without locks everybody gets them: answers of a second instance may then be called interrupted for a
moment, until its next checkpoint says otherwise.

One more lock of this kind makes instances open, migrate and repair the store one after the other.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from app.locks import is_at, try_lock

OPENING: Final = "opening"


def locks_folder(store: Path) -> Path:
    """Where the locks of a store are."""
    return store.with_name(store.name + ".locks")


@contextlib.contextmanager
def opening(store: Path, patience: float) -> Iterator[None]:
    """One instance at a time opens, migrates or repairs the store. After ``patience`` seconds we go ahead anyway:
    SQLite's own locks still hold, and a chat that does not start helps nobody."""
    folder = locks_folder(store)
    folder.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(folder / OPENING, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + patience
        while not try_lock(descriptor) and time.monotonic() < deadline:
            time.sleep(0.01)
        yield
    finally:
        os.close(descriptor)


class Writer:
    """This instance's proof of life. ``token`` names it in the rows of the answers that it is receiving."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._folder = locks_folder(store)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self.token = os.urandom(16).hex()
        self._file = self._folder / self.token
        self._descriptor = self._take()

    def _take(self) -> int:
        while True:
            descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o600)
            # Before we hold the lock, another instance may take the file for one of a dead writer and remove it.
            if try_lock(descriptor) and is_at(self._file, descriptor):
                return descriptor
            os.close(descriptor)

    def is_gone(self, token: str | None) -> bool:
        """Whether the instance that calls itself ``token`` has ended."""
        return token != self.token and is_gone(self._store, token)

    def is_alone(self) -> bool:
        """Whether no other instance has the store open, as far as locks can tell. Sweep first."""
        return {file.name for file in self._folder.iterdir()} <= {self.token, OPENING}

    def sweep(self) -> None:
        """Tidy away the files of instances that were killed."""
        for file in list(self._folder.iterdir()):
            if file.name != OPENING:
                self.is_gone(file.name)

    def close(self) -> None:
        """Let go; from now on the rows of this token count as left behind."""
        if self._descriptor >= 0:
            _remove(self._file)
            os.close(self._descriptor)
            self._descriptor = -1
            _remove(self._file)


def is_gone(store: Path, token: str | None) -> bool:
    """Whether the instance that calls itself ``token`` has ended. Its file is tidied away. Not to be asked about
    oneself."""
    if token is None or not token.isalnum():  # not a name this module gave: never a path to touch
        return True
    file = locks_folder(store) / token
    try:
        descriptor = os.open(file, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    except FileNotFoundError:
        return True
    except OSError:  # not ours to open: they are there as far as we can tell
        return False
    try:
        gone = try_lock(descriptor)
        if gone:
            _remove(file)
    finally:
        os.close(descriptor)
    if gone:
        _remove(file)  # Windows keeps an open file
    return gone


def _remove(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.unlink(missing_ok=True)
