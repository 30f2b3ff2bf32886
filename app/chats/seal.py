"""A seal on what makes an answer, written when it is kept: a record that was changed afterwards does not bear it.

It finds damage and edits by hand; who changes a record on purpose can seal it anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from app.json_text import parsed

if TYPE_CHECKING:
    from engine.protocol import Receipt

_SEALED: Final = ("prompt_ids", "continued_from", "settings", "seed", "stop", "passes")
_MODELS: Final = ("target", "draft")
_TOKENS: Final = "token_ids"
"""Behind all others in the sorted JSON."""


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

    def seal(self, token_ids: Sequence[int]) -> str:
        whole = self._begun.copy()
        whole.update(f"{json.dumps([*token_ids])[1:]}}}".encode())
        return whole.hexdigest()


def sealed(receipt: Receipt, token_ids: Sequence[int]) -> Receipt:
    """The receipt with the seal of this answer."""
    return receipt.model_copy(update={"seal": Sealer.of(receipt).seal(token_ids)})


def is_broken(receipt_json: str, token_ids: Sequence[int]) -> bool:
    """Whether a record bears a seal that is not its own. The JSON is taken as it is kept: what a later version fills
    in for fields that are not there must not break it. ValueError where it is none."""
    kept = parsed(receipt_json)
    return bool(kept.get("seal")) and kept["seal"] != Sealer(kept).seal(token_ids)
