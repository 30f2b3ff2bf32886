"""A seal on what makes an answer, written when it is kept: a record that was changed afterwards does not bear it.

It finds damage and edits by hand; who changes a record on purpose can seal it anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from engine.protocol import Receipt

_SEALED: Final = ("prompt_ids", "continued_from", "settings", "seed", "stop", "passes")
_MODELS: Final = ("target", "draft")


def sealed(receipt: Receipt, token_ids: Sequence[int]) -> Receipt:
    """The receipt with the seal of this answer."""
    return receipt.model_copy(update={"seal": _seal(json.loads(receipt.model_dump_json()), token_ids)})


def is_broken(receipt_json: str, token_ids: Sequence[int]) -> bool:
    """Whether a record bears a seal that is not its own. The JSON is taken as it is kept: what a later version fills
    in for fields that are not there must not break it. ValueError where it is none."""
    kept = json.loads(receipt_json)
    return bool(kept.get("seal")) and kept["seal"] != _seal(kept, token_ids)


def _seal(receipt: Mapping[str, Any], token_ids: Sequence[int]) -> str:
    fields = {name: receipt.get(name) for name in _SEALED}
    fields |= {name: (receipt.get(name) or {}).get("fingerprint") for name in _MODELS}
    fields["token_ids"] = list(token_ids)
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
