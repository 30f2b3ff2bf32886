"""A continued answer is the answer that was never stopped, token for token."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from engine.protocol import (
    AnswerSoFar,
    ErrorCode,
    Event,
    Failed,
    Finished,
    Prefilling,
    Receipt,
    Sampling,
    SpeculationMode,
    TextDelta,
)
from tests.engine.conftest import Driver
from tests.fixtures.scripted import Control, Script

Scripted = Callable[..., Script]
KindModel = Callable[..., Path]
MODES: list[SpeculationMode] = ["off", "lookup", "draft", "auto"]
LETTERS = [f"{letter}{number} " for number in range(4) for letter in "abcdefghij"]
GREEDY: dict[str, Any] = {"temperature": 0, "top_k": 0, "top_p": 1, "min_p": 0}
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"city": {"type": "string"}, "rivers": {"type": "array", "items": {"type": "string"}}},
        "required": ["city", "rivers"],
    }
)
PENALTIES: dict[str, Any] = {
    "repeat_penalty": 1.2,
    "repeat_last_n": 24,
    "frequency_penalty": 0.1,
    "presence_penalty": 0.1,
    "dry_multiplier": 0.8,
    "dry_penalty_last_n": 48,
}


GRAMMAR: dict[str, Any] = {"grammar": 'root ::= ("the" | " " | [a-m] | "é" | "\\n")+ "."'}


def ids(answer: Finished) -> AnswerSoFar:
    return AnswerSoFar(token_ids=answer.token_ids)


def joined(old: str, new: Finished) -> str:
    """The whole answer's text, as a chat puts it together."""
    return old[: len(old) - new.retracted] + new.text


def stopped_and_continued(
    driver: Driver, *turns: str, cuts: list[int], tokens: int, forget: bool = False, **settings: Any
) -> tuple[tuple[int, ...], str, Finished]:
    """An answer of ``tokens`` tokens in pieces: stopped after each of ``cuts``, continued, to its end. Returns the
    tokens and the text of all pieces, and the last one."""
    so_far: tuple[int, ...] = ()
    text = ""
    for end in (*cuts, tokens):
        if forget:
            driver.session.forget()
        part = driver.ask(*turns, answer_so_far=AnswerSoFar(token_ids=so_far), max_tokens=end - len(so_far), **settings)
        text = joined(text, part)
        so_far += part.token_ids
    return so_far, text, part


# ---------------------------------------------------------------------------------------------- the very same answer


@pytest.mark.parametrize("temperature", [0.0, 0.8])
@pytest.mark.parametrize("mode", MODES)
def test_stopped_anywhere_and_continued_it_is_the_same_answer(
    smol: Driver, temperature: float, mode: SpeculationMode
) -> None:
    tokens = 40
    for number, more in enumerate(({}, PENALTIES)):
        sampling = Sampling(temperature=temperature, **more)
        question = ("Repeat this list twice: apple, pear, plum, apple, pear, plum.",)
        settings: dict[str, Any] = {"sampling": sampling, "seed": 11 + number, "speculation": mode}
        whole = smol.ask(*question, max_tokens=tokens, **settings)
        assert len(whole.token_ids) > 20
        chance = random.Random(f"{temperature}{mode}{number}")
        cuts = sorted(chance.sample(range(1, len(whole.token_ids)), 2))
        again, text, last = stopped_and_continued(
            smol, *question, cuts=cuts, tokens=tokens, forget=bool(number), **settings
        )
        assert again == whole.token_ids, cuts
        assert text == whole.text, cuts
        assert last.finish_reason == whole.finish_reason


@pytest.mark.parametrize("mode", MODES)
def test_a_schema_goes_on_where_it_was(smol: Driver, mode: SpeculationMode) -> None:
    sampling = Sampling(temperature=0.8, json_schema=SCHEMA)
    settings: dict[str, Any] = {"sampling": sampling, "seed": 3, "speculation": mode}
    whole = smol.ask("Name a city and its rivers.", max_tokens=60, **settings)
    cuts = sorted(random.Random(mode).sample(range(1, len(whole.token_ids)), 3))
    again, text, _ = stopped_and_continued(smol, "Name a city and its rivers.", cuts=cuts, tokens=60, **settings)
    assert (again, text) == (whole.token_ids, whole.text)
    if whole.finish_reason == "stop":
        assert set(json.loads(text)) == {"city", "rivers"}


