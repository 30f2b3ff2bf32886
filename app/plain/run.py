"""run_plain: the chat in lines from the first prompt to the last word, whatever happens in between.

Lines are read in the main thread, where readline and Ctrl+C belong; everything else happens in an event loop beside it,
so that the engine is heard while somebody types.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from app.commands.errors import CANCELLED, FAILED, PIPE_CLOSED, say
from app.logs import log_where_possible
from app.plain.event_loop import GRACE, Loop, event_loop
from app.plain.lines import Lines, OutputGone, silent, writer
from app.plain.prompt import GivenUp, open_prompt, read_message
from app.plain.signals import Ended, signals

if TYPE_CHECKING:
    from app.by_name import ByName
    from app.last_choice import Memory
    from app.library.records import Library
    from app.plain.chat import PlainChat
    from app.plain.prompt import Prompt
    from app.tui.overflow_policy import Policy
    from app.tui.ports import Engine, PairRequest
    from engine.protocol import GenerateSettings, LoadSettings

log = logging.getLogger(__name__)
T = TypeVar("T")

SAVE_AGAIN_SECONDS: Final = 5.0
AGAIN: Final = "Ctrl+C once more, Ctrl+D or /quit ends; everything is kept."
GIVEN_UP: Final = "The message was given up; nothing was sent."
BRINGS_BACK: Final = "Arrow up brings back what was typed of it."


class Left(Exception):
    """Ctrl+C while the answer was stopping already: whoever pressed it waits no longer."""


def run_plain(
    engine: Engine,
    load: LoadSettings | None,
    *,
    chats_file: Path | None,
    log_path: Path,
    defaults: GenerateSettings | None = None,
    system: str = "",
    complaints: Iterable[str] = (),
    library: Callable[[], Library] | None = None,
    pair_request: PairRequest | None = None,
    memory: Memory | None = None,
    save_folder: str = "",
    by_name: ByName | None = None,
    overflow: Policy = "ask",
) -> int:
    """Chat in lines and return the exit code: 0 quit, 1 error, 130 ended by Ctrl+C, 141 nobody reads any more, 128 + n
    ended by signal n. The parameters are those of :func:`app.tui.run.run_chat`.

    From a pipe every line is a message; answers go to stdout and what is said about them to stderr; 1 says that one of
    them got no answer."""
    from app.chats.store import open_chats
    from app.plain.chat import PlainChat
    from engine.protocol import GenerateSettings

    log_where_possible(log_path)
    lines, prompt = _streams()
    store = open_chats(chats_file, lambda notice: lines.note(notice.text))
    try:
        with event_loop() as loop, signals():
            early = [*complaints]

            async def make() -> PlainChat:
                return PlainChat(
                    engine,
                    load,
                    store,
                    lines,
                    defaults=defaults or GenerateSettings(messages=()),
                    system=system,
                    no_model=early[-1] if early and load is None else "",
                    interactive=prompt.interactive,
                    library=library,
                    pair_request=pair_request,
                    memory=memory,
                    save_folder=save_folder,
                    by_name=by_name,
                    overflow=overflow,
                )

            chat = loop.finish(make())
            code = Talk(loop, chat, prompt).run(early)
    except Ended as ended:
        code = ended.code
    except OutputGone as error:
        if not error.broken_pipe:
            say(str(error))
        code = PIPE_CLOSED if error.broken_pipe else FAILED
    finally:
        store.close()
        if store.lost() is not None:
            from app.tui.rescue import last_words

            say(last_words(store, system))
    return code


class Talk:
    """The main thread's part: reads, has it done, reads again."""

    def __init__(self, loop: Loop, chat: PlainChat, prompt: Prompt) -> None:
        self._loop = loop
        self._chat = chat
        self._prompt = prompt
        self._printed = ""
        """The text that stands at a prompt that cannot show it."""

    def run(self, complaints: Iterable[str]) -> int:
        """Until somebody leaves; the engine is gone then, and what it said is kept."""
        chat = self._chat
        worker, code = self._loop.start(_work(chat)), FAILED
        self._loop.start(_save_again(chat))
        try:
            self._loop.finish(_call(chat.begin, complaints))
            if self._prompt.prefills:
                self._prompt.remember(chat.said())
            code = self._talk()
        except Ended as ended:
            code = ended.code
        except Left:
            code = CANCELLED
        finally:
            self._leave(worker, code)
        return code

    def _talk(self) -> int:
        chat, interactive = self._chat, self._prompt.interactive
        warned = False
        while not chat.over:
            try:
                text = self._read()
                if text is None:
                    if interactive and not chat.may_leave():
                        continue
                    break
                warned = False
                self._loop.finish(chat.take(text), interrupted=self._stop)
            except GivenUp as given_up:
                if not interactive:
                    return CANCELLED
                warned = False
                self._give_up(given_up.text)
            except KeyboardInterrupt:
                if warned or not interactive:
                    return CANCELLED
                warned = True
                chat.say(AGAIN)
            if chat.stopped and not interactive:
                return CANCELLED
        return FAILED if chat.failed and not interactive else 0

    def _read(self) -> str | None:
        """The next message; None: there is none."""
        chat, prefilled = self._chat, self._chat.prefilled
        if prefilled != self._printed and self._prompt.interactive and not self._prompt.prefills:
            self._printed = prefilled
            if prefilled:
                chat.lines.say(f"Not sent yet: {prefilled}")
        chat.lines.hold()
        text: str | None = None
        try:
            text = read_message(self._prompt.line, prefilled)
        finally:
            chat.lines.release(line_open=text is None and self._prompt.interactive)
        if text is not None and text.strip():
            self._prompt.remember([text])
        return text

    def _give_up(self, text: str) -> None:
        """Ctrl+C in the middle of a message."""
        comes_back = self._prompt.prefills and bool(text.strip())
        if comes_back:
            self._prompt.remember([text])
        self._chat.say(f"{GIVEN_UP} {BRINGS_BACK}" if comes_back else GIVEN_UP)

    def _stop(self, times: int) -> None:
        """Ctrl+C while an answer is made."""
        if times > 1:
            raise Left
        self._loop.soon(self._chat.answering.stop)

    def _leave(self, worker: concurrent.futures.Future[None], code: int) -> None:
        """Keep the answer, let the engine go, and be gone soon."""
        from app.tui.terminal import insist

        pid = self._chat.answering.engine.pid
        done = insist(GRACE, lambda: _kill(pid), code)
        try:
            self._loop.cancel_all(but=worker)
            self._loop.finish(_farewell(self._chat))
        finally:
            done.set()


async def _work(chat: PlainChat) -> None:
    with contextlib.suppress(OSError):  # a failure shows in the first request
        await chat.answering.engine.start()
    await chat.answering.work()


async def _save_again(chat: PlainChat) -> None:
    """Where the disk was full, there may be room by now."""
    while True:
        await asyncio.sleep(SAVE_AGAIN_SECONDS)
        if chat.store.trouble is not None:
            chat.store.save_again()


async def _call(do: Callable[..., T], *what: Any) -> T:
    return do(*what)


async def _farewell(chat: PlainChat) -> None:
    chat.dialogue.leave()
    await chat.answering.engine.close()
    if (library := chat.slipstream.library) is not None:
        library.close()


def _kill(pid: int | None) -> None:
    if pid is not None:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _streams() -> tuple[Lines, Prompt]:
    """Answers go to stdout. What is said about them goes there, too, when somebody sits in front of it."""
    shared = sys.stdout is not None and sys.stdout.isatty()
    out, beside = writer(sys.stdout, "" if shared else "utf-8"), silent(writer(sys.stderr))
    return Lines(out, None if shared else beside), open_prompt(out if shared else beside)
