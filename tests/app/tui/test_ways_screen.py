"""w in the Compare screen: which ways are compared, how far they draft and with which draft."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from textual.app import ComposeResult

from app.compare.ways import Way
from app.last_choice import Memory
from app.tui.screens.compare import CompareScreen
from app.tui.screens.ways import WaysScreen
from app.tui.widgets.answer_pane import AnswerPane
from app.tui.widgets.way_grid import WayGrid
from tests.app.tui.fake_client import MODEL_PATH, FakeClient, Step, Wait, ends, says
from tests.app.tui.fake_shelf import DRAFT_PATH, EVERYTHING, FakeShelf
from tests.app.tui.harness import Chat, chat
from tests.app.tui.test_compare_screen import TEXT, begun, comparison, run


def other_ways(count: int, seconds: float = 1.0) -> list[Sequence[Step]]:
    """Warm-ups and three rounds of ``count`` ways, all as fast as each other."""
    return [run(TEXT, seconds, drafts=True) for _ in range(4 * count)]


async def chooser(it: Chat) -> WaysScreen:
    await it.pilot.press("w")
    await it.until(lambda: isinstance(it.app.screen, WaysScreen), "the chooser")
    screen = it.app.screen
    assert isinstance(screen, WaysScreen)
    await it.until(lambda: screen.query_one(WayGrid).has_focus)
    return screen


async def finished(it: Chat, screen: CompareScreen, labels: str) -> None:
    """The comparison of these ways is over, and on the screen."""
    await it.until(lambda: [way.label for way in screen.comparison.ways] == labels.split(", "), labels)
    await it.until(lambda: screen.comparison.rounds == 3 and screen._over, "three runs of each")
    await it.sees("done, 3 runs of each way")
    assert it.app.screen is screen


async def test_other_ways_and_lengths_are_compared_side_by_side() -> None:
    script = [*comparison(2.0, 1.5), *other_ways(4)]
    async with chat(FakeClient(script), size=(120, 40)) as it:
        screen = await begun(it)
        await it.sees("done, 3 runs of each way")
        grid = (await chooser(it)).query_one(WayGrid)
        assert grid.chosen == (Way("off"), Way("auto"))
        await it.sees("ways to compare", "usual", "plain decoding", "no draft model chosen", "off · auto")
        await it.pilot.press("right", "right", "space", "right", "right", "space")  # lookup: 4 and 16
        await it.sees("off · lookup:4 · lookup:16 · auto")
        await it.pilot.press("left", "space")
        await it.sees("four at most: take one out first")
        await it.pilot.press("enter")
        await finished(it, screen, "off, lookup:4, lookup:16, auto")
        assert len(screen.query(AnswerPane)) == 4
        assert [pane.display for pane in screen.query(AnswerPane)] == [True] * 4
        lengths = {(settings.speculation, settings.draft_max) for settings in it.client.asked[-16:]}
        assert lengths == {("off", None), ("lookup", 4), ("lookup", 16), ("auto", None)}
        await it.sees(
            "1.00 s 1.00 s 1.00x 1.00 s 1.00x 1.00 s 1.00x",
            "factor (1.31x): times faster than off, median over pairs of alternating runs",
        )


async def test_on_a_narrow_screen_two_are_side_by_side_and_the_others_in_the_table() -> None:
    script = [*comparison(2.0, 1.5), *other_ways(3)]
    async with chat(FakeClient(script), size=(80, 24)) as it:
        screen = await begun(it)
        await it.sees("done, 3 runs of each way")
        await chooser(it)
        await it.pilot.press("space", "enter")
        await finished(it, screen, "off, lookup, auto")
        await it.until(lambda: len(screen.query(AnswerPane)) == 3)
        assert [pane.region.width > 0 for pane in screen.query(AnswerPane)] == [True, True, False]
        await it.sees("off lookup auto")


async def test_of_four_ways_the_smallest_screen_has_three_columns_and_says_so() -> None:
    script = [*comparison(2.0, 1.5), *other_ways(4)]
    async with chat(FakeClient(script), size=(48, 30)) as it:
        screen = await begun(it)
        await chooser(it)
        await it.sees("ways to compare columns: longest draft usual 2")
        assert not any(line.rstrip().endswith("○  …") for line in it.lines), "what there is no room for is left out"
        await it.pilot.press("right", "right", "space", "right", "right", "space", "enter")
        await finished(it, screen, "off, lookup:4, lookup:16, auto")
        await it.sees("whole answer 1.00 s 1.00 s 1.00 s to first token", "1 more way: in a wider terminal")
        await it.pilot.resize_terminal(60, 30)
        await it.sees("whole answer 1.00 s 1.00 s 1.00 s 1.00 s to first token")
        assert "more way" not in it.shown
        await it.pilot.resize_terminal(80, 30)
        await it.sees("1.00 s 1.00 s 1.00x 1.00 s 1.00x 1.00 s 1.00x")


async def test_fewer_than_two_are_not_compared_and_esc_leaves_all_as_it_was() -> None:
    async with chat(FakeClient(comparison(2.0, 1.5)), size=(120, 40)) as it:
        screen = await begun(it)
        await it.sees("done, 3 runs of each way")
        ways = await chooser(it)
        await it.pilot.press("up", "space")
        await it.sees("at least 2 are needed")
        assert "enter compare" not in it.footer
        await it.pilot.press("enter")
        assert it.app.screen is ways
        await it.pilot.press("escape")
        await it.until(lambda: it.app.screen is screen, "the comparison")
        assert screen.comparison.ways == (Way("off"), Way("auto"))
        await it.sees("done, 3 runs of each way")


async def test_what_runs_is_stopped_when_others_are_chosen() -> None:
    script = [*comparison(2.0, 1.5)[:3], [*says("The Vol"), Wait("never"), ends("The Volga.")], *other_ways(3)]
    async with chat(FakeClient(script), size=(120, 40)) as it:
        screen = await begun(it)
        await it.sees("run 1/6")
        await chooser(it)
        await it.pilot.press("space", "enter")
        await finished(it, screen, "off, lookup, auto")
        assert it.client.cancels > 0
        assert it.client.at_once == 1
        assert screen.comparison.rounds == 3


async def test_another_draft_of_this_disk_and_the_pair_of_the_chat_afterwards() -> None:
    script = [*comparison(2.0, 1.5), *other_ways(2)]
    async with chat(FakeClient(script), size=(120, 40), shelf=FakeShelf(EVERYTHING)) as it:
        screen = await begun(it)
        await it.sees("done, 3 runs of each way")
        await chooser(it)
        await it.sees("draft Qwen3-0.6B Q8_0", "auto Qwen3-0.6B Q8_0")
        await it.pilot.press("down", "space", "down", "space")  # auto out, that draft in
        await it.sees("off · draft Qwen3-0.6B-Q8_0")
        await it.pilot.press("enter")
        await finished(it, screen, "off, draft Qwen3-0.6B-Q8_0")
        await it.sees("No difference between draft Qwen3-0.6B-Q8_0 and off")
        assert {load.draft.path if load.draft else "" for load in it.client.loaded[-8:]} == {"", DRAFT_PATH}
        await it.pilot.press("escape")
        await it.until(lambda: it.app.screen is it.screen, "the chat")
        await it.until(lambda: not it.screen.answering.state.is_loading, "the pair")
        assert (it.client.loaded[-1].target.path, it.client.loaded[-1].draft) == (MODEL_PATH, None)


async def test_the_kept_way_is_there_at_the_next_start(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "last.json")
    async with chat(FakeClient(comparison(2.0, 2.5)), size=(120, 40), memory=memory) as it:
        await begun(it)
        await it.sees("auto is slower than off here")
        await it.pilot.press("enter")
        await it.sees("speculation auto → off, in this chat and in new ones.")
        assert memory.read().speculation == "off"


async def test_a_kept_length_holds_for_this_chat() -> None:
    fast = [run(TEXT, 1.0, drafts=True) for _ in range(8)]
    for number in (0, 2, 5, 7):  # the places of off: warm-up, then AB BA BA
        fast[number] = run(TEXT, 2.0, drafts=False)
    async with chat(FakeClient([*comparison(2.0, 1.5), *fast]), size=(120, 40)) as it:
        screen = await begun(it)
        await it.sees("done, 3 runs of each way")
        await chooser(it)
        await it.pilot.press("right", "space", "down", "left", "space")  # lookup of 2 in, auto out
        await it.sees("off · lookup:2")
        await it.pilot.press("enter")
        await finished(it, screen, "off, lookup:2")
        await it.sees("lookup:2 is 2.00x faster than off here")
        await it.pilot.press("enter")
        await it.sees("speculation auto → lookup, in this chat.", "draft-max → 2, in this chat.")
        assert (it.screen.mode, it.screen.settings_now().draft_max) == ("lookup", 2)


async def test_a_frame_between_two_sets_of_panes_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Panes were asked for their text before they had any, and the app ended."""
    drawn: list[int] = []

    async with chat(FakeClient([*comparison(2.0, 1.5), *other_ways(4)]), size=(120, 40)) as it:
        screen = await begun(it)
        await it.sees("done, 3 runs of each way")
        register = AnswerPane.compose

        def compose(self: AnswerPane) -> ComposeResult:
            screen._frame()
            screen.action_difference()
            drawn.append(len(screen._ready_panes))
            yield from register(self)

        monkeypatch.setattr(AnswerPane, "compose", compose)
        await chooser(it)
        await it.pilot.press("right", "right", "space", "right", "space", "enter")
        await finished(it, screen, "off, lookup:4, lookup:8, auto")
    assert drawn == [0, 0, 0, 0]
