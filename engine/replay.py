"""Making an answer again by the passes it was made by, and holding every choice against what was kept.

The recorded tokens are fed, not the ones chosen now: one difference does not hide the next, and the cache is filled as
it was then. Where a draft was rejected, the rejected tail of its pass is filled with tokens that nothing behind them
sees; a pass rounds by its width, not by what stands at its end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from engine.choice import ChoiceRule
from engine.llama.backend import AbortFlag
from engine.llama.context import BrokenLogits, Context, DecodeAborted, Logits
from engine.pair import Pair
from engine.passes import BadPasses, read_passes
from engine.prefill import next_chunk
from engine.protocol import Difference, ErrorCode, Failed, Prefilling, Replay, Replayed

Emit = Callable[[Prefilling | Replayed | Failed], None]

REPORT_EVERY = 64
"""Tokens between two reports of how far it is."""


class CannotReplay(Exception):
    """What was kept does not fit the loaded model; ``str()`` is the sentence."""


def replay(pair: Pair, request: Replay, abort: AbortFlag, emit: Emit) -> None:
    """Answer ``request`` with Replayed or Failed. Raises what a pass raises, and BrokenLogits. The pair's cache holds
    nothing of use to others afterwards."""
    context = pair.target.context
    try:
        passes = _passes(pair, request)
    except (CannotReplay, BadPasses) as error:
        message = f"The answer cannot be made again here: {error}."
        emit(Failed(id=request.id, code=ErrorCode.BAD_REQUEST, message=message))
        return
    context.clear()
    pair.cached = []
    try:
        emit(_compare(pair, request, passes, abort, emit))
    except DecodeAborted:
        emit(Failed(id=request.id, code=ErrorCode.CANCELLED, message="The replay was stopped."))
    finally:
        context.clear()


def _passes(pair: Pair, request: Replay) -> Iterator[tuple[int, int]]:
    """Width and kept tokens of every pass. Raises CannotReplay, and BadPasses while it is read."""
    context, size = pair.target.context, pair.target.model.vocabulary.size
    length = len(request.prompt_ids) + len(request.token_ids)
    if not request.prompt_ids or not request.token_ids:
        raise CannotReplay("nothing was kept of what the model was shown or said")
    if request.continued_from >= len(request.prompt_ids):
        raise CannotReplay("nothing was kept of what was asked")
    if length > context.size + 1:
        raise CannotReplay(f"it took {length:,} tokens and the context holds {context.size:,}")
    if not all(0 <= token < size for token in (*request.prompt_ids, *request.token_ids)):
        raise CannotReplay(f"it has tokens that this model of {size:,} tokens does not know")
    if not request.passes:
        return _plainly(len(request.prompt_ids) - 1, length - 1, context.chunk, pair.exactness.prefill_width)
    found = [*read_passes(request.passes, widest=context.chunk)]
    if sum(kept for _, kept in found) < length - 1:
        raise CannotReplay("its passes are not those of the whole answer")
    return iter(found)


def _plainly(prompt: int, length: int, chunk: int, width: int | None) -> Iterator[tuple[int, int]]:
    """The prompt in chunks, as a fresh engine reads it, and one token a pass behind it."""
    at = 0
    while at < prompt:
        size = next_chunk(prompt - at, chunk, width)
        yield size, size
        at += size
    for _ in range(length - prompt):
        yield 1, 1


def _compare(pair: Pair, request: Replay, passes: Iterator[tuple[int, int]], abort: AbortFlag, emit: Emit) -> Replayed:
    context = pair.target.context
    prompt, history = len(request.prompt_ids), [*request.prompt_ids, *request.token_ids]
    asked, begun = history[: prompt - request.continued_from], history[prompt - request.continued_from : prompt]
    rule = ChoiceRule(request.sampling, request.seed, pair.target.model.vocabulary, asked, begun)
    chooser = rule.chooser()
    compared, reported, watched = 0, 0, {}
    difference: Difference | None = None
    for width, kept in passes:
        start = context.length
        if start >= len(history) - 1:
            break
        if abort.is_set:
            raise DecodeAborted
        kept = min(kept, len(history) - start)
        first = max(0, prompt - 1 - start)  # before it there is nothing to choose
        logits = _decode(context, history[start : start + kept], width, max(0, width - first))
        for i in range(first, kept):
            position = start + i + 1
            if position >= len(history):
                break
            row = logits[i - first]
            chosen, expected = chooser.choose(row, position), history[position]
            if not math.isfinite(row[chosen]):
                raise BrokenLogits
            compared += 1
            if position == len(history) - 1:
                watched = _probabilities(row, (*request.watch, expected, chosen))
            if chosen != expected and difference is None:
                share = _probabilities(row, (expected, chosen))
                difference = Difference(
                    index=position - prompt,
                    expected=expected,
                    chosen=chosen,
                    expected_probability=share[expected],
                    chosen_probability=share[chosen],
                    width=width,
                )
            chooser.accept(expected)
        context.truncate(start + kept)
        if context.length - reported >= REPORT_EVERY:
            reported = context.length
            emit(Prefilling(id=request.id, done=reported, total=len(history) - 1))
    return Replayed(id=request.id, compared=compared, difference=difference, watched=watched)


def _decode(context: Context, tokens: Sequence[int], width: int, rows: int) -> Logits:
    filler = [tokens[-1]] * (min(width, context.size - context.length) - len(tokens))
    return context.decode([*tokens, *filler], rows=rows)


def _probabilities(row: Logits, tokens: Sequence[int]) -> dict[int, float]:
    """The target's own probabilities, before temperature and filters."""
    values = row.astype(np.float64)
    values -= values.max()
    total = float(np.exp(values).sum())
    return {token: float(np.exp(values[token])) / total for token in tokens if 0 <= token < len(row)}
