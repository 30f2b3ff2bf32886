"""The last resort: an exception that reached the top becomes one sentence; its traceback goes to the log."""

from __future__ import annotations

import contextlib
import errno
import time
import traceback

from pydantic import ValidationError
from typer.exceptions import TyperException

from app import __version__, paths
from app.clean import clean_line
from app.commands.errors import FAILED, CommandError, say
from app.library.records import ShelfError
from app.limits import wanted
from app.logs import discreet


def explain(error: Exception) -> int:
    """Say on stderr what ``error`` means for a person; returns the exit code."""
    from app.chats.readonly import UnreadableStoreError  # with SQLite: not before it is wanted

    if isinstance(error, (CommandError, ShelfError, UnreadableStoreError, paths.FolderError)):
        say(str(error))
    elif isinstance(error, TyperException):  # a wrong option or argument
        say(f"{_wrong_option(error).rstrip('.')}. See: {_whose_help(error)} --help")
    elif isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
        say(f"The output could not be written: {error.strerror}.")
    else:
        log = _log(error)
        kept = f"the details are in {log}" if log else "the log could not be written"
        say(f"Something went wrong inside Slipstream ({type(error).__name__}); {kept}.")
    return FAILED


def _wrong_option(error: TyperException) -> str:
    """``--top-k must be a whole number, not 1.5``, where a value is to blame; else the parser's own sentence."""
    param, cause = getattr(error, "param", None), error.__cause__
    if param is None or not isinstance(cause, ValidationError):
        return error.format_message()
    problems = cause.errors(include_url=False)
    name = max(param.opts, key=len) if param.param_type_name == "option" else (param.metavar or param.name.upper())
    if problems[0]["type"] == "value_error":  # 'x' is not one of 'auto', 'exact', 'fast'
        return f"{name}: {wanted(problems)}"
    return f"{name} must be {wanted(problems)}, not {clean_line(str(problems[0]['input']), 80)}"


def _whose_help(error: TyperException) -> str:
    """The command that was typed, ``slipstream ask``; ``slipstream`` where it got no further."""
    context = getattr(error, "ctx", None)
    names: list[str] = []
    while context is not None and context.parent is not None:
        names.insert(0, context.info_name)
        context = context.parent
    return " ".join(["slipstream", *names])


def _log(error: Exception) -> str | None:
    """Append the traceback to the app's log; returns the log's path."""
    with contextlib.suppress(OSError, paths.FolderError):
        paths.ensure(paths.log_dir())
        with open(paths.app_log(), "a", encoding="utf-8", errors="replace") as log:
            stamp = time.strftime("%Y-%m-%d %H:%M:%S")
            log.write(f"{stamp} slipstream {__version__}\n{discreet(''.join(traceback.format_exception(error)))}\n")
        return str(paths.app_log())
    return None
