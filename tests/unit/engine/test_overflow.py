"""Which turns are left out of a conversation that outgrew the context (reports CX-01, CX-02, CX-03)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Literal

import pytest

from engine.overflow import Fitted, TooLarge, drop_oldest, fit, reserve_for_answer
from engine.prompt import Prompt
from engine.protocol import GenerateSettings, Message, Outgrown, TemplateInfo

SIZE = 256


def render(messages: Sequence[Message]) -> Prompt:
    """A token a character and one in front of each message."""
    ids = [ord(character) for message in messages for character in f"|{message.content}"]
    return Prompt(ids, (), TemplateInfo(name="test", sha256=""))


def said(role: Literal["system", "user", "assistant"], content: str) -> Message:
    return Message(role=role, content=content)


def chat(turns: int, *, length: int = 19, system: str = "") -> list[Message]:
    """``turns`` questions with answers between them, the last one unanswered; each message counts length + 1."""
    messages = [said("system", system)] if system else []
    for i in range(turns):
        messages += [said("user", f"{i:02}".ljust(length, "?")), said("assistant", f"{i:02}".ljust(length, "!"))]
    return messages[:-1]


def fitted(messages: Sequence[Message], max_tokens: int | None = None) -> Fitted:
    return drop_oldest(messages, render, size=SIZE, max_tokens=max_tokens)


def text(result: Fitted) -> str:
    return "".join(map(chr, result.prompt.ids))


def test_what_fits_is_sent_whole() -> None:
    result = fitted(chat(5))
    assert (len(result.prompt.ids), result.dropped, result.note) == (180, 0, None)


def test_the_oldest_turns_go_and_the_note_has_the_numbers() -> None:
    messages = chat(16)  # 31 messages of 20
    result = fitted(messages)
    assert len(result.prompt.ids) <= SIZE - SIZE // 4
    assert result.dropped % 2 == 0, "whole turns"
    assert text(result).startswith(f"|{messages[result.dropped].content}"), "the prompt starts exactly at the mark"
    assert text(result) == "".join(map(chr, render(messages[result.dropped :]).ids))
    assert result.note == (
        f"the {result.dropped} oldest messages were left out: "
        "the conversation is 620 tokens long, the context holds 256"
    )


def test_room_for_the_answer_is_kept_and_named_when_that_is_the_reason() -> None:
    result = fitted(chat(6))  # 220 tokens fit 256, but not beside the reserve of 64
    assert result.dropped > 0
    assert result.note is not None
    assert result.note.endswith(
        "the conversation is 220 tokens long, the context holds 256, 64 of them kept for the answer"
    )


@pytest.mark.parametrize(("max_tokens", "reserve"), [(None, 64), (10, 10), (128, 128), (129, 64), (4000, 64)])
def test_the_reserve_is_what_was_asked_for_when_that_is_reasonable(max_tokens: int | None, reserve: int) -> None:
    assert reserve_for_answer(SIZE, max_tokens) == reserve
    result = fitted(chat(20), max_tokens)
    assert len(result.prompt.ids) <= SIZE - reserve


def test_the_system_prompt_always_stays() -> None:
    messages = chat(16, system="Be kind. " * 5)
    result = fitted(messages)
    assert text(result).startswith("|Be kind.")
    assert text(result).endswith(messages[-1].content)
    assert text(result)[46:].startswith(f"|{messages[1 + result.dropped].content}"), "counted without system messages"


def test_the_beginning_moves_in_steps_as_the_chat_grows() -> None:
    """The prefix that the cache holds stays useful for several messages in a row."""
    dropped = [fitted(chat(turns)).dropped for turns in range(1, 60)]
    assert dropped == sorted(dropped)
    moves = sum(a != b for a, b in itertools.pairwise(dropped))
    assert moves <= len(dropped) * 40 / 48 + 1, "48 tokens, a quarter of the room, are more than one turn of 40"
    short = [fitted(chat(turns, length=7)).dropped for turns in range(1, 120)]
    moves = sum(a != b for a, b in itertools.pairwise(short))
    assert moves <= 120 * 16 / 48 + 1, "with short turns only every third message moves it"
    kept = [len(fitted(chat(turns, length=7)).prompt.ids) for turns in range(20, 120)]
    assert min(kept) >= 192 - 48 - 16, "never much less than is necessary"


def test_the_cut_depends_on_the_messages_alone() -> None:
    longest = chat(30)
    results = [fitted(longest[:count]) for count in (31, 41, 51, 41, 31)]
    assert results[0].prompt.ids == results[4].prompt.ids
    assert results[1].prompt.ids == results[3].prompt.ids


def test_few_renderings_are_needed_for_a_long_chat() -> None:
    calls = 0

    def counted(messages: Sequence[Message]) -> Prompt:
        nonlocal calls
        calls += 1
        return render(messages)

    drop_oldest(chat(400), counted, size=SIZE, max_tokens=None)
    assert calls <= 12


def test_a_single_message_too_long_is_refused_with_its_own_size() -> None:
    messages = [*chat(3)[:-1], said("user", "x" * 300)]
    with pytest.raises(TooLarge) as refused:
        fitted(messages)
    assert refused.value.tokens == 301
    assert refused.value.sentence(SIZE).startswith("The last message is 301 tokens long and the context holds 256.")
    with pytest.raises(TooLarge) as refused:
        fitted([said("system", "s" * 9), *messages])
    assert refused.value.sentence(SIZE).startswith("The last message with the system prompt is 311 tokens long")
    with pytest.raises(TooLarge, match="256"):
        fitted([said("user", "x" * 255)])


def test_a_last_message_that_fits_only_without_the_reserve_is_sent() -> None:
    messages = [*chat(3)[:-1], said("user", "x" * 240)]
    result = fitted(messages)
    assert (result.dropped, len(result.prompt.ids)) == (4, 241)


def test_a_question_without_an_answer_is_a_turn_of_its_own() -> None:
    messages = [said("user", "a" * 99), said("user", "b" * 99), said("user", "c" * 99)]
    result = fitted(messages)
    assert result.dropped == 2
    assert text(result) == "|" + "c" * 99
    one = fitted([said("user", "a" * 30), said("user", "b" * 99), said("user", "c" * 70)])
    assert one.dropped in (1, 2)


def test_an_answer_begun_behind_the_last_question_stays() -> None:
    messages = [*chat(10), said("assistant", "It began")]
    assert text(fitted(messages)).endswith("??|It began")


def test_the_policy_is_the_callers() -> None:
    messages = tuple(chat(16))
    with pytest.raises(TooLarge) as refused:
        fit(GenerateSettings(messages=messages), render, SIZE)
    assert refused.value.sentence(SIZE).startswith("The conversation is 620 tokens long and the context holds 256.")
    assert fit(GenerateSettings(messages=messages, overflow="drop-oldest"), render, SIZE).dropped > 0


def test_a_refusal_says_what_leaving_out_would_do_and_renders_the_whole_once() -> None:
    messages = tuple(chat(16, system="Be kind."))
    wholes = 0

    def counted(said: Sequence[Message]) -> Prompt:
        nonlocal wholes
        wholes += len(said) == len(messages)
        return render(said)

    with pytest.raises(TooLarge) as refused:
        fit(GenerateSettings(messages=messages), counted, SIZE)
    shorter = fitted(messages)
    assert refused.value.outgrown(SIZE) == Outgrown(
        tokens=629, context=SIZE, dropped=shorter.dropped, left=len(shorter.prompt.ids)
    )
    assert wholes == 1


@pytest.mark.parametrize("overflow", ["stop", "drop-oldest"])
def test_a_refusal_says_when_leaving_out_does_not_help(overflow: Literal["stop", "drop-oldest"]) -> None:
    messages = (*chat(3)[:-1], said("user", "x" * 300))
    with pytest.raises(TooLarge) as refused:
        fit(GenerateSettings(messages=messages, overflow=overflow), render, SIZE)
    outgrown = refused.value.outgrown(SIZE)
    assert (outgrown.dropped, outgrown.left) == (0, 301)
    assert outgrown.tokens == (381 if overflow == "stop" else 301)
    with pytest.raises(TooLarge) as refused:
        fit(GenerateSettings(messages=messages[-1:], overflow=overflow), render, SIZE)
    assert refused.value.outgrown(SIZE) == Outgrown(tokens=301, context=SIZE, dropped=0, left=301)


# ------------------------------------------------------------------------------------------------- a continued answer


def drop_settings(messages: Sequence[Message], max_tokens: int | None = None) -> GenerateSettings:
    return GenerateSettings(messages=tuple(messages), overflow="drop-oldest", max_tokens=max_tokens)


def test_an_answer_is_continued_behind_its_own_prompt_as_long_as_that_fits() -> None:
    messages = chat(16)
    begun = fit(drop_settings(messages), render, SIZE)
    most = SIZE - len(begun.prompt.ids)
    for so_far in (1, most - 1, most):
        assert fit(drop_settings(messages), render, SIZE, so_far) == begun
    more = fit(drop_settings(messages), render, SIZE, most + 1)
    assert more.dropped > begun.dropped
    assert len(more.prompt.ids) + most + 1 <= SIZE - reserve_for_answer(SIZE, None)
    assert more.note is not None
    assert f"the conversation is {620 + most + 1} tokens long" in more.note


def test_without_a_policy_the_answer_so_far_counts_in_full() -> None:
    messages = tuple(chat(5))  # 180 tokens
    settings = GenerateSettings(messages=messages)
    assert len(fit(settings, render, SIZE, SIZE - 180).prompt.ids) == 180
    with pytest.raises(TooLarge) as caught:
        fit(settings, render, SIZE, SIZE - 180 + 1)
    assert caught.value.sentence(SIZE).startswith(
        "The conversation with the answer so far is 257 tokens long and the context holds 256."
    )
    dropping = fit(drop_settings(messages), render, SIZE, SIZE - 180 + 1)
    outgrown = caught.value.outgrown(SIZE)
    assert (outgrown.dropped, outgrown.left) == (dropping.dropped, len(dropping.prompt.ids) + SIZE - 180 + 1)


@pytest.mark.parametrize("system", ["", "Be kind."])
def test_an_answer_that_fills_the_window_by_itself_is_refused(system: str) -> None:
    with pytest.raises(TooLarge) as caught:
        fit(drop_settings(chat(16, system=system)), render, SIZE, SIZE)
    words = "The last message with the system prompt and with" if system else "The last message with"
    assert caught.value.sentence(SIZE).startswith(f"{words} the answer so far is ")
    assert caught.value.tokens > SIZE
