"""What models are called on screen: short, from the file's name, because ``general.name`` is often a training label."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from app.clean import clean_line

if TYPE_CHECKING:
    from engine.protocol import ModelInfo, PairInfo

_QUANT: Final = re.compile(r"[-._]((?:UD-)?(?:I?Q\d\w*|B?F16|F32|MXFP4\w*))$", re.IGNORECASE)
_PART: Final = re.compile(r"-\d{5}-of-\d{5}$")
_TUNED: Final = re.compile(r"[-_.](?:instruct|chat|it)(?=$|[-_.])", re.IGNORECASE)
_BLOB: Final = re.compile(r"^(?:sha256-)?[0-9a-f]{32,}$")


def _stem(path: str) -> str:
    name = re.split(r"[\\/]", path)[-1]
    return _PART.sub("", name[:-5] if name.lower().endswith(".gguf") else name)


def full_name(path: str, general_name: str = "") -> str:
    """``SmolLM2-135M Q4_1``: the model and its quantization."""
    stem = _stem(path)
    if _BLOB.match(stem):
        return clean_line(general_name or stem, 40)
    quant = _QUANT.search(stem)
    base = _TUNED.sub("", stem[: quant.start()] if quant else stem)
    return clean_line(f"{base} {quant[1]}" if quant else base, 60)


def short_name(path: str, general_name: str = "") -> str:
    """``SmolLM2-135M``: whose answer this is."""
    return _QUANT.sub("", full_name(path, general_name).replace(" ", "-"))


def model_name(model: ModelInfo) -> str:
    return full_name(model.path, model.name)


def speaker_name(model: ModelInfo) -> str:
    return short_name(model.path, model.name)


def pair_name(pair: PairInfo, *, draft_whole: bool = False) -> str:
    """``SmolLM2-135M Q4_1 + lookup``: who answers and who may propose; ``draft_whole``: with its quantization, too."""
    return pair_of(pair.target, pair.draft, draft_whole=draft_whole)


def pair_of(target: ModelInfo, draft: ModelInfo | None, *, draft_whole: bool = True) -> str:
    """:func:`pair_name` of two models."""
    if draft is None:
        return f"{model_name(target)} + lookup"
    return f"{model_name(target)} + {model_name(draft) if draft_whole else speaker_name(draft)}"
