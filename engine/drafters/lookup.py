"""Prompt lookup: what followed the last time the text went like this (Saxena 2023; llama.cpp's ngram drafters).

The most recent earlier place where the longest suffix of the text stands is found in hash tables of n-grams, one
table a length; keeping them costs the same few steps for every token, however long the text is.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.drafters.base import NOTHING, Draft

LONGEST, SHORTEST = 8, 2
"""N-gram lengths that are looked up, longest first. A match of one token says next to nothing."""

LONGEST_COUNTED = 32
"""A longer match is no surer than this one."""


class LookupDrafter:
    """Proposes the continuation of the most recent longest match within the answer's own branch.

    The index is kept from answer to answer as long as the new prompt continues the old text; otherwise (another
    chat, an edit, a regenerated answer) it is built anew, so that no answer is ever looked up from its sibling.
    """

    name = "lookup"

    def __init__(self, longest: int = LONGEST, shortest: int = SHORTEST) -> None:
        self._lengths = range(longest, shortest - 1, -1)
        self._indexed: list[int] = []
        self._tables: dict[int, dict[tuple[int, ...], int]] = {}
        self.forget()

    def forget(self) -> None:
        """Drop the index: the next answer is looked up in its own branch only."""
        self._indexed = []
        self._tables = {length: {} for length in self._lengths}

    def begin(self, prompt: Sequence[int]) -> None:
        """See :class:`~engine.drafters.base.Drafter`."""
        if self._indexed != list(prompt[: len(self._indexed)]):
            self.forget()
        self._index(prompt)

    def _index(self, history: Sequence[int]) -> None:
        """Take in what is new. An n-gram is entered only when the token behind it is known, so that the present
        suffix never matches itself; later entries replace earlier ones: the most recent wins."""
        indexed = self._indexed
        for token in history[len(indexed) :]:
            end = len(indexed)
            for length, table in self._tables.items():
                if length <= end:
                    table[tuple(indexed[end - length :])] = end
            indexed.append(token)

    def draft(self, history: Sequence[int], limit: int) -> Draft:
        """See :class:`~engine.drafters.base.Drafter`. Where the match runs into the end of the text it goes on with
        its own proposals, so a cycle is continued at full length. Confidence: the length of the match, which grows
        by one with every proposal that holds."""
        self._index(history)
        start = self._match()
        if start is None:
            return NOTHING
        indexed, tokens = self._indexed, []  # type: tuple[list[int], list[int]]
        behind = len(indexed)
        for place in range(start, start + limit):
            tokens.append(indexed[place] if place < behind else tokens[place - behind])
        matched = self._matched(start)
        return Draft(tokens, self.name, range(matched, matched + limit))

    def _match(self) -> int | None:
        indexed = self._indexed
        for length, table in self._tables.items():
            if length <= len(indexed):
                start = table.get(tuple(indexed[-length:]))
                if start is not None:
                    return start
        return None

    def _matched(self, start: int) -> int:
        """How many tokens before ``start`` equal the end of the text, at most LONGEST_COUNTED."""
        indexed = self._indexed
        length = 0
        while length < min(start, LONGEST_COUNTED) and indexed[start - 1 - length] == indexed[-1 - length]:
            length += 1
        return length
