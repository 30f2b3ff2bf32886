"""Answers without an end, in tokens of three to five characters: prose, a list, one code block, thoughts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Final

WORDS: Final = (
    "the river of a valley carries more water in spring than its bed can hold and every town along it knows the year "
    "when the bridge was lost but few remember who built the next one or why it stands a little further north where "
    "the ground is harder and the old road had to be moved to meet it which took two winters and most of the money"
).split()

Text = Iterator[str]


def prose(chance: random.Random) -> Text:
    """Paragraphs as models write them: headings now and then, bold words, code words, short lists."""
    for number in _counted():
        if number % 4 == 1:
            yield f"## {_words(chance, 4).capitalize()}\n\n"
        if number % 4 == 3:
            for _ in range(chance.randint(3, 6)):
                yield f"- **{_words(chance, 2)}**: {_words(chance, 14)}\n"
            yield "\n"
            continue
        for _ in range(chance.randint(3, 6)):
            sentence = f"{_words(chance, 8)} **{_words(chance, 2)}** {_words(chance, 6)} `{chance.choice(WORDS)}`"
            yield f"{sentence.capitalize()} {_words(chance, 5)}. "
        yield "\n\n"


def listing(chance: random.Random) -> Text:
    """One list that goes on and on."""
    yield "Here is everything I know:\n\n"
    for number in _counted():
        yield f"{number + 1}. **{_words(chance, 2)}**: {_words(chance, 18)}\n"


def code(chance: random.Random) -> Text:
    """One code block that does not end."""
    yield "This is the program:\n\n```python\n"
    for number in _counted():
        yield f"def {chance.choice(WORDS)}_{number}(value: int) -> int:\n"
        for _ in range(chance.randint(3, 9)):
            yield f"    {chance.choice(WORDS)} = value * {chance.randint(2, 99)}  # {_words(chance, 6)}\n"
        yield "    return value\n\n"


def thoughts(chance: random.Random) -> Text:
    """A thought that does not end."""
    yield "<think>\n"
    for _ in _counted():
        yield f"{_words(chance, 60).capitalize()}.\n\n"


KINDS: Final[dict[str, Callable[[random.Random], Text]]] = {
    "prose": prose,
    "list": listing,
    "code": code,
    "thoughts": thoughts,
}


def tokens(kind: str, seed: int = 1) -> Text:
    """The text of this kind, cut into tokens; the same for every run."""
    chance = random.Random(seed)
    held = ""
    for piece in KINDS[kind](chance):
        held += piece
        while len(held) >= 5:
            length = chance.randint(3, 5)
            yield held[:length]
            held = held[length:]


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(WORDS, k=count))


def _counted() -> Iterator[int]:
    number = 0
    while True:
        yield number
        number += 1
