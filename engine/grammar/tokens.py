"""A grammar laid over a vocabulary: which tokens may come next, and the state that follows the answer's tokens."""

from __future__ import annotations

import codecs
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.grammar.rules import Grammar
from engine.grammar.states import Automaton, State

MAX_WORK = 2_000_000
"""Readings (``Automaton.work``) that one sweep over the vocabulary may follow: a second or two."""

SETS_KEPT = 16
"""Sets of allowed tokens kept, for states that come again and again (the inside of a string)."""

Place = tuple[State, bytes]
"""How far an answer has followed the grammar: a state, and the bytes of a character that is not yet whole."""


class TooAmbiguous(Exception):
    """The grammar can be read in too many ways from here on."""


class TokenTexts:
    """What every token of a vocabulary shows, in an order that makes a sweep quick. Made once a vocabulary.

    Tokens that show nothing (control tokens) can only be allowed by name, end tokens only where the grammar is
    complete. ``piece``: a token's bytes.
    """

    def __init__(self, size: int, piece: Callable[[int], bytes], ends: Iterable[int]) -> None:
        self.size, self.piece = size, piece
        self.ends = np.array(sorted(ends), np.int32)
        skipped = set(self.ends.tolist())
        whole: list[tuple[str, int]] = []
        self.broken: list[int] = []
        """Tokens that begin or end inside a character."""
        for token in range(size):
            data = b"" if token in skipped else piece(token)
            if not data or 0 in data:
                continue
            try:
                whole.append((data.decode(), token))
            except UnicodeDecodeError:
                self.broken.append(token)
        whole.sort()
        self.texts = [text for text, _ in whole]
        self.ids = [token for _, token in whole]
        self.whole = frozenset(self.ids)
        self.shared = [0] * len(whole)
        """Characters that a text shares with the one before it."""
        self.first: list[tuple[str, int, int]] = []
        """First character -> where its texts begin and end."""
        before = ""
        for i, text in enumerate(self.texts):
            most = min(len(before), len(text))
            self.shared[i] = next((k for k in range(most) if before[k] != text[k]), most)
            if not self.shared[i]:
                if self.first:
                    self.first[-1] = (*self.first[-1][:2], i)
                self.first.append((text[0], i, len(whole)))
            before = text


class Constraint:
    """One answer's way through a grammar."""

    def __init__(self, grammar: Grammar, texts: TokenTexts) -> None:
        self._texts = texts
        self._automaton = Automaton(grammar)
        self._names_tokens = grammar.names_tokens
        self._ends = frozenset(texts.ends.tolist())
        self._sets: OrderedDict[Place, NDArray[np.int32]] = OrderedDict()
        self.place: Place | None = (self._automaton.start, b"") if self._automaton.start else None
        """None: nothing may follow."""

    def allows(self, token: int) -> bool:
        """Whether the token may come next."""
        if token in self._ends:
            return self.place is not None and self.place[0].complete and not self.place[1]
        return self.place is not None and self._after(self.place, token) is not None

    def accept(self, token: int) -> None:
        """Follow an emitted token."""
        if self.place is not None:
            self.place = None if token in self._ends else self._after(self.place, token)

    def mark(self) -> Place | None:
        """The present place, for :meth:`take_back`."""
        return self.place

    def take_back(self, mark: Place | None) -> None:
        """Forget the tokens accepted since ``mark``."""
        self.place = mark

    def first_allowed(self, tokens: Sequence[int], count: int) -> list[int]:
        """The first ``count`` of ``tokens`` that may come next; fewer when there are fewer. Raises TooAmbiguous."""
        limit = self._automaton.work + MAX_WORK
        found: list[int] = []
        for token in tokens:
            if self._automaton.work > limit:
                raise TooAmbiguous
            if self.allows(token):
                found.append(token)
                if len(found) == count:
                    break
        return found

    def allowed(self) -> NDArray[np.int32]:
        """All ids that may come next, sorted. Raises TooAmbiguous."""
        place = self.place
        if place is None:
            return np.empty(0, np.int32)
        found = self._sets.get(place)
        if found is None:
            found = self._sets[place] = self._sweep(place)
            if len(self._sets) > SETS_KEPT:
                self._sets.popitem(last=False)
        else:
            self._sets.move_to_end(place)
        return found

    def _after(self, place: Place, token: int) -> Place | None:
        state, pending = place
        by_text = self._after_text(place, self._texts.piece(token)) if 0 <= token < self._texts.size else None
        by_name = None
        if self._names_tokens and not pending:
            by_name = state.after_token(token, text=token in self._texts.whole)
        if by_name is None:
            return by_text
        return (by_name, b"") if by_text is None or by_text[1] else (by_name.joined(by_text[0]), b"")

    def _after_text(self, place: Place, data: bytes) -> Place | None:
        state, pending = place
        if not data or 0 in data:
            return None
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            text = decoder.decode(pending + data)
        except UnicodeDecodeError:
            return None
        following: State = state
        for character in text:
            found = following.after(character)
            if found is None:
                return None
            following = found
        rest = decoder.getstate()[0]
        if rest and not following.allows_between(*_completions(rest)):
            return None
        return following, rest

    def _sweep(self, place: Place) -> NDArray[np.int32]:
        state, pending = place
        found: list[int] = [] if pending else self._sweep_whole(state)
        found += [token for token in self._texts.broken if self._after_text(place, self._texts.piece(token))]
        if self._names_tokens and not pending:
            texts = self._texts
            named = (t for t in range(texts.size) if state.after_token(t, text=t in texts.whole))
            found += [t for t in named if t not in self._ends]
        if state.complete and not pending:
            found += self._ends
        return np.unique(np.array(found, np.int32))

    def _sweep_whole(self, state: State) -> list[int]:
        """Every token of whole characters, prefix by prefix: where a prefix fails, all that begin with it do."""
        texts, ids, shared, automaton = self._texts.texts, self._texts.ids, self._texts.shared, self._automaton
        limit = automaton.work + MAX_WORK
        found: list[int] = []
        for character, start, stop in self._texts.first:
            if state.after(character) is None:
                continue
            path = [state]  # the states along the text before: path[n] is the one behind n characters
            for i in range(start, stop):
                common = shared[i] if i > start else 0
                if common >= len(path):
                    continue
                del path[common + 1 :]
                following: State | None = path[-1]
                for c in texts[i][common:]:
                    following = following.after(c)  # type: ignore[union-attr]  # not None: the loop ends with it
                    if following is None:
                        break
                    path.append(following)
                else:
                    found.append(ids[i])
                if automaton.work > limit:
                    raise TooAmbiguous
        return found


def _completions(beginning: bytes) -> tuple[int, int]:
    """The least and the greatest code point whose UTF-8 begins with these bytes."""
    lead = beginning[0]
    length = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    value = lead & (0x7F >> length)
    for byte in beginning[1:]:
        value = value << 6 | byte & 0x3F
    missing = 6 * (length - len(beginning))
    least = {2: 0x80, 3: 0x800, 4: 0x10000}[length]
    return max(least, value << missing), min(0x10FFFF, (value << missing) | ((1 << missing) - 1))
