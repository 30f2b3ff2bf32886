"""Which tensors a file has, layer by layer: what tells whether the parts of a model belong together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from engine.files.header import Header, Tensor

MOST_KINDS: Final = 1000
"""Real models have about a hundred; of a made-up header with more, the rest is not kept."""

AS_WIDE_AS_THE_MODEL: Final = ("attn_norm.weight", "ffn_norm.weight")
"""Tensors that have one number for each that a token has between layers, in every architecture."""

REPEATING: Final = frozenset({"hrm-text"})
"""Architectures that run each layer several times, and whose header counts the runs."""

_LAYER: Final = re.compile(r"blk\.(\d{1,4})\.(.+)")
_PER_LAYER: Final = ("attention.head_count", "attention.head_count_kv", "feed_forward_length")


@dataclass(frozen=True, slots=True)
class Kind:
    """The tensors of one name in several layers, such as ``attn_q.weight``; or one outside of them."""

    name: str
    layers: tuple[int, ...]
    """Empty for one outside of them."""
    dims: tuple[int, ...] | None
    """Dimensions, innermost first; None where they differ from layer to layer."""

    def called(self, layer: int | None) -> str:
        """The tensor's whole name."""
        return self.name if layer is None else f"blk.{layer}.{self.name}"


def kinds_of(tensors: Iterable[Tensor]) -> tuple[Kind, ...]:
    """The kinds of tensors in a file, in order."""
    layers: dict[str, list[int]] = {}
    dims: dict[str, tuple[int, ...] | None] = {}
    for tensor in tensors:
        match = _LAYER.fullmatch(tensor.name)
        name = match[2] if match is not None else tensor.name
        if name not in layers:
            if len(layers) >= MOST_KINDS:
                continue
            layers[name], dims[name] = [], tensor.dims
        if match is not None:
            layers[name].append(int(match[1]))
        if dims[name] != tensor.dims:
            dims[name] = None
    return tuple(Kind(name, tuple(found), dims[name]) for name, found in layers.items())


def is_even(header: Header) -> bool:
    """Whether all layers of the model have the same sizes, by its header."""
    name = header.architecture
    if any(isinstance(header.metadata.get(f"{name}.{key}"), tuple) for key in _PER_LAYER):
        return False
    return not any(key.endswith("_swa") for key in header.metadata)