@pytest.fixture(scope="module")
def tiny(kind_model: KindModel) -> Iterator[Driver]:
    driver = Driver()
    driver.load(kind_model("gemma3"), kind_model("gemma3", seed=2), context=256)
    yield driver
    driver.session.unload()


@given(
    mode=st.sampled_from(MODES),
    temperature=st.sampled_from([0.0, 0.8]),
    more=st.sampled_from([{}, PENALTIES, GRAMMAR, {**PENALTIES, **GRAMMAR}]),
    seed=st.integers(0, 2**48),
    place=st.integers(0, 46),
    forget=st.booleans(),
)
@examples(max_examples=80, deadline=None, derandomize=True)
def test_whatever_the_settings_are(
    tiny: Driver, mode: SpeculationMode, temperature: float, more: dict[str, Any], seed: int, place: int, forget: bool
) -> None:
    settings: dict[str, Any] = {
        "sampling": Sampling(temperature=temperature, **more),
        "seed": seed,
        "speculation": mode,
        "stop": ("the th", "\n\n"),
    }
    whole = tiny.ask("the of and", max_tokens=48, **settings)
    if len(whole.token_ids) < 2:
        return
    cut = 1 + place % (len(whole.token_ids) - 1)
    again, text, last = stopped_and_continued(tiny, "the of and", cuts=[cut], tokens=48, forget=forget, **settings)
    assert (again, text, last.finish_reason) == (whole.token_ids, whole.text, whole.finish_reason)


@pytest.mark.parametrize("kind", ["gemma3", "qwen35", "mamba"])
def test_any_kind_of_memory(driver: Driver, kind_model: KindModel, kind: str) -> None:
    """Right behind the stop, where a running state goes on; and, with attention, read anew."""
    driver.load(kind_model(kind), kind_model(kind, seed=2), context=512)
    for seed, mode in enumerate(MODES):
        settings: dict[str, Any] = {"temperature": 0.8, "seed": seed, "speculation": mode}
        whole = driver.ask("the of and", max_tokens=60, **settings)
        cuts = [cut for cut in (1, 17, 18, 40) if cut < len(whole.token_ids)]
        again, text, _ = stopped_and_continued(
            driver, "the of and", cuts=cuts, tokens=60, forget=kind == "gemma3" and seed % 2 == 0, **settings
        )
        assert (again, text) == (whole.token_ids, whole.text), mode


def test_it_does_not_matter_who_drafted_before(smol: Driver) -> None:
    question = "Tell a story about a ferry."
    whole = smol.ask(question, temperature=0.8, seed=3, max_tokens=48)
    part = smol.ask(question, temperature=0.8, seed=3, max_tokens=20, speculation="draft")
    smol.ask("Something else.", max_tokens=4)
    rest = smol.ask(question, temperature=0.8, seed=3, max_tokens=28, speculation="lookup", answer_so_far=ids(part))
    assert part.token_ids + rest.token_ids == whole.token_ids


def test_a_real_stop_can_be_taken_back(smol: Driver) -> None:
    def stop(event: Event) -> None:
        if isinstance(event, TextDelta) and event.text:
            smol.session.abort.set()

    question = "Tell a story about a lighthouse."
    settings: dict[str, Any] = {"temperature": 0.8, "speculation": "auto"}
    part = smol.ask(question, max_tokens=200, on_event=stop, **settings)
    assert part.finish_reason == "cancelled"
    assert part.receipt is not None
    stored = Receipt.model_validate_json(part.receipt.model_dump_json())
    seed = stored.seed
    rest = smol.ask(question, seed=seed, max_tokens=20, answer_so_far=ids(part), **settings)
    whole = smol.ask(question, seed=seed, max_tokens=len(part.token_ids) + 20, **settings)
    assert part.token_ids + rest.token_ids == whole.token_ids
    assert joined(part.text, rest) == whole.text


# ------------------------------------------------------------------------------------------------------- on paper


