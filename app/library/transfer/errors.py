"""Why a transfer ended without its file."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

Code = Literal[
    "offline",  # the host cannot be reached, or the network is switched off on purpose
    "certificate",  # its certificate is not trusted
    "proxy",  # the proxy refuses, or its settings are wrong
    "bad_address",  # the address cannot be asked for
    "redirect",  # led in a circle, or from https to http
    "no_file",
    "no_repo",
    "disabled",  # by the hub
    "gated",  # a licence has to be accepted
    "token",  # refused, missing, or without the right
    "rate_limit",
    "not_a_hub",  # a web page or something else instead of the file
    "server",  # 5xx and whatever else is not foreseen
    "stalled",
    "cut",
    "changed",  # the hub has another file there now
    "hash_mismatch",
    "empty",
    "no_model",  # whole, and nothing that can be run
    "disk_full",
    "too_large",  # for the file system
    "disk",  # any other fault of it
    "no_permission",
    "bad_path",
    "exists",  # another file of that name
    "busy",  # another process is fetching it
    "cancelled",
]


class TransferError(Exception):
    """The message is for people: what happened, what was kept, what to do next."""

    def __init__(self, code: Code, message: str, path: Path | None = None) -> None:
        super().__init__(message)
        self.code: Code = code
        self.path = path
        """The file that was wanted."""


class Refused(Exception):
    """Inside this package: it makes no sense to try again. The message says what happened, ``todo`` what to do."""

    def __init__(self, code: Code, message: str, todo: str) -> None:
        super().__init__(message)
        self.code: Code = code
        self.todo = todo


class Again(Exception):
    """Inside this package: something that may pass; ``after`` is how many seconds the server wants us to wait."""

    def __init__(self, code: Code, message: str, after: float | None = None, *, todo: str = "") -> None:
        super().__init__(message)
        self.code: Code = code
        self.after = after
        self.todo = todo or "start it again to continue"


class StartOver(Exception):
    """Inside this package: what was kept does not fit what the server has. ``refusal`` is for the second time."""

    def __init__(self, message: str, refusal: Refused) -> None:
        super().__init__(message)
        self.refusal = refusal
