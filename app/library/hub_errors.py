"""What can go wrong between a wish and a plan: a code for the program, a sentence for people."""

from __future__ import annotations

from typing import Literal

Code = Literal[
    "wish",  # what was typed cannot be understood, or no pair is named so
    "package",  # the file travels in a Python package that is not installed
    "offline",
    "offline-mode",
    "timeout",
    "proxy",
    "certificate",
    "endpoint",  # HF_ENDPOINT is no address
    "repository",
    "revision",
    "file",
    "incomplete",  # a split model lacks a part on the hub
    "gated",
    "token",
    "rate-limit",
    "not-a-hub",
    "server",
    "disabled",
    "hostile",  # an answer that no honest hub gives
    "cancelled",
]


class HubError(Exception):
    """The message is one sentence or two: what happened, and what to do. It holds no token and no password."""

    def __init__(self, code: Code, sentence: str, *, wait: float | None = None) -> None:
        super().__init__(sentence)
        self.code: Code = code
        self.wait = wait
        """Seconds after which it may be tried again, where the hub said so."""
