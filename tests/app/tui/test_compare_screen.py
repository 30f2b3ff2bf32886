"""ctrl+r: the last request once more in two ways, side by side, and what may be said about it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pytest
from textual.content import Content
from textual.widgets import Static

from app.compare.runs import Run
from app.compare.ways import Way
from app.tui.screens.compare import CompareScreen
from app.tui.widgets.answer_pane import AnswerPane, common, differs_at
from engine.protocol import ErrorCode, Loaded
from engine.stats import DrafterStats
from tests.app.tui.fake_client import FakeClient, Step, Wait, answer, ends, failure, pair, receipt, says, stats
from tests.app.tui.harness import Chat, chat

SCROLL_BAR = str.maketrans("", "", "▁▂▃▄▅▆▇█")
"""Its end stands within the words, where they are more than there is room for."""
TEXT = "The Volga is the longest river in Europe."


def run(text: str, seconds: float, *, drafts: bool, ids: Sequence[int] = (1, 2, 3)) -> list[Step]:
    figures = stats(
        len(ids), accepted=2 if drafts else 0, rejected=1 if drafts else 0, total_seconds=seconds, coverage=0.5
    )
    proof = receipt("lookup" if drafts else "none").model_copy(update={"mode": "exact"})
    end = ends(text, figures=figures, proof=proof).model_copy(update={"token_ids": tuple(ids)})
    return [*says(text), end]


def comparison(plain: float, auto: float, *, other: str = TEXT) -> list[Sequence[Step]]:
    """The first answer, two warm-ups, and three runs of each way in their order."""
    ids = (1, 2, 3) if other == TEXT else (1, 2, 4)

    def off() -> list[Step]:
        return run(TEXT, plain, drafts=False)

    def on() -> list[Step]:
        return run(other, auto, drafts=True, ids=ids)

    return [answer("The Volga."), off(), on(), off(), on(), on(), off(), on(), off()]


async def begun(it: Chat) -> CompareScreen:
    await it.ask("And the longest one?")
    await it.pilot.press("ctrl+r")
    await it.until(lambda: isinstance(it.app.screen, CompareScreen), "the screen")
    screen = it.app.screen
    assert isinstance(screen, CompareScreen)
    return screen


async def test_both_answers_the_table_and_the_verdict() -> None:
    async with chat(FakeClient(comparison(2.0, 1.5)), size=(120, 40)) as it:
        await begun(it)
        await it.sees(
            "compare · “And the longest one?”",
            "done, 3 runs of each way",
            "off auto factor",
            "whole answer 2.00 s 1.50 s 1.33x (1.33 – 1.33)",
            "factor (1.31x): times faster than off, median over pairs of alternating runs",
            "Identical: 3 tokens in all 6 runs, exact.",
            "auto is 1.33x faster than off here (1.33 to 1.33).",
        )
        assert all(settings.fresh and settings.max_tokens for settings in it.client.asked[1:])
        said = it.client.asked[1].messages
        assert [message.content for message in said] == ["And the longest one?"]
        assert it.app.screen.query(AnswerPane).first().query(".text")


async def test_enter_keeps_the_faster_way() -> None:
    async with chat(FakeClient(comparison(2.0, 2.5)), size=(120, 40)) as it:
        await begun(it)
        await it.sees("auto is slower than off here: 0.80x")
        assert "keep the faster way" in it.footer
        await it.pilot.press("enter")
        await it.sees("speculation auto → off, in this chat.")
        assert it.screen.mode == "off"


async def test_where_no_way_is_faster_for_certain_enter_is_not_offered_and_does_nothing() -> None:
    async with chat(FakeClient(comparison(2.0, 2.0)), size=(120, 40)) as it:
        before = it.screen.mode
        screen = await begun(it)
        await it.sees("No difference between auto and off that 3 runs could show")
        assert "keep the faster way" not in it.footer
        await it.pilot.press("enter")
        await it.pilot.pause()
        assert it.app.screen is screen
        await it.pilot.press("escape")
        await it.until(lambda: it.app.screen is it.screen, "the chat")
        assert it.screen.mode == before


async def test_where_the_texts_differ_is_shown_and_explained() -> None:
    other = "The Volga is the longest river of all."
    async with chat(FakeClient(comparison(2.0, 1.5, other=other)), size=(120, 40)) as it:
        await begun(it)
        await it.sees("The answers differ from token 3 on, token 3 in off and token 4 in auto, by rounding:")
        assert [wanted.token_ids for wanted in it.client.replayed] == [(1, 2, 3), (1, 2, 4)]
    assert common(other, TEXT) == len("The Volga is the longest river ")
    assert common("The Volga", TEXT) == len("The Volga")


async def test_esc_stops_what_runs_and_the_chat_goes_on() -> None:
    script = [*comparison(2.0, 1.5)[:3], [*says("The Vol"), Wait("never"), ends("The Volga.")], answer("Yes.")]
    async with chat(FakeClient(script), size=(120, 40)) as it:
        await begun(it)
        await it.sees("run 1/6")
        await it.pilot.press("escape")
        await it.until(lambda: it.app.screen is it.screen, "the chat")
        assert it.client.cancels > 0
        await it.ask("Are you there?")
        assert [role for role, _, _ in it.stored] == ["user", "assistant", "user", "assistant"]


async def test_what_finished_runs_showed_is_left_behind_in_the_chat() -> None:
    script = [*comparison(2.0, 1.5)[:5], [*says("The Vol"), Wait("never"), ends("The Volga.")]]
    async with chat(FakeClient(script), size=(120, 40)) as it:
        await begun(it)
        await it.sees("run 3/6")
        await it.pilot.press("escape")
        await it.until(lambda: it.app.screen is it.screen, "the chat")
        await it.sees(
            "Compare was stopped after 2 runs of 6. auto was 1.33x as fast as off in one run: too few to say more. "
            "Identical: 3 tokens in all 2 runs, exact."
        )
        assert [text for _, _, text in it.stored] == ["And the longest one?", "The Volga."]


async def test_within_the_first_round_it_is_said_which_way_is_missing() -> None:
    script = [*comparison(2.0, 1.5)[:4], [*says("The Vol"), Wait("never"), ends("The Volga.")]]
    async with chat(FakeClient(script), size=(120, 40)) as it:
        await begun(it)
        await it.sees(
            "run 2/6",
            "The first round is not through yet: auto has not run to the end. Nothing can be said of the speed.",
        )


async def test_the_heading_of_an_answer_names_who_proposed_not_who_might_have() -> None:
    alone = DrafterStats(
        drafts=2, drafted=3, accepted=2, rejected=1, accepted_by_position=(2,), verified_by_position=(3,)
    )
    proof = receipt("lookup+draft").model_copy(update={"mode": "exact"})

    def on() -> list[Step]:
        figures = stats(3, accepted=2, rejected=1, total_seconds=1.5, drafters={"lookup": alone})
        return [*says(TEXT), ends(TEXT, figures=figures, proof=proof).model_copy(update={"token_ids": (1, 2, 3)})]

    script = [on() if at in (2, 4, 5, 7) else step for at, step in enumerate(comparison(2.0, 1.5))]
    async with chat(FakeClient(script), size=(120, 40)) as it:
        await begun(it)
        await it.sees("done, 3 runs of each way")
        heads = [str(pane.query_one(".way", Static).content) for pane in it.app.screen.query(AnswerPane)]
        assert heads == ["off", "auto  lookup"]


async def test_what_differs_is_marked_in_both_panes() -> None:
    other = "The Volga is the longest river of all."
    async with chat(FakeClient(comparison(2.0, 1.5, other=other)), size=(120, 40)) as it:
        await begun(it)
        await it.sees("done, 3 runs of each way")
        shown = [pane.query_one(".text", Static).content for pane in it.app.screen.query(AnswerPane)]
        marked = [
            [text.plain[span.start : span.end] for span in text.spans if span.style == "$differing"]
            for text in shown
            if isinstance(text, Content)
        ]
        assert marked == [["in Europe."], ["of all."]]


def test_an_answer_that_is_on_its_way_does_not_differ_by_its_end() -> None:
    def said(text: str, *, ended: bool = True) -> Run:
        return Run(Way("off"), 0, text=text, finish_reason="stop" if ended else "")

    assert differs_at(said("The Volga"), said("The Vol", ended=False)) is None
    assert differs_at(said("The Vol", ended=False), said("The Volga")) is None
    assert differs_at(said("The Volga"), said("The Vol")) == 7
    assert differs_at(said("The Volga"), said("The Don", ended=False)) == 4
    assert differs_at(said("The Volga"), said("The Volga")) is None


async def test_nothing_of_a_comparison_enters_the_chat() -> None:
    async with chat(FakeClient(comparison(2.0, 1.5)), size=(120, 40)) as it:
        await begun(it)
        await it.sees("done, 3 runs of each way")
        await it.pilot.press("escape")
        await it.until(lambda: it.app.screen is it.screen, "the chat")
        assert [text for _, _, text in it.stored] == ["And the longest one?", "The Volga."]


async def test_a_failure_is_a_sentence() -> None:
    words = "The context is too small for this."
    script = [answer("The Volga."), [failure(ErrorCode.PROMPT_TOO_LARGE, words)]]
    async with chat(FakeClient(script), size=(120, 40)) as it:
        await begun(it)
        await it.sees(words)


async def test_a_draft_that_is_refused_takes_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def memory_of(way: Way, load: object, context: int, refused: Collection[Way]) -> int:
        return 310_000_000 if way.mode == "off" or way in refused else 450_000_000

    monkeypatch.setattr("app.tui.screens.compare.memory_of", memory_of)
    refused = pair(refused="the vocabulary differs at id 5")
    async with chat(FakeClient(comparison(2.0, 1.5), [[Loaded(id=0, pair=refused)]]), size=(120, 40)) as it:
        await begun(it)
        await it.sees("memory, est. 0.31 GB 0.31 GB", "auto: draft refused: the vocabulary differs at id 5")
        await it.sees("auto is 1.33x faster than off here (1.33 to 1.33).")


async def test_there_is_nothing_to_compare_before_the_first_question() -> None:
    async with chat(size=(120, 40)) as it:
        await it.pilot.press("ctrl+r")
        assert it.app.screen is it.screen
        assert "compare" not in it.footer


async def test_the_next_answer_is_made_with_the_kept_way_and_the_composer_keeps_its_text() -> None:
    async with chat(FakeClient(comparison(2.0, 1.0)), size=(80, 24)) as it:
        await it.ask("And the longest one?")
        it.composer.text = "half a message"
        await it.pilot.press("ctrl+r")
        await it.sees("auto is 2.00x faster than off here")
        await it.pilot.press("enter")
        await it.until(lambda: it.app.screen is it.screen, "the chat")
        assert it.composer.text == "half a message"
        assert it.screen.mode == "auto"


@pytest.mark.parametrize("size", [(48, 12), (60, 20)], ids=["48x12", "60x20"])
async def test_on_a_narrow_screen_the_factors_have_no_spread_and_no_figure_is_cut(size: tuple[int, int]) -> None:
    async with chat(FakeClient(comparison(2.0, 1.5)), size=size) as it:
        screen = await begun(it)
        await it.sees("off auto factor", "whole answer 2.00 s 1.50 s 1.33x", "to first token")
        assert "(1.33 – 1.33)" not in it.shown
        assert not screen.show_vertical_scrollbar
        await it.pilot.press(*["pagedown"] * 8)
        said = "auto is 1.33x faster than off here (1.33 to 1.33)."
        await it.until(lambda: said in " ".join(it.words.translate(SCROLL_BAR).split()), said)
