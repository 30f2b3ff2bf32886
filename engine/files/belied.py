"""What a header says of its model and the tensors in the same file belie: layers that are missing or too many, widths
and heads that no tensor is made for.

The library refuses such a file at load, in words for its authors. Condemned is only what it asks of a file of every
architecture (llama-model.cpp ``load_hparams``, ``create_tensor_qkv``; src/models/*.cpp ``load_arch_tensors``;
llama-model-loader.cpp ``get_key_or_arr``, ``done_getting_tensors``). A model in parts is judged in
:mod:`app.library.belonging`, when all its parts are known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from engine.files.header import Header
from engine.files.layers import AS_WIDE_AS_THE_MODEL, REPEATING, Kind, is_even
from engine.files.shape import HYBRID, RECURRENT, at_layer

A_NUMBER_A_LAYER: Final = (
    "attention.head_count",
    "attention.head_count_kv",
    "feed_forward_length",
    "expert_used_count",
)
"""What is one number for all layers, or a list with one for each: no shorter list, and no longer one."""

PLAIN: Final = frozenset(
    "llama qwen2 qwen2moe qwen3 qwen3moe gemma gemma2 gemma3 mistral3 smollm3 granite starcoder2 olmo2".split()
)
"""Architectures whose keys have as many rows as their heads have numbers; others share them, or compress them."""

_KEYS: Final = ("attn_k.weight", "attn_v.weight")
_FEEDS: Final = ("ffn_up.weight", "ffn_down.weight")
_IN_A_LAYER: Final = re.compile(r"\.\d+\.")

Named = Mapping[str, Kind]


def wrong_list(header: Header) -> str | None:
    """What is listed for other layers than there are, as a claim; None: nothing."""
    layers = header.block_count
    for key in A_NUMBER_A_LAYER:
        listed = header.arrays.get(f"{header.architecture}.{key}")
        if listed is not None and layers is not None and listed.count != layers:
            return f"{_layers(layers)}, and lists {key} for {listed.count:,}"
    return None


def other_layers(header: Header, kinds: Sequence[Kind]) -> str | None:
    """Which layers are not here, or are too many, in one phrase; None: those are here that the header tells of.
    ``kinds``: of the tensors in the file."""
    layers = header.block_count or 0
    if layers < 1 or not header.tensors:
        return None
    here = {layer for kind in kinds for layer in kind.layers}
    if not here:
        if any(_IN_A_LAYER.search(tensor.name) for tensor in header.tensors):
            return None  # named otherwise: an encoder's, say
        return f"its header tells of {_layers(layers)}, and none is here"
    if (beyond := max(here)) >= layers:
        return f"its header is damaged: it claims {_layers(layers)}, and layer {beyond:,} is here, counted from 0"
    if header.architecture in REPEATING or (0 not in here and _further(header)):
        return None  # the layers that predict further tokens may come alone
    missing = [at for at in range(layers - _further(header)) if at not in here and not _empty(header, at)]
    if not missing:
        return None
    which = f"layer {missing[0]:,} is" if len(missing) == 1 else f"{len(missing):,} of them are"
    first = "" if len(missing) == 1 else f"; the first is layer {missing[0]:,}"
    return f"its header tells of {_layers(layers)}, and {which} not here{first}, counted from 0"


def belied(header: Header, kinds: Sequence[Kind]) -> str | None:
    """What is claimed and a tensor is not made for, as a claim; None: nothing."""
    named = {kind.name: kind for kind in kinds if kind.layers}
    return _by_width(header, named) or _by_absence(header, named) or _by_heads(header, named)


def _further(header: Header) -> int:
    """Layers that predict further tokens: they are not needed, and often left out."""
    further = header.integer(f"{header.architecture}.nextn_predict_layers") or 0
    return further if 0 < further < (header.block_count or 0) else 0


def _empty(header: Header, layer: int) -> bool:
    """Whether the lists say that the layer does nothing (Llama-3_1-Nemotron-Ultra has such layers)."""
    heads, inside = header.head_counts, header.feed_forward_lengths
    return len(heads) > 1 and len(inside) > 1 and at_layer(heads, layer) == at_layer(inside, layer) == 0


def _by_width(header: Header, kinds: Named) -> str | None:
    width = header.embedding_length
    for kind in (kinds[name] for name in AS_WIDE_AS_THE_MODEL if name in kinds):
        if width is not None and kind.dims != (width,):
            wide = "of several sizes" if kind.dims is None else f"for {kind.dims[0]:,}"
            return f"that a token is {width:,} numbers wide, and {_first(kind)} is {wide}"
    return None


def _by_absence(header: Header, kinds: Named) -> str | None:
    """Claimed not to be there at all, and there is a tensor for it."""
    if header.architecture not in RECURRENT | HYBRID:
        for kind in (kinds[name] for name in _KEYS if name in kinds):
            if any(at_layer(header.kv_head_counts, layer) < 1 for layer in kind.layers):
                return f"no head for keys and values in a layer that has {kind.name}"
    for kind in (kinds[name] for name in _FEEDS if name in kinds):
        if any(at_layer(header.feed_forward_lengths, layer) < 1 for layer in kind.layers):
            return f"no feed-forward width in a layer that has {kind.name}"
    return None


def _by_heads(header: Header, kinds: Named) -> str | None:
    """Heads that the rows for them cannot be shared out among."""
    if header.architecture in RECURRENT | HYBRID or not is_even(header):
        return None
    heads, kept = max(header.head_counts, default=0), max(header.kv_head_counts, default=0)
    for name, place, count, what in (
        ("attn_q.weight", 1, heads, "attention heads"),
        ("attn_output.weight", 0, heads, "attention heads"),
        ("attn_k.weight", 1, kept, "heads for keys and values"),
    ):
        kind = kinds.get(name)
        if kind is not None and kind.dims is not None and len(kind.dims) == 2 and count and kind.dims[place] % count:
            return f"{count:,} {what}, among which the {kind.dims[place]:,} numbers of {_first(kind)} cannot be shared"
    return _by_keys(header, kinds.get("attn_k.weight"), kept) if header.architecture in PLAIN else None


def _by_keys(header: Header, keys: Kind | None, kept: int) -> str | None:
    size = header.key_length or 0
    if keys is None or keys.dims is None or len(keys.dims) != 2 or size != header.value_length:
        return None
    claim = f"{kept:,} keys of {size:,} numbers, and {_first(keys)} is for {keys.dims[1]:,} numbers in all"
    return claim if keys.dims[1] != kept * size else None


def _first(kind: Kind) -> str:
    return kind.called(min(kind.layers))


def _layers(count: int) -> str:
    return "1 layer" if count == 1 else f"{count:,} layers"