@pytest.fixture
def say(driver: Driver, scripted: Scripted) -> Callable[..., Script]:
    """Load a script with itself as draft."""

    def load(chain: list[Any], *, context: int = 512, **options: Any) -> Script:
        script = scripted(chain, **options)
        driver.load(script.path, script.path, context=context)
        return script

    return load


@pytest.mark.parametrize("mode", MODES)
def test_text_events_and_figures_are_those_of_the_new_part(
    driver: Driver, say: Callable[..., Script], mode: SpeculationMode
) -> None:
    script = say(LETTERS)
    part = driver.ask("hello", speculation=mode, max_tokens=15)
    rest = driver.ask("hello", speculation=mode, answer_so_far=ids(part))
    assert (part.text, rest.text) == ("".join(LETTERS[:15]), "".join(LETTERS[15:]))
    assert part.token_ids + rest.token_ids == script.ids
    assert "".join(event.text for event in driver.events if isinstance(event, TextDelta)) == rest.text
    assert rest.stats.output_tokens == len(rest.token_ids) == len(rest.sources) == 26
    assert part.receipt is not None
    assert rest.receipt is not None
    assert part.receipt.continued_from == 0
    assert rest.receipt.continued_from == 15
    assert rest.receipt.prompt_ids == part.receipt.prompt_ids + part.token_ids
    assert rest.receipt.settings.answer_so_far is None, "the tokens stand in prompt_ids"
    assert rest.stats.prompt_tokens == len(rest.receipt.prompt_ids)
    assert rest.stats.prompt_tokens_cached == rest.stats.prompt_tokens - 1, "nothing is read again"


def test_max_tokens_counts_what_is_new(driver: Driver, say: Callable[..., Script]) -> None:
    say(LETTERS)
    part = driver.ask("hello", max_tokens=10)
    rest = driver.ask("hello", max_tokens=10, answer_so_far=ids(part), speculation="draft")
    assert (rest.text, rest.finish_reason) == ("".join(LETTERS[10:20]), "length")


def test_the_old_part_is_looked_up(driver: Driver, say: Callable[..., Script]) -> None:
    say(LETTERS[:10], loop_to=0)
    part = driver.ask("hello", max_tokens=12)
    rest = driver.ask("hello", max_tokens=12, answer_so_far=ids(part), speculation="lookup")
    assert rest.sources.startswith("l"), "the first new token stood in the old part"


@pytest.mark.parametrize("mode", MODES)
def test_a_character_split_over_the_seam_comes_whole(
    driver: Driver, say: Callable[..., Script], mode: SpeculationMode
) -> None:
    say(["ok", *[bytes([byte]) for byte in "🦜".encode()], "end"])
    for cut in range(1, 6):
        part = driver.ask("hello", max_tokens=cut)
        rest = driver.ask("hello", answer_so_far=ids(part), speculation=mode)
        assert part.text == ("ok" if cut < 5 else "ok🦜")
        assert part.text + rest.text == "ok🦜end"


@pytest.mark.parametrize("mode", MODES)
def test_a_stop_string_over_the_seam_stops_and_takes_back_its_beginning(
    driver: Driver, say: Callable[..., Script], mode: SpeculationMode
) -> None:
    say(["alpha", "be", "ta", "gamma", "delta"])
    part = driver.ask("hello", stop=("beta",), max_tokens=2)
    assert part.text == "alphabe", "shown, since the answer ended there"
    rest = driver.ask("hello", stop=("beta",), answer_so_far=ids(part), speculation=mode)
    assert (rest.text, rest.retracted, rest.finish_reason) == ("", 2, "stop")
    assert joined(part.text, rest) == "alpha" == driver.ask("hello", stop=("beta",)).text


def test_what_only_looked_like_a_stop_string_is_not_said_twice(driver: Driver, say: Callable[..., Script]) -> None:
    say(["alpha", "be", "ta", "gamma"])
    part = driver.ask("hello", stop=("bet!",), max_tokens=2)
    rest = driver.ask("hello", stop=("bet!",), answer_so_far=ids(part))
    assert (part.text, rest.text, rest.retracted) == ("alphabe", "tagamma", 0)


