"""What to tell a person when the disk says no."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}

GOES_ON = "The chat goes on in memory"


def code_of(error: Exception) -> int:
    """SQLite's primary result code; 0 when the error has none."""
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


def is_busy(error: Exception) -> bool:
    """Another connection holds the file; waiting may help."""
    return code_of(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_damage(error: Exception) -> bool:
    """The file is not (or no longer) a database that can be trusted."""
    return code_of(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def why(trouble: str) -> str:
    """Only the reason of a sentence "not saved: ...", for when nothing goes on any more."""
    reason = trouble.removeprefix("not saved: ").partition(f" {GOES_ON}")[0]
    return reason[:1].upper() + reason[1:]


def not_saved(error: Exception, file: Path) -> str:
    """The sentence "not saved: ..." for a write that failed: why, what was kept, what to do."""
    code, number = code_of(error), getattr(error, "errno", None)
    if file.is_dir():
        return f"not saved: {file} is a folder and not a file. {GOES_ON}; move the folder away."
    if code == sqlite3.SQLITE_FULL or number in _FULL:
        return f"not saved: the disk of {file.parent} is full. {GOES_ON}; it is saved as soon as there is room."
    if is_busy(error):
        return f"not saved: another program keeps {file} locked. {GOES_ON}; it is saved as soon as the file is free."
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM) or number in _FORBIDDEN:
        return (
            f"not saved: {file.parent} cannot be written to. {GOES_ON}; make the folder writable, "
            "or set SLIPSTREAM_HOME to another one."
        )
    return f"not saved: {file} failed ({error}). {GOES_ON}; it is saved as soon as the file works again."
