"""What reaches the terminal while an answer grows is what Textual would draw of the whole screen."""

from __future__ import annotations

import random
from itertools import islice

import pyte
import pytest
from textual._compositor import Compositor
from textual.screen import Screen
from textual.strip import Strip

from app.tui.painting import SparingCompositor
from app.tui.thoughts import Thinking
from app.tui.widgets.answer_body import AnswerBody
from tests.app.tui.fake_client import FakeClient, Wait, ends, reads, says
from tests.app.tui.harness import Chat, chat
from tests.app.tui.test_live_blocks import TEXTS
from tests.bench.ui.texts import KINDS

SIZE = (70, 24)


class Seen:
    """A terminal that is sent what the app draws."""

    def __init__(self, it: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
        self.it = it
        self.terminal = pyte.Screen(*SIZE)
        self._stream = pyte.Stream(self.terminal)
        display = it.app._display

        def see(screen: Screen[object], update: object) -> None:
            if update is not None and screen is it.app.screen:
                self._stream.feed(update.render_segments(it.app.console))  # type: ignore[attr-defined]
            display(screen, update)  # type: ignore[arg-type]

        monkeypatch.setattr(it.app, "_display", see)
        it.screen.refresh()

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.terminal.display]

    @property
    def colours(self) -> list[list[tuple[str, str, bool]]]:
        rows = (self.terminal.buffer[y] for y in range(SIZE[1]))
        return [[(row[x].fg, row[x].bg, row[x].bold) for x in range(SIZE[0])] for row in rows]


def textuals(it: Chat) -> pyte.Screen:
    """The same screen, all of it made by Textual's own compositor."""
    compositor = it.screen._compositor
    terminal = pyte.Screen(*SIZE)
    stream = pyte.Stream(terminal)
    whole = compositor.size.region
    chops = Compositor._render_chops(compositor, whole, lambda y: True)
    for y, line in enumerate(chops):
        stream.feed(f"\x1b[{y + 1};1H{Strip.join(line.values()).render(it.app.console)}")
    return terminal


async def same(it: Chat, seen: Seen) -> None:
    """Both show the same, in the same colours."""
    await it.until(lambda: seen.lines == [line.rstrip() for line in textuals(it).display], "the same text")
    wanted = textuals(it)
    rows = [[wanted.buffer[y][x] for x in range(SIZE[0])] for y in range(SIZE[1])]
    assert seen.colours == [[(each.fg, each.bg, each.bold) for each in row] for row in rows]


def moves(it: Chat, chance: random.Random) -> None:
    """Something that a reader does meanwhile."""
    transcript = it.transcript
    chance.choice(
        [
            lambda: transcript.scroll_up(animate=False),
            lambda: transcript.go("page_up"),
            lambda: transcript.go("end"),
            lambda: transcript.go("end"),
            lambda: it.composer.insert("word "),
            lambda: it.screen.say("a notice", "warning"),
        ]
    )()


LONG = {kind: "".join(islice(make(random.Random(3)), 60))[:4000] for kind, make in KINDS.items()}
ALL = {**TEXTS, **LONG}


@pytest.mark.parametrize("name", ALL)
async def test_pieces_of_the_screen_add_up_to_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(name)
    client = FakeClient([[reads(1, 1), *says("Look:\n\n"), Wait("end"), ends("Look:")]])
    async with chat(client, size=SIZE) as it:
        await it.send("go")
        await it.sees("Look:")
        seen = Seen(it, monkeypatch)
        assert isinstance(it.screen._compositor, SparingCompositor)
        body = it.screen.query_one(AnswerBody)
        text = ALL[name]
        size = max(7, len(text) // 16)
        for end in range(size, len(text) + size, size):
            await body.feed(text[end - size : end], end, Thinking())
            if chance.random() < 0.4:
                moves(it, chance)
            await same(it, seen)
        client.go("end")
        await it.until(lambda: it.idle)
        await same(it, seen)
