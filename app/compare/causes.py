"""Why two answers to the same request differ, as far as that can be shown by making both again."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass

from app.compare.runs import Engine, Run
from engine.protocol import Failed, Replay, Replayed


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


async def explain(engine: Engine, one: Run, other: Run, place: int) -> Cause:
    """Make both answers again up to the difference, each by the passes of its own receipt."""
    tokens = (_token(one, place), _token(other, place))
    if tokens[0] is None or tokens[1] is None:
        return Cause(place, tokens, None, None, f"One answer ends where the other goes on, at token {place + 1}.")
    first, second = await _again(engine, one, place, tokens[1]), await _again(engine, other, place, tokens[0])
    if first is None or second is None:
        words = f"The answers differ from token {place + 1} on. Their receipts do not allow to make them again."
        return Cause(place, tokens, None, None, words)
    probabilities = (
        (first.watched.get(tokens[0], 0.0), first.watched.get(tokens[1], 0.0)),
        (second.watched.get(tokens[0], 0.0), second.watched.get(tokens[1], 0.0)),
    )
    rounding = first.difference is None and second.difference is None
    near = f"{probabilities[0][0]:.1%} and {probabilities[0][1]:.1%}"
    if rounding:
        words = (
            f"The answers differ from token {place + 1} on, by rounding: made again by its own passes, each comes to "
            f"its own token. The model gives the two {near}."
        )
    else:
        words = (
            f"The answers differ from token {place + 1} on, and not only by rounding: made again by its own passes, "
            f"an answer does not come out as it was. The model gives the two {near}."
        )
    return Cause(place, tokens, probabilities, rounding, words)


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


def _token(run: Run, place: int) -> int | None:
    return run.token_ids[place] if place < len(run.token_ids) else None
