"""Reading a small file that a person or another program has put there: it never waits, and never reads without end."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

_HOW: Final = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # a pipe that nobody writes to would be waited for
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class NotReadable(Exception):
    """``str(error)`` is the reason, as it goes behind "cannot be read: "."""


def read_small(file: Path, most: int) -> bytes:
    """All of ``file``, which holds at most ``most`` bytes. Raises FileNotFoundError where there is none, and
    :class:`NotReadable` for a folder, a pipe, a device, for more bytes, and for what the disk refuses."""
    try:
        _insist_on_a_file(os.stat(file).st_mode)  # before it is opened, which does something to some devices
        with os.fdopen(os.open(file, _HOW), "rb") as opened:
            _insist_on_a_file(os.fstat(opened.fileno()).st_mode)
            data = opened.read(most + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NotReadable(error.strerror or str(error)) from error
    if len(data) > most:
        raise NotReadable(f"It holds more than {most:,} bytes")
    return data


def _insist_on_a_file(mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise NotReadable("Is a directory")
    raise NotReadable("It is a pipe" if stat.S_ISFIFO(mode) else "It is a device or a socket, not a file")
