"""A part of another model under the right name: the set is not whole, and the reason is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from app.library.local import LocalModel
from engine.files.header import read_header
from engine.files.layers import Kind, kinds_of
from tests.fixtures.disks import write_parts
from tests.fixtures.headers import F16, F32, TensorSpec, write_header, write_model

Only = Callable[[], LocalModel]

LAYERS, WIDTH, FEED = 4, 64, 256


def layer(number: int, *, width: int = WIDTH, feed: int = FEED) -> list[TensorSpec]:
    """The tensors of a layer, as far as they tell models apart."""
    return [
        (f"blk.{number}.attn_norm.weight", (width,), F32),
        (f"blk.{number}.attn_q.weight", (width, width), F16),
        (f"blk.{number}.ffn_up.weight", (width, feed), F16),
    ]


def split(number: int, count: int, tensors: int) -> dict[str, Any]:
    return {"split.no": number - 1, "split.count": count, "split.tensors.count": tensors}


def write_two(
    folder: Path,
    second: Sequence[TensorSpec],
    *,
    keys: Mapping[str, Any] | None = None,
    extra: Mapping[str, Any] | None = None,
    count: int | None = None,
) -> None:
    """A model of four layers in two parts; ``second``: the tensors of part 2, ``keys``: its header's."""
    first = [*layer(0), *layer(1)]
    of_all = len(first) + len(second) if count is None else count
    said = {**split(1, 2, of_all), **(extra or {})}
    write_model(folder / "Big-00001-of-00002.gguf", name="Big", layers=LAYERS, extra=said, tensors=first)
    write_header(folder / "Big-00002-of-00002.gguf", {**split(2, 2, of_all), **(keys or {})}, second)


REST = [*layer(2), *layer(3)]


def test_the_parts_of_one_model_belong_together(folder: Path, only: Only) -> None:
    write_two(folder, REST)
    assert only().fault is None


@pytest.mark.parametrize(
    ("second", "keys", "why"),
    [
        (REST, {"general.architecture": "qwen3"}, "it says qwen3, and part 1 says llama"),
        (REST, {"split.tensors.count": 14}, "it announces 14 tensors, and part 1 12"),
        ([*layer(2, width=128), *layer(3, width=128)], {}, "that is 128 wide, and part 1 64 wide"),
        ([*layer(2), *layer(3, width=128)], {}, "that is of several widths, and part 1 64 wide"),
        ([*layer(2, feed=512), *layer(3, feed=512)], {}, "ffn_up.weight is 64 x 512 in it, and 64 x 256 in part 1"),
        ([*layer(1), *layer(3)], {}, "blk.1.attn_norm.weight is in it and in part 1"),
        ([*layer(2), *layer(7)], {}, "it holds layer 7, and part 1 tells of 4, counted from 0"),
    ],
    ids=["architecture", "count", "width", "widths", "shape", "twice", "layers"],
)
def test_a_part_of_another_model_is_named(
    folder: Path, only: Only, second: Sequence[TensorSpec], keys: Mapping[str, Any], why: str
) -> None:
    write_two(folder, second, keys=keys)
    model = only()
    assert not model.usable
    assert model.fault == f"part 2 is of another model: {why}"


def test_a_layer_that_no_part_has_is_named(folder: Path, only: Only) -> None:
    write_two(folder, [*layer(3), ("output_norm.weight", (WIDTH,), F32)])
    assert only().fault == "its parts do not belong together: layer 2 is in none of them"


def test_other_part_numbers_are_named(folder: Path, only: Only) -> None:
    write_two(folder, REST, keys={"split.count": 3})
    assert only().fault == "the header of part 2 of 2 does not say that it is that part"


def test_layers_of_several_sizes_are_no_strangers(folder: Path, only: Only) -> None:
    uneven = {"llama.feed_forward_length": [FEED, FEED, 512, 512], "llama.attention.head_count": [4, 4, 4, 4]}
    write_two(folder, [*layer(2, feed=512), *layer(3, feed=512)], extra=uneven)
    assert only().fault is None


def test_layers_that_are_not_loaded_may_be_missing(folder: Path, only: Only) -> None:
    write_two(folder, layer(2), extra={"llama.nextn_predict_layers": 1})
    assert only().fault is None


def test_layers_that_run_several_times_are_counted_as_often(folder: Path, only: Only) -> None:
    extra = {"general.architecture": "hrm-text"}
    keys = ("context_length", "embedding_length", "attention.head_count", "attention.head_count_kv")
    said = {f"hrm-text.{key}": value for key, value in zip(keys, (4096, WIDTH, 4, 2), strict=True)}
    write_two(folder, REST, extra={**extra, **said, "hrm-text.block_count": 4 * LAYERS})
    assert only().fault is None


def test_a_file_of_its_own_that_lacks_layers_is_none_either(folder: Path, only: Only) -> None:
    write_model(folder / "Half.gguf", layers=30, tensors=[*layer(0), *layer(1)])
    model = only()
    assert not model.usable
    assert model.why_not == (
        "its header tells of 30 layers, and 28 of them are not here; the first is layer 2, counted from 0"
    )


def test_parts_without_layers_are_told_by_their_numbers_alone(folder: Path, only: Only) -> None:
    said = split(1, 2, 2)
    write_model(folder / "Odd-00001-of-00002.gguf", extra=said, tensors=[("a.weight", (10_000,), F16)])
    write_header(folder / "Odd-00002-of-00002.gguf", split(2, 2, 2), [("b.weight", (32,), F16)])
    assert only().fault is None


def test_kinds_of_tensors(tmp_path: Path) -> None:
    tensors = [("output.weight", (8,), F16), *layer(0), *layer(10, feed=512)]
    header = read_header(write_header(tmp_path / "m.gguf", {}, tensors))
    assert kinds_of(header.tensors) == (
        Kind("output.weight", (), (8,)),
        Kind("attn_norm.weight", (0, 10), (WIDTH,)),
        Kind("attn_q.weight", (0, 10), (WIDTH, WIDTH)),
        Kind("ffn_up.weight", (0, 10), None),
    )


def test_a_set_of_the_fixtures_is_whole(folder: Path, only: Only) -> None:
    write_parts(folder, "Cut", 3)
    assert only().usable
