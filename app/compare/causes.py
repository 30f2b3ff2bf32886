"""Why two answers to the same request differ, as far as that can be shown by making both again."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from app.compare.runs import Engine, Run
from app.percent import finely
from engine.files.header import HeaderError
from engine.files.pieces import Pieces
from engine.protocol import Failed, Receipt, Replay, Replayed


@dataclass(frozen=True, slots=True)
class Cause:
    """``place``: index of the first token that differs. ``tokens``: what each answer has there, None behind its end.
    ``probabilities``: the target's own for the two, as each answer's passes compute them; None where not shown."""

    place: int
    tokens: tuple[int | None, int | None]
    probabilities: tuple[tuple[float, float], tuple[float, float]] | None
    rounding: bool | None
    """True: each answer's own passes give its own token again. False: they do not. None: could not be tried."""
    words: str
    texts: tuple[str | None, str | None] = (None, None)
    """What the two tokens spell; None where the file that answered is not there to tell."""


async def explain(engine: Engine, one: Run, other: Run, place: int) -> Cause:
    """Make both answers again up to the difference, each by the passes of its own receipt."""
    tokens = (one.token_at(place), other.token_at(place))
    if tokens[0] is None or tokens[1] is None:
        return Cause(place, tokens, None, None, f"One answer ends where the other goes on, at token {place + 1}.")
    texts = await asyncio.to_thread(_texts, one.receipt, tokens[0], tokens[1])
    differ = f"The answers differ from token {place + 1} on, {_named(tokens[0], texts[0])} in {one.way.label} and "
    differ += f"{_named(tokens[1], texts[1])} in {other.way.label}"
    first, second = await _again(engine, one, place, tokens[1]), await _again(engine, other, place, tokens[0])
    if first is None or second is None:
        words = f"{differ}. Their receipts do not allow to make them again."
        return Cause(place, tokens, None, None, words, texts)
    probabilities = (
        (first.watched.get(tokens[0], 0.0), first.watched.get(tokens[1], 0.0)),
        (second.watched.get(tokens[0], 0.0), second.watched.get(tokens[1], 0.0)),
    )
    rounding = first.difference is None and second.difference is None
    near = f"{finely(probabilities[0][0])} and {finely(probabilities[0][1])}"
    if rounding:
        words = (
            f"{differ}, by rounding: made again by its own passes, each comes to its own token. "
            f"The model gives the two {near}."
        )
    else:
        words = (
            f"{differ}, and not only by rounding: made again by its own passes, an answer does not come out as it was. "
            f"The model gives the two {near}."
        )
    return Cause(place, tokens, probabilities, rounding, words, texts)


async def _again(engine: Engine, run: Run, place: int, watched: int) -> Replayed | None:
    receipt = run.receipt
    if receipt is None:
        return None
    wanted = Replay(
        id=0,
        prompt_ids=receipt.prompt_ids,
        token_ids=run.token_ids[: place + 1],
        continued_from=receipt.continued_from,
        passes=receipt.passes,
        sampling=receipt.settings.sampling,
        seed=receipt.seed,
        watch=(watched,),
    )
    async with aclosing(engine.replay(wanted)) as events:
        async for event in events:
            if isinstance(event, Replayed):
                return event
            if isinstance(event, Failed):
                return None
    return None


def _texts(receipt: Receipt | None, one: int, other: int) -> tuple[str | None, str | None]:
    """What the two tokens spell, by the file that answered."""
    if receipt is None:
        return None, None
    try:
        pieces = Pieces(Path(receipt.target.path))
    except (OSError, HeaderError):
        return None, None
    return pieces.text([one]), pieces.text([other])


def _named(token: int, text: str | None) -> str:
    return f"token {token}" if text is None else f"{text!r} (token {token})"
