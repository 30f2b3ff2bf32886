"""Textual's Linux and macOS driver, made to survive what real terminals send and do.

Changes to the driver of Textual 8.2.8:

* bytes that are no UTF-8 (old-style mouse reports, half a pasted character) become replacement marks; upstream decodes
  strictly and its reader thread takes the app down (Textualize/textual#6668);
* pastes, escape keys and sequences are told apart before Textual's parser sees them (app/tui/terminal_input.py), and a
  sequence that the parser cannot digest costs that sequence, not the app;
* a terminal that went away ends the app instead of raising in a thread or blocking the writer;
* lines that arrive in one piece from a terminal without bracketed paste are one paste, not many messages;
* suspending (ctrl+z, SIGTSTP) happens in the event loop, not in the middle of whatever the signal interrupts; the whole
  screen comes back, also where nobody can stop us, after SIGSTOP, and not before the terminal is ours (``bg``).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import selectors
import sys
import time
from collections.abc import Callable, Iterable
from typing import IO, TYPE_CHECKING, Any, cast

from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from app.tui.job_control import JobControl
from app.tui.terminal_input import TerminalInput

if TYPE_CHECKING:
    from textual.app import App

    from app.tui.leaving import LeavingApp

log = logging.getLogger(__name__)

READ_SIZE = 64 * 1024
AWAY_SECONDS = 0.5
"""Between two looks whether the terminal is ours again, where nobody stops us."""


class _LastingFile:
    """The terminal as a file; once it is gone, writing to it does nothing."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self.gone = False

    def write(self, text: str) -> None:
        if not self.gone:
            try:
                self._file.write(text)
            except (OSError, ValueError):
                self.gone = True

    def flush(self) -> None:
        if not self.gone:
            try:
                self._file.flush()
            except (OSError, ValueError):
                self.gone = True

    def fileno(self) -> int:
        return self._file.fileno()


class TerminalDriver(LinuxDriver):
    """See the module's text."""

    active: bool = False
    """Whether terminal modes are changed now, and somebody has to change them back."""

    def __init__(self, app: App[Any], **options: Any) -> None:
        self._away = False
        loop = asyncio.get_running_loop()

        def later(act: Callable[[], None]) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nothing is on the screen any more
                loop.call_soon_threadsafe(act)

        self._jobs = JobControl(
            sys.__stdin__.fileno() if sys.__stdin__ else 0,
            stopped=lambda: later(self._suspend_as_asked),
            continued=lambda: None if self._away else later(self._continued),  # suspend() comes back by itself
        )
        super().__init__(app, **options)
        assert sys.__stderr__ is not None
        self._tty = sys.__stderr__
        self._file = cast("Any", _LastingFile(self._tty))
        self._jobs.listen()

    def start_application_mode(self) -> None:
        type(self).active = True
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def stop_application_mode(self) -> None:
        if not self._away:
            super().stop_application_mode()
        type(self).active = False

    def disable_input(self) -> None:
        if not self._away:  # from the background this would stop us once more
            super().disable_input()

    def write(self, data: str) -> None:
        if not self._away:
            super().write(data)

    # -------------------------------------------------------------------------------------------------- job control

    def suspend(self) -> bool:
        """Give the terminal back and stop until the shell lets us go on; False: nobody could, so the chat goes on."""
        if self._away or not self.active:
            return self._jobs.stop()
        if not self._jobs.wanted:
            return False
        self.suspend_application_mode()
        self._away = True
        stopped = self._jobs.stop()
        self._come_back()
        return stopped

    def _suspend_as_asked(self) -> None:
        if self.active and not self._away:
            self._app.call_later(self._app.action_suspend_process)
        else:
            self._jobs.stop()

    def _come_back(self) -> None:
        """The whole screen again, in the size that the terminal has by now."""
        if not self._away or self._app._exit:
            return
        if not self._jobs.in_foreground:
            # In the event loop: what another signal asked for (leave) comes first.
            self._loop.call_soon(self._wait_for_terminal)
            return
        self._away = False
        self._must_signal_resume = True
        self.resume_application_mode()

    def _wait_for_terminal(self) -> None:
        """Continued in the background (``bg``): nothing can be done there without a terminal."""
        if self._away and not self._app._exit:
            if self._jobs.stop():
                self._come_back()
            else:
                self._loop.call_later(AWAY_SECONDS, self._come_back)

    def _continued(self) -> None:
        """After a SIGSTOP, which nobody hears coming: the shell has written over the screen and changed the modes."""
        if self._away or not self.active or self._app._exit:
            return
        if self._jobs.in_foreground:
            self._must_signal_resume = True
            self.suspend_application_mode()
            self.resume_application_mode()
        else:
            self._jobs.stop()  # and once more when that ends

    def _get_terminal_size(self) -> tuple[int, int]:
        """The size of the terminal that is drawn on; upstream asks stdout, which may be a file."""
        try:
            columns, lines = os.get_terminal_size(self._tty.fileno())
        except OSError:
            columns, lines = 80, 24
        return columns or 80, lines or 24

    def run_input_thread(self) -> None:
        """Read, cut and dispatch until the app leaves or the terminal does."""
        selector = selectors.SelectSelector()
        selector.register(self.fileno, selectors.EVENT_READ)
        source = TerminalInput(self._debug)
        now = 0.0  # seconds in which nothing came: a program that is busy elsewhere is no pause in what is pasted
        try:
            while not self.exit_event.is_set():
                patience, asked = 0.02 if source.waiting else 0.1, time.monotonic()
                ready = selector.select(patience)
                waited = time.monotonic() - asked
                now += min(waited, patience) if ready else waited
                data = b""
                if ready:
                    with contextlib.suppress(OSError):
                        data = os.read(self.fileno, READ_SIZE)
                    if not data:
                        self._hung_up()
                        return
                try:
                    self._dispatch(source.feed(data, now) if data else source.tick(now))
                except Exception:
                    log.warning("input that could not be dispatched: %.80r", data, exc_info=True)
        finally:
            selector.close()

    def _dispatch(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self.process_message(message)

    def _hung_up(self) -> None:
        log.info("the terminal is gone")
        self._app.call_later(cast("LeavingApp", self._app).leave, 0)  # nobody is there to be asked
