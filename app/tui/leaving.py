"""How the app ends, for good, by a fault, or for a while to the shell: what was said is kept, the terminal restored."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from textual import on
from textual.driver import Driver

from app.tui.background import aside
from app.tui.coloured import ColouredApp

if TYPE_CHECKING:
    from app.chats.store import ChatStore
    from app.library.records import Library
    from app.tui.ports import Engine

log = logging.getLogger(__name__)

LIBRARY_PATIENCE: Final = 1.0
DISK_PATIENCE: Final = 1.5
NO_SHELL: Final = "Slipstream was not suspended: no shell with job control started it, so nothing could bring it back."


class LeavingApp(ColouredApp):
    """See the module's text."""

    engine: Engine
    store: ChatStore
    system: str
    fault: BaseException | None = None
    """The exception that ended the app, for whoever ran it."""
    _engine_closing: asyncio.Task[None] | None = None
    _library_closing: asyncio.Task[None] | None = None
    _asking = False
    """Whether to leave is being found out, or asked."""

    def __init__(self) -> None:
        super().__init__()
        self.before_leaving: Callable[[], None] = lambda: None
        """Called once when the app begins to end; run_chat sets its last resort there."""

    @property
    def library(self) -> Library | None:
        """What knows the models, if anybody has asked for them."""
        raise NotImplementedError

    async def action_quit(self) -> None:
        """Leave; where that would lose what was said, ask first."""
        if self.store.trouble is None:
            self.leave(0)
        elif not self._asking:
            self._asking = True
            self.run_worker(self._leave_or_ask(), name="leave", exit_on_error=False)

    async def _leave_or_ask(self) -> None:
        from app.tui import rescue  # not before it is wanted

        try:
            async with asyncio.timeout(DISK_PATIENCE):
                loses = await aside(rescue.why_stay, self.store, self.system)
        except Exception:  # a disk that does not answer, too
            log.exception("what leaving would lose could not be found out")
            loses = rescue.UNKNOWN
        if loses is None:
            self.leave(0)
            return
        from app.tui.screens.losing import LosingScreen  # not before it is wanted

        self.push_screen(LosingScreen(loses), self._decided)

    def _decided(self, choice: str | None) -> None:
        self._asking = False
        if choice == "leave":
            self.leave(0)
        elif choice == "again":
            self.call_next(self.action_quit)

    def action_help_quit(self) -> None:
        """Textual's ctrl+c, where a screen of its own is on top."""

    def leave(self, return_code: int) -> None:
        """End the app: keep the running answer, let the engine go at once, restore the terminal."""
        if self._engine_closing is not None:
            return
        self.before_leaving()
        self._keep_answer()
        self._engine_closing = asyncio.create_task(self.engine.close(), name="close engine")
        self._close_library()
        self.exit(return_code=return_code)

    def _close_library(self) -> None:
        if (library := self.library) is not None and self._library_closing is None:
            self._library_closing = asyncio.create_task(aside(library.close), name="close library")

    async def library_closed(self) -> None:
        """Wait, though not for long, until downloads have let go of their files. What has arrived stays."""
        self._close_library()
        if self._library_closing is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._library_closing, LIBRARY_PATIENCE)

    # ------------------------------------------------------------------------------------------- unexpected errors

    def _handle_exception(self, error: Exception) -> None:
        """No traceback on the screen: it goes to the log, and run_chat says one sentence."""
        log.error("the app ended by an exception", exc_info=error)
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        self._end_with(error)

    def panic(self, *renderables: Any) -> None:
        log.error("the app ended in panic: %s", renderables)
        self._end_with(RuntimeError("panic"))

    def _end_with(self, error: BaseException) -> None:
        self.fault = self.fault or error
        self._return_code = 1
        self._keep_answer()
        self._close_messages_no_wait()

    def _keep_answer(self) -> None:
        try:
            if (screen := self.chat_screen) is not None:
                screen.leave()
        except Exception:
            log.exception("the last words were not kept")

    # -------------------------------------------------------------------------------------------------- suspending

    def get_driver_class(self) -> type[Driver]:
        driver = super().get_driver_class()
        if driver.__module__ == "textual.drivers.linux_driver":
            from app.tui.driver import TerminalDriver

            return TerminalDriver
        return driver

    def action_suspend_process(self) -> None:
        """To the shell; its ``fg`` brings the chat back."""
        from app.tui.driver import TerminalDriver  # with termios: nothing for a screen that is no terminal

        if not (isinstance(self._driver, TerminalDriver) and self._driver.suspend()):
            say = getattr(self.screen, "say", None) or getattr(self.chat_screen, "say", None)
            if say is not None:
                say(NO_SHELL)

    @on(Driver.SignalResume)
    def _drawn_anew(self) -> None:
        """What stood on the screen is the shell's now, whatever Textual thinks."""
        self.screen.refresh()
