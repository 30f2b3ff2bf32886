"""Which token made which stretch of an answer's text: of all of it, also where it goes on with an earlier answer.

The engine counts and tells what is new. What such an answer begins with is told by the variant it goes on with, as long
as that is there and the same tokens were taken from it; otherwise the beginning is one stretch of which nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from app.chats.records import Figures
    from app.chats.store import ChatStore
    from engine.protocol import Receipt


UNKNOWN: Final = " "
"""The letter of a token of which nobody knows who proposed it."""


@dataclass(frozen=True, slots=True)
class TokenTexts:
    """One letter a token (who proposed it), and the characters that each token completed; empty: not known."""

    sources: str = ""
    lengths: tuple[int, ...] = ()
    blurred: int = 0
    """So many characters at the beginning stand there in one piece: how they fall into tokens is not known."""

    @staticmethod
    def of(
        text: str, sources: str, proof: Receipt | None, earlier: Callable[[], TokenTexts | None] = lambda: None
    ) -> TokenTexts:
        """Those of an answer. ``earlier`` is asked for those of its beginning if it goes on with another one."""
        if proof is None:
            return TokenTexts()
        if not proof.continued_from:
            return TokenTexts(sources, proof.text_lengths)
        begun = len(text) - sum(proof.text_lengths)
        if begun < 0 or len(proof.text_lengths) != len(sources):
            return TokenTexts()
        before = earlier()
        if before is None or sum(before.lengths) < begun:
            rest = proof.continued_from - 1
            before = TokenTexts(UNKNOWN * (rest + 1), (begun, *[0] * rest), begun)
        return TokenTexts(
            before.sources + sources, (*_cut(before.lengths, begun), *proof.text_lengths), min(before.blurred, begun)
        )


def earlier_of(store: ChatStore, message_id: int, proof: Receipt) -> TokenTexts | None:
    """The token texts of what an answer goes on with: those of the variant that has just these tokens."""
    wanted = _begun(proof)
    for variant in reversed(store.siblings(message_id)):
        if variant.id >= message_id:  # a newer one
            continue
        figures = store.figures([variant.id]).get(variant.id)
        found = figures.receipt() if figures is not None else None
        if figures is None or found is None or (*_begun(found), *figures.token_ids) != wanted:
            continue
        texts = texts_of(store, variant.id, variant.content, figures, found)
        if texts.lengths and sum(texts.lengths) == len(variant.content) and len(texts.lengths) == len(wanted):
            return texts
    return None


def texts_of(store: ChatStore, message_id: int, text: str, figures: Figures, proof: Receipt) -> TokenTexts:
    """Those of an answer in the store."""
    return TokenTexts.of(text, figures.sources, proof, lambda: earlier_of(store, message_id, proof))


def _begun(proof: Receipt) -> tuple[int, ...]:
    """The tokens that an answer goes on with."""
    return proof.prompt_ids[len(proof.prompt_ids) - proof.continued_from :]


def _cut(lengths: tuple[int, ...], most: int) -> tuple[int, ...]:
    """The lengths without what lies behind ``most`` characters: a stop string that was completed later took it."""
    kept = []
    for length in lengths:
        kept.append(min(length, most))
        most -= kept[-1]
    return tuple(kept)