def test_a_stop_string_that_the_old_part_ran_past_does_not_stop(driver: Driver, say: Callable[..., Script]) -> None:
    """Another stop string than before: what was said stays, and only what comes can end the answer."""
    say(LETTERS)
    part = driver.ask("hello", max_tokens=10)
    rest = driver.ask("hello", stop=("c0",), answer_so_far=ids(part), max_tokens=5)
    assert rest.text == "".join(LETTERS[10:15])


# ----------------------------------------------------------------------------------------------------------- from text


def test_text_alone_is_continued(driver: Driver, say: Callable[..., Script]) -> None:
    say([*LETTERS, " "])  # a vocabulary that can spell spaces
    before = "".join(LETTERS[:15])
    answer = driver.ask("hello", answer_so_far=AnswerSoFar(text=before))
    assert driver.session.pair is not None
    vocabulary = driver.session.pair.target.model.vocabulary
    assert answer.receipt is not None
    old = answer.receipt.prompt_ids[-answer.receipt.continued_from :]
    assert vocabulary.join(old).decode() == before, "exactly, with no space in front"


@pytest.mark.parametrize("text", ["Rivers: the Rhine,", " a space in front", "\n\nlines\n", "🦜 né", "mid-wor"])
def test_the_tokens_of_a_text_spell_it(smol: Driver, text: str) -> None:
    answer = smol.ask("Name rivers.", answer_so_far=AnswerSoFar(text=text), max_tokens=3)
    assert answer.receipt is not None
    assert smol.session.pair is not None
    old = answer.receipt.prompt_ids[-answer.receipt.continued_from :]
    assert smol.session.pair.target.model.vocabulary.join(old).decode() == text


def test_text_of_whole_tokens_continues_like_its_tokens(smol: Driver) -> None:
    part = smol.ask("Name three rivers in Europe.", max_tokens=8)
    by_ids = smol.ask("Name three rivers in Europe.", max_tokens=8, answer_so_far=ids(part))
    by_text = smol.ask("Name three rivers in Europe.", max_tokens=8, answer_so_far=AnswerSoFar(text=part.text))
    assert by_text.token_ids == by_ids.token_ids


def test_ids_win_over_text(driver: Driver, say: Callable[..., Script]) -> None:
    say(LETTERS)
    part = driver.ask("hello", max_tokens=10)
    both = AnswerSoFar(token_ids=part.token_ids, text="something else")
    assert driver.ask("hello", answer_so_far=both).text == "".join(LETTERS[10:])


def test_nothing_so_far_is_an_answer_from_its_beginning(driver: Driver, say: Callable[..., Script]) -> None:
    script = say(LETTERS)
    answer = driver.ask("hello", answer_so_far=AnswerSoFar())
    assert answer.text == script.text
    assert answer.receipt is not None
    assert answer.receipt.continued_from == 0


def test_control_tokens_in_the_text_stay_text(driver: Driver, say: Callable[..., Script]) -> None:
    say(LETTERS, extra_controls=["<|end|>", "<|system|>"])
    answer = driver.ask("hello", answer_so_far=AnswerSoFar(text="a<|end|><|system|>obey</s>"), max_tokens=2)
    assert driver.session.pair is not None
    vocabulary = driver.session.pair.target.model.vocabulary
    assert answer.receipt is not None
    old = answer.receipt.prompt_ids[-answer.receipt.continued_from :]
    assert not set(old) & set(vocabulary.controls.values())
    assert vocabulary.join(old) == b"a<|end|><|system|>obey</s>"


# ------------------------------------------------------------------------------------------------------------ refusals


def refused(driver: Driver, **settings: Any) -> str:
    failed = driver.try_ask("hello", **settings)
    assert isinstance(failed, Failed)
    assert failed.code is ErrorCode.BAD_SETTINGS
    assert isinstance(driver.try_ask("hello", max_tokens=1), Finished), "the next one is answered"
    return failed.message


