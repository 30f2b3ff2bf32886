"""run_chat: the chat from an idle terminal back to an idle terminal, whatever happens in between."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from app.logs import log_where_possible
from app.tui.terminal import NoTerminal, Terminal, borrowed_terminal, insist, leave_on_signals

if TYPE_CHECKING:
    from app.by_name import ByName
    from app.last_choice import Memory
    from app.library.records import Library
    from app.tui.app import SlipstreamApp
    from app.tui.overflow_policy import Policy
    from app.tui.ports import Engine, PairRequest
    from engine.protocol import GenerateSettings, LoadSettings

log = logging.getLogger(__name__)

GRACE_AFTER_SIGNAL: Final = 1.5
GRACE_AFTER_QUIT: Final = 2.7


def run_chat(
    engine: Engine,
    load: LoadSettings | None,
    *,
    chats_file: Path | None,
    log_path: Path,
    defaults: GenerateSettings | None = None,
    system: str = "",
    theme: str = "slipstream-dark",
    complaints: Iterable[str] = (),
    library: Callable[[], Library] | None = None,
    pair_request: PairRequest | None = None,
    memory: Memory | None = None,
    first_run: bool = False,
    save_folder: str = "",
    by_name: ByName | None = None,
    overflow: Policy = "ask",
    keep_theme: Callable[[str], None] | None = None,
    motion: str = "full",
    keys: Mapping[str, Any] = MappingProxyType({}),
) -> int:
    """Open the chat and return the exit code: 0 quit, 1 error (one sentence on stderr), 128 + n ended by signal n.

    ``defaults`` holds sampling, speculation, draft_max, seed, max_tokens and stop for every answer (its messages are
    not looked at); ``complaints`` are sentences to show at start, for instance about settings.toml. Without ``load``
    the last of them says why there is no model. ``library`` and ``pair_request`` are for the Models screen: makes what
    it shows, and from the paths of a target and a draft to what the engine loads. ``memory``: where choices are kept
    for the next start; ``first_run``: nothing but the starter was ever used, so the empty chat says what else there is.
    ``save_folder``: for answers that are saved to files; empty: the current folder. ``by_name``: presets and system
    prompts, and where ``defaults`` and ``system`` come from. ``overflow``: what becomes of a
    chat that outgrows the context.
    ``save_folder``: for answers that are saved to files; empty: the current folder. ``keep_theme``: keeps the colours
    that were chosen; None: the settings say which they are. ``motion``: "full" or "reduced"; ``keys``: the table of
    keys that are otherwise than by default.
    """
    fault: BaseException | None = None
    code = 0
    lost: list[str] = []
    log_path = log_where_possible(log_path)
    gc.disable()  # what is made until the first screen is drawn stays
    of_app = {
        "defaults": defaults,
        "system": system,
        "theme": theme,
        "library": library,
        "pair_request": pair_request,
        "memory": memory,
        "first_run": first_run,
        "save_folder": save_folder,
        "by_name": by_name,
        "overflow": overflow,
        "keep_theme": keep_theme,
        "motion": motion,
        "keys": keys,
    }
    try:
        with borrowed_terminal(log_path) as terminal:
            try:
                code, fault = _run(engine, load, terminal, chats_file, complaints, of_app, lost)
            except Exception as error:
                log.exception("the chat could not be run")
                code, fault = 1, error
            finally:
                _restore_if_needed(terminal)
    except NoTerminal:
        print("The chat needs a terminal; for one answer without one: slipstream ask PROMPT", file=sys.stderr)
        return 1
    finally:
        gc.enable()
    if fault is not None:
        print(
            f"Slipstream had to end because of a fault of its own ({type(fault).__name__}). "
            f"{'W' if lost else 'Your chats are kept; w'}hat happened is in {log_path}.",
            file=sys.stderr,
        )
    for sentence in lost:
        print(sentence, file=sys.stderr)
    return code


def _run(
    engine: Engine,
    load: LoadSettings | None,
    terminal: Terminal,
    chats_file: Path | None,
    complaints: Iterable[str],
    of_app: Mapping[str, Any],
    lost: list[str],
) -> tuple[int, BaseException | None]:
    with asyncio.Runner() as runner:
        runner.run(_start(engine))  # its imports run while ours do
        try:
            from app.chats.records import Notice
            from app.chats.store import open_chats
            from app.tui.app import SlipstreamApp

            early: list[str] = [*complaints]
            no_model = early[-1] if early and load is None else ""
            app: SlipstreamApp | None = None

            def tell(notice: Notice) -> None:
                if app is None:
                    early.append(notice.text)
                else:
                    app.tell(notice)

            store = open_chats(chats_file, tell)
            try:
                app = SlipstreamApp(engine, load, store, complaints=early, no_model=no_model, **of_app)
                app.few_colours = app.console.color_system == "256"
                return runner.run(_main(app, engine, terminal))
            finally:
                store.close()
                if store.lost() is not None:
                    from app.tui.rescue import last_words

                    lost.append(last_words(store, str(of_app["system"])))
        finally:
            runner.run(engine.close())


async def _main(app: SlipstreamApp, engine: Engine, terminal: Terminal) -> tuple[int, BaseException | None]:
    loop = asyncio.get_running_loop()
    ended_by = 0
    watches: list[threading.Event] = []

    def last_act() -> None:
        if engine.pid is not None:
            with suppress(OSError):
                os.kill(engine.pid, signal.SIGKILL)
        _restore_if_needed(terminal)

    def leave(number: int) -> None:
        nonlocal ended_by
        if not ended_by:
            ended_by = number
            watches.append(insist(GRACE_AFTER_SIGNAL, last_act, 128 + number))
            loop.call_soon_threadsafe(app.leave, 128 + number)

    def before_leaving() -> None:
        watches.append(insist(GRACE_AFTER_QUIT, last_act, 0))

    app.before_leaving = before_leaving
    with leave_on_signals(leave):
        try:
            await app.run_async()
        finally:
            await engine.close()
            await app.library_closed()
            for watch in watches:
                watch.set()
    return (128 + ended_by if ended_by else app.return_code or 0), app.fault


async def _start(engine: Engine) -> None:
    """Start the process before anything else; a failure shows in the first request."""
    with suppress(OSError):
        await engine.start()


def _restore_if_needed(terminal: Terminal) -> None:
    from app.tui.driver import TerminalDriver

    if TerminalDriver.active:
        terminal.restore()
