"""An answer that goes on with another one: who proposed which token of all of it, and how long it thought."""

from __future__ import annotations

from app.tui import xray
from app.tui.thoughts import Thinking, placed, tokens_of
from app.tui.token_texts import TokenTexts
from app.tui.widgets.turns import PART_XRAY
from engine.protocol import Finished, Receipt
from tests.app.tui.fake_client import FakeClient, receipt
from tests.app.tui.harness import Chat, chat
from tests.app.tui.samples import spelled, streamed
from tests.app.tui.test_xray import tints
from tests.app.tui.turned import press


def proof(*lengths: int, behind: int = 0) -> Receipt:
    ids = (1, 2, 3, *range(behind))
    return receipt().model_copy(update={"text_lengths": lengths, "prompt_ids": ids, "continued_from": behind})


def test_an_answer_of_its_own_is_told_by_its_receipt() -> None:
    assert TokenTexts.of("Yes.", "tl", proof(3, 1)) == TokenTexts("tl", (3, 1))
    assert TokenTexts.of("Yes.", "tl", None) == TokenTexts()


def test_what_it_begins_with_is_put_before_it() -> None:
    first = TokenTexts("td", (5, 5))
    assert TokenTexts.of("Once upon a time", "lc", proof(2, 4, behind=2), lambda: first) == TokenTexts(
        "tdlc", (5, 5, 2, 4)
    )


def test_what_a_stop_string_took_back_is_nobodys() -> None:
    first = TokenTexts("tdd", (5, 5, 2))
    found = TokenTexts.of("Once upo time", "l", proof(5, behind=3), lambda: first)
    assert found == TokenTexts("tddl", (5, 3, 0, 5))


def test_a_beginning_of_which_nothing_is_known_is_one_stretch() -> None:
    found = TokenTexts.of("Once upon a time", "lc", proof(2, 4, behind=3))
    assert found == TokenTexts("   lc", (10, 0, 0, 2, 4), 10)
    assert xray.letters("Once upon a time", found.sources, found.lengths) == " " * 10 + "llcccc"


def test_the_tokens_of_a_thought_are_known_where_it_holds_the_whole_beginning() -> None:
    text = "<think>Hm so it is</think>Yes."
    parts = placed(text, Thinking())
    begun = len("<think>Hm so")
    lengths = (begun, 0, 0, 6, 8, 4)
    assert tokens_of(parts, text, lengths, begun) == [5, 1]
    assert tokens_of(parts, text, (28, 0, 2), 28) == [None, None], "it ended somewhere in there"


def cut_off(*tokens: tuple[str, str]) -> Finished:
    return spelled(*tokens).model_copy(update={"finish_reason": "length"})


def goes_on(first: Finished, *tokens: tuple[str, str]) -> Finished:
    """The answer that goes on with ``first``."""
    second = spelled(*tokens)
    assert second.receipt is not None
    assert first.receipt is not None
    begun = first.receipt.prompt_ids[len(first.receipt.prompt_ids) - first.receipt.continued_from :]
    behind = (*begun, *first.token_ids)
    changes = {"prompt_ids": (1, 2, 3, *behind), "continued_from": len(behind)}
    return second.model_copy(update={"receipt": second.receipt.model_copy(update=changes)})


async def continued(it: Chat, times: int = 1) -> None:
    await it.ask("a story")
    for _ in range(times):
        await it.pilot.press("alt+up")
        await press(it, "g")
        await it.until(lambda: it.idle)


async def test_all_of_it_is_tinted_also_after_a_second_time_and_a_restart() -> None:
    one = cut_off(("Once ", "t"), ("upon ", "l"), ("a ", "d"))
    two = goes_on(one, ("time ", "l"), ("there ", "c")).model_copy(update={"finish_reason": "length"})
    three = goes_on(two, ("was", "d"), (".", "t"))
    expected = {"l": "upon time ", "d": "a was", "c": "there "}
    async with chat(FakeClient([streamed(one), streamed(two), streamed(three)]), size=(120, 40)) as it:
        await continued(it, 2)
        await it.sees("Once upon a time there was.", "‹ 3/3 ›")
        await it.pilot.press("f4")
        await it.until(lambda: tints(it.answers[0]) == expected)
        await it.screen.show_chat()
        await it.until(lambda: tints(it.answers[0]) == expected)
        assert PART_XRAY not in it.words


async def test_a_beginning_that_was_not_told_of_stays_untinted_and_that_is_said() -> None:
    one = cut_off(("Once ", "t"), ("upon ", "l"))
    assert one.receipt is not None
    two = goes_on(one, ("a ", "d"), ("time.", "l"))
    old = one.model_copy(update={"receipt": one.receipt.model_copy(update={"text_lengths": ()})})
    async with chat(FakeClient([[old], streamed(two)]), size=(120, 40)) as it:
        await continued(it)
        await it.pilot.press("f4")
        await it.until(lambda: tints(it.answers[0]) == {"d": "a ", "l": "time."})
        await it.sees(PART_XRAY)


async def test_a_thought_that_was_cut_off_is_counted_whole() -> None:
    one = cut_off(("<think>", "t"), ("Hm ", "t"), ("so", "t"))
    two = goes_on(one, (" it is", "t"), ("</think>", "t"), ("Yes.", "t"))
    async with chat(FakeClient([streamed(one), streamed(two)]), size=(120, 40)) as it:
        await continued(it)
        await it.sees("thought for 5 tokens", "Yes.")
        await it.screen.show_chat()
        await it.sees("thought for 5 tokens", "Yes.")
