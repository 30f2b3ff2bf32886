"""The log file of the terminal interface: messages of every library in it, and no secret of any."""

from __future__ import annotations

import logging
import re
import tempfile
from pathlib import Path
from typing import Final

_TALKATIVE: Final = ("httpx", "httpx2", "httpcore", "httpcore2", "huggingface_hub")
"""They log the address of every request."""

_ADDRESS: Final = re.compile(r"\b([a-z][a-z0-9+.-]*://)([^\s'\"<>]+)", re.IGNORECASE)


class DiscreetFormatter(logging.Formatter):
    """Takes out of every address, in messages and in tracebacks, what may be secret: user name and password, and what
    follows a ``?`` (signed addresses)."""

    def format(self, record: logging.LogRecord) -> str:
        """The line as it is written."""
        return discreet(super().format(record))


def discreet(text: str) -> str:
    """``text`` with addresses that hold no user name, password or query."""
    return _ADDRESS.sub(_without_secrets, text)


def log_to_file(path: Path) -> None:
    """Messages of the logging module go to ``path``, unless somebody decided otherwise."""
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
    if logging.getLogger().handlers:
        return
    handler = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace")
    handler.setFormatter(DiscreetFormatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.basicConfig(handlers=[handler], level="INFO")


def log_where_possible(path: Path) -> Path:
    """:func:`log_to_file`. Returns the file: another one, in the folder for temporary files, where ``path`` cannot be
    written to."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "ab"):
            pass
    except OSError:
        path = Path(tempfile.mkdtemp(prefix="slipstream-")) / "app.log"
    log_to_file(path)
    return path


def _without_secrets(match: re.Match[str]) -> str:
    scheme, rest = match[1], match[2]
    address, mark, _ = rest.partition("?")
    host, slash, path = address.partition("/")
    # A password that is not encoded may hold a slash: whatever stands before the last @ may be a part of it.
    if "@" in address:
        host, slash, path = address.rpartition("@")[2].partition("/")
    return f"{scheme}{host}{slash}{path}" + ("?…" if mark else "")
