"""Opening the files of a transfer, none of them through a link: whoever can write into the folder may have laid one
there, and what is written would land somewhere else."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final

LINK: Final = "it is a link, and nothing is written through links"
NOT_PLAIN: Final = "it is no plain file"

_ALWAYS: Final = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
"""Windows has no O_NOFOLLOW; a link takes rights of its own there. Without O_NONBLOCK a pipe would hold us up."""


def open_plain(path: Path | str, flags: int, mode: int = 0o666) -> int:
    """:func:`os.open` of a plain file or of none yet. An OSError says that it is a link."""
    if os.path.islink(path):
        raise OSError(errno.ELOOP, LINK, str(path))
    try:
        descriptor = os.open(path, flags | _ALWAYS, mode)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, LINK, str(path)) from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, NOT_PLAIN, str(path))
    return descriptor


def plain_size(path: Path) -> int | None:
    """Bytes of the file itself; None where there is none, or something else."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None
