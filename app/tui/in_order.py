"""Keys one after the other: the next one is looked at when the one before has done all that it does.

Textual hands a key to the widget that has the focus at that moment. A key that opens something does so later: on its
way up from the widget to the app, in messages, or in a screen that is still being made. What is typed right behind it
would go to the widget that is left, or to none. So it waits here.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from textual import events
from textual.widgets import Input

from app.tui.on_its_way import OnItsWay
from app.tui.widgets.composer import Composer

if TYPE_CHECKING:
    from textual.app import App
    from textual.dom import DOMNode
    from textual.widget import Widget

PATIENCE_SECONDS: Final = 1.0
"""For a widget that is busy, or gone: keys are never held for good."""
MOST_ROUNDS: Final = 12

Typed = events.Key | events.Paste


class InOrder:
    """``handle``: the app's own way with a key or a paste."""

    def __init__(self, app: App[None], handle: Callable[[Typed], Awaitable[None]]) -> None:
        self._app = app
        self._handle = handle
        self._waiting: deque[Typed] = deque()
        self._under_way: object | None = None
        """Stands for the key that is not done with yet."""
        self._late: asyncio.TimerHandle | None = None
        self._held: OnItsWay | None = None

    async def take(self, event: Typed) -> None:
        """To be handled as soon as those before it are done with."""
        self._waiting.append(event)
        await self._go_on()

    def hold(self) -> OnItsWay:
        """What the key of this moment does goes on in a task of its own: the next keys wait until that is decided."""
        self._held = OnItsWay()
        return self._held

    async def _go_on(self) -> None:
        while self._waiting and self._under_way is None:
            event, focused = self._waiting.popleft(), self._app.focused
            await self._handle(event)
            if self._app.screen_stack and not _stays(event, focused):
                self._follow()

    def _follow(self) -> None:
        key = self._under_way = object()
        loop = asyncio.get_running_loop()
        self._late = loop.call_later(PATIENCE_SECONDS, self._app.call_later, self._done, key)
        self._round(key, MOST_ROUNDS)

    def _round(self, key: object, rounds: int) -> None:
        """Behind the key through the queues of the widget that has the focus and of all around it, up to the app's."""
        begin = self._app.focused or self._app.screen
        way: list[DOMNode] = list(begin.ancestors_with_self)

        def step(at: int) -> None:
            while at < len(way) and not way[at].call_later(step, at + 1):
                at += 1  # it is going away: nothing comes through it
            if at == len(way):
                self._app.call_next(arrived)

        async def arrived() -> None:
            if key is not self._under_way or not self._app.screen_stack:
                return
            quiet = not any(node.message_queue_size for node in way) and begin is (
                self._app.focused or self._app.screen
            )
            if not quiet and rounds:
                self._round(key, rounds - 1)
            elif self._held is not None:
                self._app.run_worker(self._wait(key, self._held), group="keys", exit_on_error=False)
                self._held = None
                self._no_longer_late()
            else:
                await self._done(key)

        step(0)

    async def _wait(self, key: object, held: OnItsWay) -> None:
        await held.wait()
        if key is self._under_way:
            self._follow()

    async def _done(self, key: object) -> None:
        if key is self._under_way:
            self._under_way = None
            self._no_longer_late()
            await self._go_on()

    def _no_longer_late(self) -> None:
        if self._late is not None:
            self._late.cancel()


def _stays(event: Typed, focused: Widget | None) -> bool:
    """Whether it is text for the line that is written in, or a key that the composer sees to itself: what is behind it
    can follow at once."""
    if not isinstance(focused, Composer | Input):
        return False
    if isinstance(event, events.Paste) or event.is_printable:
        return True
    return isinstance(focused, Composer) and any(
        not binding.priority for binding in focused._bindings.key_to_bindings.get(event.key, ())
    )
