"""The last resort: an exception that reached the top becomes one sentence; its traceback goes to the log."""

from __future__ import annotations

import contextlib
import errno
import time
import traceback

from typer.exceptions import TyperException

from app import __version__, paths
from app.commands.errors import FAILED, CommandError, say
from app.library.records import ShelfError
from app.logs import discreet


def explain(error: Exception) -> int:
    """Say on stderr what ``error`` means for a person; returns the exit code."""
    from app.chats.readonly import UnreadableStoreError  # with SQLite: not before it is wanted

    if isinstance(error, (CommandError, ShelfError, UnreadableStoreError, paths.FolderError)):
        say(str(error))
    elif isinstance(error, TyperException):  # a wrong option or argument
        message = error.format_message() if hasattr(error, "format_message") else str(error)
        say(f"{message.rstrip('.')}. See: slipstream --help")
    elif isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
        say(f"The output could not be written: {error.strerror}.")
    else:
        log = _log(error)
        kept = f"the details are in {log}" if log else "the log could not be written"
        say(f"Something went wrong inside Slipstream ({type(error).__name__}); {kept}.")
    return FAILED


def _log(error: Exception) -> str | None:
    """Append the traceback to the app's log; returns the log's path."""
    with contextlib.suppress(OSError, paths.FolderError):
        paths.ensure(paths.log_dir())
        with open(paths.app_log(), "a", encoding="utf-8", errors="replace") as log:
            stamp = time.strftime("%Y-%m-%d %H:%M:%S")
            log.write(f"{stamp} slipstream {__version__}\n{discreet(''.join(traceback.format_exception(error)))}\n")
        return str(paths.app_log())
    return None
