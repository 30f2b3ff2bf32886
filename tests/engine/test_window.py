"""A chat that outgrows the context (reports, kind 4), on a real chat model in a window of 256 tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.protocol import ErrorCode, Failed, Finished, SpeculationMode
from tests.engine.conftest import Driver
from tests.engine.fresh import Question, in_a_fresh_process

WINDOW = 256
MODES: list[SpeculationMode] = ["off", "lookup", "draft", "auto"]
SYSTEM = "You are a patient guide in a small museum. Answer in one short sentence."
SETTINGS = {"overflow": "drop-oldest", "temperature": 0.7, "max_tokens": 12}


@pytest.fixture(scope="module")
def narrow(smol_path: Path, noise_draft: Path) -> Iterator[Driver]:
    """With a draft that knows nothing: every pass is a rollback, and it reads fast."""
    driver = Driver()
    driver.load(smol_path, noise_draft, context=WINDOW)
    yield driver
    driver.session.unload()


def question(number: int) -> str:
    return f"Question number {number}: " + f"what can you tell me about room {number} and the things in it? " * 2


def prompt_text(driver: Driver, answer: Finished) -> str:
    assert driver.session.pair is not None
    assert answer.receipt is not None
    return driver.session.pair.target.model.vocabulary.join(answer.receipt.prompt_ids).decode()


def test_twelve_turns_get_answers_and_say_what_was_left_out(narrow: Driver, smol_path: Path) -> None:
    """CX-01, CX-02, CX-07, CX-08."""
    turns: list[str] = []
    answers: list[Finished] = []
    for number in range(12):
        turns.append(question(number))
        answer = narrow.ask(*turns, system=SYSTEM, speculation=MODES[number % 4], seed=number, **SETTINGS)
        assert answer.finish_reason in ("stop", "length")
        assert answer.token_ids
        answers.append(answer)
        assert answer.receipt is not None
        dropped = answer.receipt.dropped_messages
        prompt = prompt_text(narrow, answer)
        assert SYSTEM in prompt, "the system prompt always stays"
        assert question(number) in prompt
        asked = [n for n in range(number + 1) if f"Question number {n}:" in prompt]
        assert asked == list(range(dropped // 2, number + 1)), "the prompt starts exactly at the mark"
        told = [note for note in answer.receipt.notes if "left out" in note]
        assert bool(told) == (dropped > 0)
        if dropped:
            assert f"the {dropped} oldest messages were left out: the conversation is" in told[0]
            assert f"the context holds {WINDOW}" in told[0]
        turns.append(answer.text)
    dropped = [answer.receipt.dropped_messages for answer in answers if answer.receipt]
    assert dropped == sorted(dropped)
    assert dropped[-1] > 10

    # An early message is edited, then the last answer is made again: both with indexes of longer texts behind them.
    edited = [*turns[:2], "Tell me about the garden.", *turns[3:-1]]
    changed = narrow.ask(*edited, system=SYSTEM, speculation="lookup", seed=50, **SETTINGS)
    again = narrow.ask(*turns[:-1], system=SYSTEM, speculation="lookup", seed=11, **SETTINGS)
    assert again.token_ids == answers[-1].token_ids

    trimmed = turns[dropped[-1] : -1]
    plain = {"system": SYSTEM, "temperature": 0.7, "max_tokens": 12}
    fresh = in_a_fresh_process(
        smol_path,
        [
            Question(tuple(trimmed), {**plain, "seed": 11}),
            Question(tuple(turns[:-1]), {**plain, "seed": 11, "overflow": "drop-oldest"}),
            Question(tuple(edited), {**plain, "seed": 50, "overflow": "drop-oldest"}),
        ],
        context=WINDOW,
    )
    assert fresh[0].token_ids == answers[-1].token_ids, "as if the left-out turns had never been"
    assert fresh[1].token_ids == answers[-1].token_ids
    assert fresh[2].token_ids == changed.token_ids


def test_the_cut_stays_for_several_messages_so_that_the_prefix_is_reused(
    driver: Driver, kind_model: Callable[..., Path]
) -> None:
    driver.load(kind_model("gemma3"), context=2 * WINDOW)
    turns: list[str] = []
    reused = 0
    for number in range(30):
        turns.append(f"And the {number}?")
        answer = driver.ask(*turns, overflow="drop-oldest", max_tokens=4, seed=1)
        turns.append(answer.text)
        reused += answer.stats.prompt_tokens_cached > answer.stats.prompt_tokens / 2
    assert answer.receipt is not None
    assert answer.receipt.dropped_messages > 0
    assert reused >= 20, "each turn is a ninth of the room, and the cut moves when a quarter is filled"


def test_a_single_message_too_long_is_refused_with_both_numbers(narrow: Driver) -> None:
    """CX-03."""
    failed = narrow.try_ask("Hello", "Good day.", "word " * 2000, system=SYSTEM, **SETTINGS)
    assert isinstance(failed, Failed)
    assert failed.code is ErrorCode.PROMPT_TOO_LARGE
    size = int(failed.detail.split()[1])
    assert size > 2000
    assert failed.message.startswith(
        f"The last message with the system prompt is {size:,} tokens long and the context holds {WINDOW}. "
        "Nothing was sent or lost"
    )


def test_without_a_policy_nothing_is_left_out(narrow: Driver) -> None:
    turns = [word for number in range(8) for word in (question(number), "I do not know.")][:-1]
    failed = narrow.try_ask(*turns)
    assert isinstance(failed, Failed)
    assert failed.code is ErrorCode.PROMPT_TOO_LARGE
    assert failed.message.startswith("The conversation is ")
    assert failed.outgrown is not None
    assert (failed.outgrown.tokens, failed.outgrown.context) == (int(failed.detail.split()[1]), WINDOW)
    shorter = narrow.ask(*turns, overflow="drop-oldest", max_tokens=None, stop=("e",))
    assert shorter.receipt is not None
    assert failed.outgrown.dropped == shorter.receipt.dropped_messages > 0
    assert failed.outgrown.left == shorter.stats.prompt_tokens
    answer = narrow.ask(*turns[-3:], max_tokens=4)
    assert answer.receipt is not None
    assert answer.receipt.dropped_messages == 0


@pytest.mark.parametrize("mode", MODES)
def test_room_for_an_answer_is_kept(narrow: Driver, mode: SpeculationMode) -> None:
    """A quarter of the window when no length is asked for; and whoever drafts, the last pass fits."""
    turns = [word for number in range(8) for word in (question(number), "I do not know.")][:-1]
    answer = narrow.ask(*turns, speculation=mode, overflow="drop-oldest", stop=(), seed=4, temperature=1.5)
    assert answer.stats.prompt_tokens <= WINDOW - WINDOW // 4
    if answer.finish_reason == "length":
        assert answer.stats.prompt_tokens + answer.stats.output_tokens == WINDOW + 1


def test_one_setting_governs_both_windows(driver: Driver, smol_path: Path) -> None:
    """CX-06."""
    driver.load(smol_path, smol_path, context=1024)
    pair = driver.session.pair
    assert pair is not None
    assert pair.draft is not None
    assert pair.target.context.size == pair.draft.context.size == 1024
