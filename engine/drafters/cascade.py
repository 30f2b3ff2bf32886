"""Several drafters in order: the first that has something to say speaks."""

from __future__ import annotations

from collections.abc import Sequence

from engine.drafters.base import NOTHING, Draft, Drafter


class Cascade:
    """``auto``: lookup costs nothing, so it is asked first; the draft model only when lookup finds no match."""

    def __init__(self, *drafters: Drafter) -> None:
        self._drafters = drafters
        self.name = "+".join(drafter.name for drafter in drafters)

    def begin(self, prompt: Sequence[int]) -> None:
        """See :class:`~engine.drafters.base.Drafter`."""
        for drafter in self._drafters:
            drafter.begin(prompt)

    def draft(self, history: Sequence[int], limit: int) -> Draft:
        """See :class:`~engine.drafters.base.Drafter`."""
        for drafter in self._drafters:
            draft = drafter.draft(history, limit)
            if draft.tokens:
                return draft
        return NOTHING
