"""Are the parts of a model parts of one model? By their headers: a part of another one may bear the right name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from app.clean import clean_line
from app.library.facts import FileFacts
from engine.files.layers import AS_WIDE_AS_THE_MODEL, REPEATING, Kind

ALIKE: Final = frozenset(
    f"{name}.weight"
    for name in (
        "attn_q attn_k attn_v attn_qkv attn_output ffn_up ffn_gate ffn_down ffn_up_exps ffn_gate_exps ffn_down_exps"
    ).split()
)
"""Tensors that have the same shape in every layer of a model whose header gives one size for all of them."""


def stranger(facts: dict[int, FileFacts]) -> str | None:
    """Why a part belongs to another model, in one phrase; None: nothing says so. ``facts``: of all parts, by number
    from 1."""
    first = facts[1]
    for number, part in facts.items():
        if (why := _by_what_it_says(number, part, first) or _by_width(number, part, first)) is not None:
            return why
    return _by_its_tensors(facts) or (_by_missing_layers(facts) if first.role == "chat" and first.even else None)


def _by_what_it_says(number: int, part: FileFacts, first: FileFacts) -> str | None:
    here, there = part.architecture, first.architecture
    if here is not None and there is not None and here != there:
        return f"part {number} is of another model: it says {here}, and part 1 says {there}"
    announced, at_first = part.tensors_of_all, first.tensors_of_all
    if announced is not None and at_first is not None and announced != at_first:
        return f"part {number} is of another model: it announces {announced:,} tensors, and part 1 {at_first:,}"
    return None


def _by_width(number: int, part: FileFacts, first: FileFacts) -> str | None:
    for kind in part.kinds:
        if kind.name in AS_WIDE_AS_THE_MODEL and first.shape.width and kind.dims != (first.shape.width,):
            wide = "of several widths" if kind.dims is None else f"{kind.dims[0]:,} wide"
            return f"part {number} is of another model: that is {wide}, and part 1 {first.shape.width:,} wide"
    return None


def _by_its_tensors(facts: dict[int, FileFacts]) -> str | None:
    """A tensor that is there twice, or one of another shape than its like."""
    seen: dict[tuple[str, int | None], int] = {}
    shapes: dict[str, tuple[int, tuple[int, ...]]] = {}
    for number, part in facts.items():
        for kind in part.kinds:
            for layer in kind.layers or (None,):
                earlier = seen.setdefault((kind.name, layer), number)
                if earlier != number:
                    name = clean_line(kind.called(layer), 80)
                    return f"part {number} is of another model: {name} is in it and in part {earlier}"
            if kind.name not in ALIKE or not facts[1].even or kind.dims is None:
                continue
            earlier, shape = shapes.setdefault(kind.name, (number, kind.dims))
            if shape != kind.dims:
                return (
                    f"part {number} is of another model: {kind.name} is {_by(kind.dims)} in it, "
                    f"and {_by(shape)} in part {earlier}"
                )
    return None


def _by_missing_layers(facts: dict[int, FileFacts]) -> str | None:
    here = {layer for _, kind in _all(facts) for layer in kind.layers}
    if not here:
        return None
    for number, kind in _all(facts):
        if (beyond := max(kind.layers, default=0)) >= facts[1].layers:
            return (
                f"part {number} is of another model: it holds layer {beyond:,}, "
                f"and part 1 tells of {facts[1].layers:,}, counted from 0"
            )
    if facts[1].architecture in REPEATING:
        return None
    missing = next((layer for layer in range(facts[1].shape.layers) if layer not in here), None)
    return None if missing is None else f"its parts do not belong together: layer {missing} is in none of them"


def _all(facts: dict[int, FileFacts]) -> Iterator[tuple[int, Kind]]:
    for number, part in facts.items():
        for kind in part.kinds:
            yield number, kind


def _by(dims: tuple[int, ...]) -> str:
    return " x ".join(f"{dim:,}" for dim in dims)
