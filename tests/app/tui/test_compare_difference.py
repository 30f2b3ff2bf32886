"""Where two answers differ far down, the panes of a comparison come to rest there."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from textual import events

from app.tui.widgets.answer_pane import AnswerPane
from tests.app.tui.fake_client import FakeClient, Step, Wait, answer
from tests.app.tui.harness import Chat, chat
from tests.app.tui.test_compare_screen import begun, run

RIVERS = "The Volga is longer than the Danube, and the Danube is longer than the Rhine. " * 30
ENDS = {"off": "Oder is next. " + "No more is said of it. " * 40, "auto": "Elbe is next. " * 60}


def differing(off: str = ENDS["off"], auto: str = ENDS["auto"], before: str = RIVERS) -> list[Sequence[Step]]:
    """Two warm-ups and three runs of each way; they differ behind ``before``."""

    def one(*, drafts: bool) -> list[Step]:
        text, ids = (auto, (1, 2, 4)) if drafts else (off, (1, 2, 3))
        return run(before + text, 1.5 if drafts else 2.0, drafts=drafts, ids=ids)

    return [
        answer("The Volga."),
        *(one(drafts=drafts) for drafts in (False, True, False, True, True, False, True, False)),
    ]


def panes_of(it: Chat) -> list[AnswerPane]:
    return list(it.app.screen.query(AnswerPane))


def rows_of(it: Chat, *words: str) -> list[int]:
    """Where each of these words stands in its own pane, in rows of the screen; -1: not in view."""
    half = it.app.size.width // 2
    halves = [[line[:half] for line in it.lines], [line[half:] for line in it.lines]]
    return [
        next((row for row, line in enumerate(lines) if word in line), -1)
        for word, lines in zip(words, halves, strict=True)
    ]


async def done(it: Chat) -> list[AnswerPane]:
    await begun(it)
    await it.sees("done, 3 runs of each way")
    return panes_of(it)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
@pytest.mark.parametrize(
    "script",
    [differing(), differing(auto="Elbe is next."), differing(off="Oder is next.")],
    ids=["both go on", "auto ends there", "off ends there"],
)
async def test_the_first_difference_is_in_view_in_both_panes_at_the_same_place(
    size: tuple[int, int], script: list[Sequence[Step]]
) -> None:
    async with chat(FakeClient([*script]), size=size) as it:
        first, _ = await done(it)
        await it.until(lambda: -1 not in rows_of(it, "Oder", "Elbe"), "the difference")
        assert first.scroll_y > 0
        assert -1 not in rows_of(it, "off", "auto"), "which pane is whose"
        rows = rows_of(it, "Oder", "Elbe")
        assert rows[0] == rows[1]


async def test_a_difference_in_the_first_rows_is_in_view_too() -> None:
    async with chat(FakeClient(differing(before="The Volga. ")), size=(120, 40)) as it:
        panes = await done(it)
        await it.until(lambda: [pane.scroll_y for pane in panes] == [0, 0], "the beginning")
        assert rows_of(it, "Oder", "Elbe")[0] > 0


async def test_the_difference_stays_in_view_when_the_terminal_becomes_narrower() -> None:
    async with chat(FakeClient(differing()), size=(120, 40)) as it:
        await done(it)
        await it.pilot.resize_terminal(82, 26)
        await it.until(lambda: -1 not in rows_of(it, "Oder", "Elbe"), "the difference")


def wheel(pane: AnswerPane) -> None:
    """One step up with the mouse over the pane."""
    zero = dict.fromkeys(("delta_x", "delta_y", "button"), 0)
    pane.post_message(
        events.MouseScrollUp(pane, 1, 1, **zero, shift=False, meta=False, ctrl=False, screen_x=2, screen_y=5)
    )


async def test_a_pane_that_was_scrolled_stays_until_the_key_is_pressed() -> None:
    script = differing()
    script[-1] = [*script[-1][:-1], Wait("the end"), script[-1][-1]]
    async with chat(FakeClient(script), size=(120, 40)) as it:
        await begun(it)
        await it.sees("run 6/6")
        first, second = panes_of(it)
        await it.until(lambda: first.scroll_y > 3, "what is written is followed")
        wheel(first)
        await it.until(lambda: first.moved, "scrolled")
        await it.settle()
        here = first.scroll_y
        it.client.go("the end")
        await it.sees("done, 3 runs of each way")
        await it.until(lambda: rows_of(it, "", "Elbe")[1] > 0, "the other one rests at the difference")
        assert (first.scroll_y, first.moved, second.moved) == (here, True, False)
        assert "d difference" in it.footer
        await it.pilot.press("d")
        await it.until(lambda: -1 not in rows_of(it, "Oder", "Elbe"), "the difference")
        rows = rows_of(it, "Oder", "Elbe")
        assert rows[0] == rows[1]


async def test_asked_for_while_it_runs_the_panes_stay_at_the_difference() -> None:
    script = differing()
    script[-1] = [*script[-1][:-1], Wait("the end"), script[-1][-1]]
    async with chat(FakeClient(script), size=(120, 40)) as it:
        await begun(it)
        await it.sees("run 6/6", "d difference")
        await it.pilot.press("d")
        await it.until(lambda: -1 not in rows_of(it, "Oder", "Elbe"), "the difference")
        it.client.go("the end")
        await it.sees("done, 3 runs of each way")
        assert -1 not in rows_of(it, "Oder", "Elbe")


async def test_where_nothing_differs_there_is_no_such_key() -> None:
    async with chat(FakeClient(differing(auto=ENDS["off"])), size=(120, 40)) as it:
        await done(it)
        assert "difference" not in it.footer


async def test_keys_scroll_the_answers_side_by_side() -> None:
    async with chat(FakeClient([*differing()]), size=(80, 24)) as it:
        panes = await done(it)
        await it.until(lambda: -1 not in rows_of(it, "Oder", "Elbe"), "the difference")
        one, other = (pane.scroll_y for pane in panes)
        assert min(one, other) > 2
        await it.pilot.press("k", "shift+up")
        await it.until(lambda: [pane.scroll_y for pane in panes] == [one - 2, other - 2], "two rows up")
        await it.pilot.press("j", "shift+down", "j")
        await it.until(lambda: [pane.scroll_y for pane in panes] == [one + 1, other + 1], "three rows down")
        assert all(pane.moved for pane in panes), "the next figures do not take them back"
