"""A seal on an answer and its record, written when it is kept: what was changed afterwards does not bear it.

It finds damage and edits by hand; who changes a record on purpose can seal it anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from app.chats.proof import ALTERED, TEXT_CHANGED, UNSEALED
from app.chats.words import storable
from app.json_text import parsed

if TYPE_CHECKING:
    from app.chats.records import Figures
    from engine.protocol import Receipt

_SEALED: Final = ("prompt_ids", "continued_from", "settings", "seed", "stop", "passes")
_MODELS: Final = ("target", "draft")
_TOKENS: Final = "token_ids"
"""Behind all others in the sorted JSON."""
_CAME_WITH_SEALS: Final = ("seal", "build")
"""Fields that every version which seals writes, and none before: without a seal such a record has lost it."""


class Sealer:
    """Seals one answer again and again while it grows: of a long prompt once, of its tokens every time."""

    def __init__(self, receipt: Mapping[str, Any]) -> None:
        """``receipt``: as its JSON has it."""
        fields = {name: receipt.get(name) for name in _SEALED}
        fields |= {name: (receipt.get(name) or {}).get("fingerprint") for name in _MODELS}
        self._begun = hashlib.sha256(json.dumps(fields | {_TOKENS: []}, sort_keys=True)[:-2].encode())

    @classmethod
    def of(cls, receipt: Receipt) -> Sealer:
        return cls(json.loads(receipt.model_dump_json()))

    def seal(self, figures: Figures, text_hash: str, lengths: Sequence[int]) -> str:
        """``text_hash``: empty in records of versions that sealed the tokens alone."""
        whole = self._begun.copy()
        whole.update(f"{json.dumps([*figures.token_ids])[1:]}}}".encode())
        if text_hash:
            shown = [text_hash, figures.finish_reason, figures.sources, figures.stats_json, [*lengths]]
            whole.update(json.dumps(shown).encode())
        return whole.hexdigest()


def sealed(receipt: Receipt, figures: Figures, text: str, sealer: Sealer | None = None) -> Receipt:
    """The receipt with the seal of this answer. ``text``: all of it, as it is kept; ``sealer``: that of this receipt,
    where there is one already."""
    text_hash = _hash(text)
    seal = (sealer or Sealer.of(receipt)).seal(figures, text_hash, receipt.text_lengths)
    return receipt.model_copy(update={"text_sha256": text_hash, "seal": seal})


def doubts(figures: Figures, text: str) -> tuple[str, ...]:
    """What tells that an answer is not as it was made, in sentences; none where it is, and where it was made before
    there were seals. The JSON is taken as it is kept: what a later version fills in for fields that are not there must
    not break a seal. ValueError where it is none."""
    kept = parsed(figures.receipt_json or "{}")
    found = [ALTERED] if _is_broken(figures, kept) else []
    if not kept.get("seal") and any(name in kept for name in _CAME_WITH_SEALS):
        found.append(UNSEALED)
    if kept.get("text_sha256") and kept["text_sha256"] != _hash(text):
        found.append(TEXT_CHANGED)
    return tuple(found)


def _is_broken(figures: Figures, kept: Mapping[str, Any]) -> bool:
    if not kept.get("seal"):
        return False
    return bool(kept["seal"] != Sealer(kept).seal(figures, kept.get("text_sha256") or "", kept.get("text_lengths", ())))


def _hash(text: str) -> str:
    return hashlib.sha256(storable(text).encode()).hexdigest()