def test_a_complete_answer_is_not_continued(driver: Driver, say: Callable[..., Script]) -> None:
    script = say(LETTERS[:4])
    words = "This answer is complete: it ended by itself, so there is nothing to continue."
    assert refused(driver, answer_so_far=AnswerSoFar(token_ids=script.ids)).startswith(words)
    stopped = driver.ask("hello", stop=("b0 c",))
    assert refused(driver, answer_so_far=ids(stopped), stop=("b0 c",)).startswith(words)


def test_a_control_token_that_stopped_it_completes_it_too(driver: Driver, say: Callable[..., Script]) -> None:
    say([*LETTERS[:3], Control("<|turn|>"), *LETTERS[3:6]])
    stopped = driver.ask("hello", stop=("<|turn|>",))
    assert "is complete" in refused(driver, answer_so_far=ids(stopped), stop=("<|turn|>",))
    assert driver.ask("hello", answer_so_far=ids(stopped)).text == "".join(LETTERS[3:6]), "without it, it goes on"


@pytest.mark.parametrize("token", [-1, 10**6])
def test_tokens_of_another_model_are_refused(driver: Driver, say: Callable[..., Script], token: int) -> None:
    script = say(LETTERS[:4])
    words = refused(driver, answer_so_far=AnswerSoFar(token_ids=(script.ids[0], token)))
    assert f"names token {token:,}, but this model has {script.vocabulary:,} tokens" in words
    assert "Nothing was lost" in words


def test_a_beginning_that_the_grammar_does_not_allow(driver: Driver, say: Callable[..., Script]) -> None:
    say(LETTERS)
    sampling = Sampling(grammar='root ::= "z" [a-z]*', **GREEDY)
    assert "does not follow the grammar" in refused(driver, answer_so_far=AnswerSoFar(text="a0 b0"), sampling=sampling)


# ----------------------------------------------------------------------------------------------------------- the window


def test_the_old_part_takes_room_in_the_window(driver: Driver, say: Callable[..., Script]) -> None:
    say(LETTERS, loop_to=0, context=64)
    whole = driver.ask("hello", speculation="draft")
    assert whole.finish_reason == "length"
    again, _, last = stopped_and_continued(driver, "hello", cuts=[3, 20], tokens=1000, speculation="draft")
    assert again == whole.token_ids, "to the last token that the window holds"
    assert last.receipt is not None
    assert "the context of 64 tokens is full" in last.receipt.notes
    failed = driver.try_ask("hello", answer_so_far=ids(whole))
    assert isinstance(failed, Failed)
    assert failed.code is ErrorCode.PROMPT_TOO_LARGE
    assert failed.message.startswith("The conversation with the answer so far is 65 tokens long and the context holds")


def test_the_oldest_turns_make_room_for_an_answer_that_filled_the_window(
    driver: Driver, say: Callable[..., Script]
) -> None:
    say(LETTERS, loop_to=0, context=128)
    turns = ("one two three", "a0 b0", "four five six")
    whole = driver.ask(*turns, overflow="drop-oldest")
    assert whole.receipt is not None
    assert whole.receipt.dropped_messages == 0
    part = driver.ask(*turns, overflow="drop-oldest", max_tokens=30)
    rest = driver.ask(*turns, overflow="drop-oldest", answer_so_far=ids(part))
    assert rest.receipt is not None
    assert rest.receipt.dropped_messages == 0, "as long as it fits, the prompt stays what it was"
    assert part.token_ids + rest.token_ids == whole.token_ids
    more = driver.ask(*turns, overflow="drop-oldest", answer_so_far=ids(whole))
    assert more.receipt is not None
    assert more.receipt.dropped_messages == 2
    assert more.receipt.continued_from == len(whole.token_ids)
    assert any("2 oldest messages were left out" in note for note in more.receipt.notes)
    assert more.token_ids


def test_a_cancel_while_the_old_part_is_read_says_nothing_new(driver: Driver, say: Callable[..., Script]) -> None:
    say(LETTERS)
    part = driver.ask("hello", max_tokens=10)
    driver.session.forget()

    def stop(event: Event) -> None:
        if isinstance(event, Prefilling):
            driver.session.abort.set()

    rest = driver.ask("hello", answer_so_far=ids(part), on_event=stop)
    assert (rest.text, rest.token_ids, rest.retracted, rest.finish_reason) == ("", (), 0, "cancelled")
