"""What scripted models say, so that answers are known on paper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.protocol import AnswerSoFar, Finished, SpeculationMode, TextDelta
from tests.engine.conftest import Driver
from tests.fixtures.scripted import Script

Scripted = Callable[..., Script]

LETTERS = [f"{letter}{number} " for number in range(4) for letter in "abcdefghij"]  # 40 pieces
MODES: list[SpeculationMode] = ["off", "lookup", "draft", "auto"]
TEMPLATE = "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}<|assistant|>"
CONTROLS = ["<|user|>", "<|assistant|>", "<|system|>", "<|end|>"]
GREEDY: dict[str, Any] = {"temperature": 0, "top_k": 0, "top_p": 1, "min_p": 0}


def deltas(driver: Driver) -> list[TextDelta]:
    """The text events of the last answer."""
    return [event for event in driver.events if isinstance(event, TextDelta)]


def ids(answer: Finished) -> AnswerSoFar:
    """An answer's tokens, to go on with."""
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
