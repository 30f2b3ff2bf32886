"""What a header claims about its model and cannot be true: sizes that no weights stand behind.

Memory is reckoned with these numbers before anything is loaded, so a file that lies about them would be offered with
a figure of terabytes; the native library refuses it late, in words for its authors, or ends the process.
"""

from __future__ import annotations

from typing import Final

from engine.files.belied import belied, other_layers, wrong_list
from engine.files.header import Header
from engine.files.layers import kinds_of
from engine.files.quantization import parameters
from engine.files.shape import CACHE_ENTRY, RECURRENT, STATE_ENTRY, Shape, at_layer

MARGIN: Final = 16
"""Every number that attention keeps of a token, and every step inside a layer, is the product of a row of weights as
wide as the model. Architectures that compress or share these rows have fewer weights, none by so much."""


def untrue(header: Header, shape: Shape | None = None, weights: int | None = None) -> str | None:
    """What the header of a model to talk to, in one file, says and cannot be, in one phrase; None: nothing. ``shape``
    and ``weights`` (how many numbers there are): the header's own, where they are known already."""
    if (why := untrue_numbers(header)) is not None:
        return why
    shape = Shape.of(header) if shape is None else shape
    weights = parameters(header) if weights is None else weights
    kinds = kinds_of(header.tensors)
    why = other_layers(header, kinds) or untrue_sizes(shape, weights)
    if why is None and (claim := belied(header, kinds)) is not None:
        why = _damaged(claim)
    return why


def untrue_numbers(header: Header) -> str | None:
    """The same without a look at the tensors: a later part of a model in parts says nothing of heads and layers."""
    if (claim := wrong_list(header)) is not None:
        return _damaged(claim)
    if header.architecture in RECURRENT:
        return None
    heads, kept, width = header.head_counts, header.kv_head_counts, header.embedding_length
    if heads and max(heads) < 1:
        return _damaged("no attention head")
    sized = header.integer(f"{header.architecture}.attention.key_length") is not None
    if heads and width is not None and heads[0] > width and not sized:  # the library divides one by the other
        return _damaged(f"{heads[0]:,} attention heads in a token that is {width:,} numbers wide")
    for layer in range(max(len(heads), len(kept))):
        asking, answering = at_layer(heads, layer), at_layer(kept, layer)
        if answering < 0 or (asking > 0 and answering and asking % answering):
            return _damaged(f"{asking:,} attention heads and {answering:,} for keys and values")
    return None


def untrue_sizes(shape: Shape, weights: int) -> str | None:
    """The same of sizes. ``shape`` and ``weights`` (how many numbers there are) of the whole model."""
    rows = max(shape.cell // CACHE_ENTRY, shape.attention, shape.feed_forward)
    least = max(shape.width * max(rows, 1), shape.state // STATE_ENTRY)
    return _damaged(f"sizes that take {least:,} weights, and has {weights:,}") if least > MARGIN * weights else None


def _damaged(claim: str) -> str:
    return f"its header is damaged: it claims {claim}"
