"""Signals that ask the chat in lines to end."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType


class Ended(BaseException):
    """A signal asks this process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number


@contextlib.contextmanager
def signals() -> Iterator[None]:
    """SIGTERM and SIGHUP raise :class:`Ended` in the main thread, once. A signal that was ignored stays so (nohup)."""

    def ended(number: int, _frame: FrameType | None) -> None:
        for other in watched:
            signal.signal(other, signal.SIG_IGN)
        raise Ended(number)

    wanted = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    watched = {number: signal.getsignal(number) for number in wanted if signal.getsignal(number) != signal.SIG_IGN}
    for number in watched:
        signal.signal(number, ended)
    try:
        yield
    finally:
        for number, before in watched.items():
            signal.signal(number, before)
