"""The target's choice at one position: adjusted logits, filtered candidates, seeded Gumbel selection.

``choose`` depends on (logits, settings, seed, position, the text so far) alone. Who drafted, how long the draft was
and how a pass was cut cannot reach it, so the answer is the same with speculation on or off (promise 2).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.grammar.tokens import Constraint, TooAmbiguous
from engine.llama.samplers import FilterChain
from engine.noise import XTC, chance, gumbel, random_seed
from engine.protocol import Sampling
from engine.repetition import Dry, Penalties

__all__ = ["Chooser", "gumbel", "random_seed", "top_candidates"]

_BLOCK = 64  # logits per block of the top-k bound

_AT_HAND = 256
"""How many of the likeliest tokens are held against a grammar one by one before the whole vocabulary is."""

Row = NDArray[np.float32]
Ids = NDArray[np.signedinteger[Any]]


class Link(Protocol):
    """A link of the chain that depends on the text so far."""

    def accept(self, token: int) -> None:
        """The text has grown by a token."""

    def mark(self) -> Any:
        """The present state, for :meth:`take_back`."""

    def take_back(self, mark: Any) -> None:
        """Forget the tokens accepted since ``mark``."""


class Chooser:
    """One model's choice rule for one answer; the draft model gets one of its own with the same seed.

    The links are llama.cpp's, in its default order: logit bias, penalties, DRY, top_n_sigma, top_k, typical, top_p,
    min_p, XTC, temperature; then arg max of logits plus Gumbel noise, at temperature 0 of the logits alone (as in
    llama.cpp typical and XTC still act there). With a grammar the choice is made without it first; only when it does
    not fit is it made again among the tokens that do (llama.cpp's way, too). The noise being the same, that is an
    exact sample of what the grammar leaves.

    ``prompt``: what penalties and DRY see from the start. ``suppressed`` ids are never chosen. Every emitted token
    must be told by :meth:`accept`, in order, once. Not thread-safe.
    """

    def __init__(
        self,
        vocabulary_size: int,
        sampling: Sampling,
        seed: int,
        suppressed: Sequence[int] = (),
        *,
        prompt: Sequence[int] = (),
        breakers: Mapping[int, Sequence[tuple[int, ...]]] | None = None,
        constraint: Constraint | None = None,
        ends: Sequence[int] = (),
    ) -> None:
        self._seed, self._sampling = seed, sampling
        self._ids = np.arange(vocabulary_size, dtype=np.int32)
        bias = {token: value for token, value in sampling.logit_bias.items() if 0 <= token < vocabulary_size}
        bias |= {token: -np.inf for token in suppressed if token < vocabulary_size}
        self._bias = (np.array([*bias], np.intp), np.array([*bias.values()], np.float32)) if bias else None
        self._penalties = Penalties(sampling, prompt) if Penalties.wanted(sampling) else None
        self._dry = Dry(sampling, prompt, breakers or {}) if Dry.wanted(sampling) else None
        self._adjusts = bool(self._bias or self._penalties or self._dry)
        self._constraint = constraint
        self._ends = np.array([token for token in ends if token < vocabulary_size], np.int32)
        self._links: list[Link] = [link for link in (self._penalties, self._dry, constraint) if link]
        self._length = len(prompt)
        self._xtc = sampling.xtc_probability > 0 and sampling.xtc_threshold <= 0.5
        self._greedy = sampling.temperature == 0
        # float64: a temperature of 1e-40 would otherwise make all logits infinite, and equal.
        self._temperature = np.float64(sampling.temperature)
        plain = self._greedy and sampling.typical_p == 1 and not self._xtc  # the other links keep the arg max
        self._chain = None if plain else FilterChain(sampling, vocabulary_size)
        self._top_k = 1 if plain else 0 if sampling.top_n_sigma else sampling.top_k
        """So many of the largest logits decide; 0: all of them."""
        self.note: str | None = None
        """What the answer's reader must know: a grammar that left no way to go on."""

    # ---------------------------------------------------------------------------------------------------- the text

    def accept(self, token: int) -> None:
        """The text has grown by ``token``: one that was emitted, or, within :meth:`proposing`, proposed."""
        self._length += 1
        for link in self._links:
            link.accept(token)

    @contextmanager
    def proposing(self, history: Sequence[int]) -> Iterator[None]:
        """For a draft's chooser: catch up with ``history``, and forget at the end what was accepted within."""
        for token in history[self._length :]:
            self.accept(token)
        length, marks = self._length, [link.mark() for link in self._links]
        try:
            yield
        finally:
            self._length = length
            for link, mark in zip(self._links, marks, strict=True):
                link.take_back(mark)

    # -------------------------------------------------------------------------------------------------- the choice

    def choose(self, logits: Row, position: int) -> int:
        """The token at ``position`` (its index in the sequence), from one row of logits of shape (vocabulary,)."""
        row = self._adjusted(logits) if self._adjusts else logits
        token = self._pick(row, None, position)
        if self._constraint is None or self._constraint.allows(token):
            return token
        try:
            ids = self._fitting(self._constraint, row)
        except TooAmbiguous:
            return self._give_up(row, "the grammar can be read in too many ways from here on")
        if not len(ids):
            return self._give_up(row, "the grammar leaves no token that could follow")
        return self._pick(row, ids, position)

    def _adjusted(self, logits: Row) -> Row:
        """Bias, penalties and DRY change a few logits of a copy: the row belongs to the context."""
        row = logits.copy()
        if self._bias:
            row[self._bias[0]] += self._bias[1]
        if self._penalties:
            self._penalties.apply(row)
        if self._dry:
            self._dry.apply(row)
        return row

    def _pick(self, row: Row, ids: Ids | None, position: int) -> int:
        """The best of the candidates ``ids`` (None: the whole vocabulary)."""
        if self._chain is None:
            return int(row.argmax()) if ids is None else int(ids[row[ids].argmax()])
        ids, scores = self._scores(row, ids, position)
        # Nothing is left only by a broken model, and the loop ends the answer: llama.cpp would end the process.
        return int(ids[scores.argmax()]) if len(ids) else int(row.argmax())

    def _scores(self, row: Row, ids: Ids | None, position: int) -> tuple[Ids, NDArray[np.floating[Any]]]:
        """Filters, XTC, temperature and noise: the candidates that are left and what they are chosen by.

        A pass leaves nothing of Python and numpy in the caches, so that each kind of numpy's calls costs 20 to 50
        microseconds here, whatever it works on: there are few kinds of them.
        """
        assert self._chain is not None
        if ids is None and self._top_k:
            ids = top_candidates(row, self._top_k)
        ids, values = (self._ids, row) if ids is None else (ids, row[ids])
        if self._sampling.top_n_sigma:
            likely = within_sigma(values, self._sampling.top_n_sigma)
            ids, values = ids[likely], values[likely]
        elif self._adjusts:
            possible = values > -np.inf
            ids, values = ids[possible], values[possible]
        # No number is above infinity, and NaN is not below it: llama.cpp sorts no such values.
        if not len(ids) or not math.isfinite(values[values.argmax()]):
            return ids[:0], values[:0]
        ids, values = self._chain.apply(ids, values)
        if self._xtc and chance(self._seed, position, XTC) <= self._sampling.xtc_probability:
            kept = without_top_choices(ids, values, self._sampling.xtc_threshold)
            ids, values = ids[kept], values[kept]
        if self._greedy or len(ids) == 1:
            return ids, values
        return ids, values / self._temperature + gumbel(self._seed, position, ids)

    def _fitting(self, constraint: Constraint, row: Row) -> Ids:
        """The ids that fit the grammar, or so many of the likeliest of them that the rest cannot matter."""
        if 0 < self._top_k <= _AT_HAND // 2 and len(row) > _AT_HAND:
            bound = np.partition(row, -_AT_HAND)[-_AT_HAND]
            near = np.flatnonzero((row >= bound) & (row > -np.inf))
            near = near[np.argsort(-row[near], kind="stable")]
            found = constraint.first_allowed(near.tolist(), self._top_k)
            if len(found) == self._top_k:
                return np.array(found, np.int32)
        ids = constraint.allowed()
        ids = ids[ids < len(row)]
        return ids[row[ids] > -np.inf]

    def _give_up(self, row: Row, why: str) -> int:
        """End the answer: the likeliest end token."""
        self.note = f"{why}; the answer ends there"
        if not len(self._ends):  # a draft whose vocabulary lacks them: a proposal is all it makes
            return int(row.argmax())
        return int(self._ends[row[self._ends].argmax()])

    def propose(self, logits: Row, position: int) -> tuple[int, float]:
        """``choose``, and by how much the choice beats the second-best candidate, noise included: the smaller the
        margin, the likelier another model chooses otherwise. Infinite where there is no second."""
        row = self._adjusted(logits) if self._adjusts else logits
        if self._chain is None:
            found = top_candidates(row, 2)
            ids, scores = (self._ids, row) if found is None else (found, row[found])
        else:
            ids, scores = self._scores(row, None, position)
        if not len(ids):
            return int(row.argmax()), 0.0
        best = int(scores.argmax())
        token = int(ids[best])
        if self._constraint is not None and not self._constraint.allows(token):
            return self.choose(logits, position), 0.0
        if len(scores) < 2:
            return token, math.inf
        second = np.partition(scores, len(scores) - 2)[len(scores) - 2]
        margin = float(scores[best] - second)
        return token, 0.0 if math.isnan(margin) else margin


def top_candidates(logits: Row, top_k: int) -> Ids | None:
    """Ids that certainly include the ``top_k`` largest logits, few enough to sort; None when a bound is not worth it.

    The k-th largest of the maxima of disjoint blocks is a lower bound of the k-th largest value, since k blocks each
    hold one value at least that large. One sweep and no sort of the vocabulary. Only right where top_k is the first
    filter.
    """
    blocks = len(logits) // _BLOCK
    if top_k <= 0 or blocks < 4 * top_k:
        return None
    # Blocks are columns, not rows: numpy's maximum over the first axis is vectorised, ten times faster.
    maxima = np.maximum.reduce(logits[: blocks * _BLOCK].reshape(_BLOCK, blocks), axis=0)
    maxima.partition(blocks - top_k)
    found: Ids = (logits >= maxima[blocks - top_k]).nonzero()[0]
    return found


def within_sigma(logits: Row, n: float) -> NDArray[np.bool_]:
    """llama.cpp's top_n_sigma: logits within ``n`` standard deviations of the largest, impossible ones not counted."""
    possible: NDArray[np.bool_] = logits > -np.inf
    counted = logits[possible].astype(np.float64)
    if len(counted) < 2:
        return possible
    possible &= logits >= counted.max() - n * counted.std()
    return possible


def without_top_choices(ids: Ids, logits: Row, threshold: float) -> NDArray[np.intp]:
    """llama.cpp's XTC ("exclude top choices", p-e-w): where several candidates have at least the probability
    ``threshold``, all of these but the least likely one are left out. Returns the places of what stays.
    """
    order = np.lexsort((ids, -logits))
    p = np.exp(logits[order].astype(np.float64) - logits[order[0]])
    above = int((p / p.sum() >= threshold).sum())
    return order[max(0, above - 1) :]
