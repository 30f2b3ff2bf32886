"""A header that the tensors in the same file belie is named before the library meets it; no healthy shape ever is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.files.claims import untrue
from engine.files.header import read_header
from engine.files.needed import lacking
from engine.target_file import PairError, checked_header
from tests.fixtures.headers import F16, F32, TensorSpec, states, write_model
from tests.fixtures.layers import EXPERTS, LAYERS, MLA_NEW, MLA_OLD, WIDTH, block, blocks

Untrue = Callable[..., str | None]

DAMAGED = "its header is damaged: it claims "
LACKS = "its header tells of "


@pytest.fixture
def found(tmp_path: Path) -> Untrue:
    """Why a model with these tensors and keys is not believed. It is 64 wide and has 4 heads, 2 of them for keys, in 4
    layers, unless told otherwise."""

    def write(tensors: Sequence[TensorSpec], architecture: str = "llama", **keys: Any) -> str | None:
        extra = {f"{architecture}.{key.replace('__', '.')}": value for key, value in keys.items()}
        path = tmp_path / "m.gguf"
        write_model(path, architecture=architecture, width=WIDTH, layers=LAYERS, extra=extra, tensors=tensors)
        return untrue(read_header(path))

    return write


@pytest.mark.parametrize(
    ("held", "layers", "why"),
    [
        ((0, 1, 2, 3), 30, LACKS + "30 layers, and 26 of them are not here; the first is layer 4, counted from 0"),
        ((0, 1, 2, 3), 5, LACKS + "5 layers, and layer 4 is not here, counted from 0"),
        ((0, 2, 3), 4, LACKS + "4 layers, and layer 1 is not here, counted from 0"),
        ((1, 2, 3), 4, LACKS + "4 layers, and layer 0 is not here, counted from 0"),
        ((0, 1, 2, 3), 512, LACKS + "512 layers, and 508 of them are not here; the first is layer 4, "
         "counted from 0"),
        ((), 4, LACKS + "4 layers, and none is here"),
        ((), 1, LACKS + "1 layer, and none is here"),
        ((0, 1, 2, 3), 3, DAMAGED + "3 layers, and layer 3 is here, counted from 0"),
        ((0, 1, 2, 9), 3, DAMAGED + "3 layers, and layer 9 is here, counted from 0"),
    ],
)  # fmt: skip
def test_other_layers_than_the_header_tells_of(found: Untrue, held: Sequence[int], layers: int, why: str) -> None:
    tensors = [("token_embd.weight", (WIDTH, 300), F16), *(tensor for at in held for tensor in block(at))]
    assert found(tensors, block_count=layers) == why


@pytest.mark.parametrize(
    ("keys", "claim"),
    [
        ({"attention__head_count_kv": [2, 2]}, "4 layers, and lists attention.head_count_kv for 2"),
        ({"attention__head_count_kv": [2] * 9}, "4 layers, and lists attention.head_count_kv for 9"),
        ({"attention__head_count_kv": [2] * 2000}, "4 layers, and lists attention.head_count_kv for 2,000"),
        ({"attention__head_count": [4] * 3}, "4 layers, and lists attention.head_count for 3"),
        ({"attention__head_count": [4]}, "4 layers, and lists attention.head_count for 1"),
        ({"feed_forward_length": [256] * 5}, "4 layers, and lists feed_forward_length for 5"),
        ({"expert_used_count": [2] * 5}, "4 layers, and lists expert_used_count for 5"),
        ({"attention__head_count": 10_000, "attention__head_count_kv": 10_000},
         "10,000 attention heads in a token that is 64 numbers wide"),
        ({"attention__head_count": 2**31, "attention__head_count_kv": 2},
         "2,147,483,648 attention heads in a token that is 64 numbers wide"),
        ({"attention__head_count": 5, "attention__head_count_kv": 5},
         "5 attention heads, among which the 64 numbers of blk.0.attn_q.weight cannot be shared"),
        ({"attention__head_count": 12, "attention__head_count_kv": 6, "attention__key_length": 16},
         "12 attention heads, among which the 64 numbers of blk.0.attn_q.weight cannot be shared"),
        ({"attention__head_count": 8}, "2 keys of 8 numbers, and blk.0.attn_k.weight is for 32 numbers in all"),
        ({"attention__head_count_kv": 0}, "no head for keys and values in a layer that has attn_k.weight"),
        ({"attention__head_count_kv": [2, 2, 0, 2]}, "no head for keys and values in a layer that has attn_k.weight"),
        ({"feed_forward_length": 0}, "no feed-forward width in a layer that has ffn_up.weight"),
        ({"feed_forward_length": None}, "no feed-forward width in a layer that has ffn_up.weight"),
        ({"feed_forward_length": [256, 0, 256, 256]}, "no feed-forward width in a layer that has ffn_up.weight"),
        ({"embedding_length": 128}, "that a token is 128 numbers wide, and blk.0.attn_norm.weight is for 64"),
    ],
    ids=str,
)  # fmt: skip
def test_what_the_tensors_are_not_made_for(found: Untrue, keys: dict[str, Any], claim: str) -> None:
    assert found(blocks()) is None
    assert found(blocks(), **keys) == DAMAGED + claim


def test_a_list_too_long_to_be_kept_is_named_and_not_missed(tmp_path: Path) -> None:
    extra = {"llama.attention.head_count": [4] * 2000}
    header = read_header(write_model(tmp_path / "m.gguf", layers=LAYERS, extra=extra, tensors=blocks()))
    assert lacking(header) is None
    assert untrue(header) == DAMAGED + "4 layers, and lists attention.head_count for 2,000"


def test_layers_of_several_widths(found: Untrue) -> None:
    odd = [(name, (128,) if name == "blk.2.ffn_norm.weight" else dims, kind) for name, dims, kind in blocks()]
    claim = "that a token is 64 numbers wide, and blk.0.ffn_norm.weight is of several sizes"
    assert found(odd) == DAMAGED + claim


def test_a_tensor_without_dimensions_is_one_number(found: Untrue) -> None:
    bare = [(name, () if name.endswith("attn_norm.weight") else dims, kind) for name, dims, kind in blocks()]
    assert found(bare) == DAMAGED + "that a token is 64 numbers wide, and blk.0.attn_norm.weight is for 1"


UNEVEN = {"attention__head_count": [4, 0, 4, 0], "attention__head_count_kv": [2, 0, 0, 0]}
DECI: list[TensorSpec] = [
    *block(0),
    *block(1, heads=0, kept=0),
    *block(2, kept=0),
    *block(3, heads=0, kept=0, inside=0),
]


@pytest.mark.parametrize(
    ("architecture", "tensors", "keys"),
    [
        ("deci", DECI, {**UNEVEN, "feed_forward_length": [256, 256, 256, 0]}),
        ("openelm", [t for at in range(4) for t in block(at, heads=4 * at + 4, kept=at + 1, inside=32 * at + 32)],
         {"attention__head_count": [4, 8, 12, 16], "attention__head_count_kv": [1, 2, 3, 4],
          "feed_forward_length": [32, 64, 96, 128], "attention__key_length": 16, "attention__value_length": 16}),
        ("falcon", [(f"blk.{at}.attn_qkv.weight", (71 * 16, 73 * 16), F16) for at in range(4)],
         {"embedding_length": 71 * 16, "attention__head_count": 71, "attention__head_count_kv": 1}),
        ("qwen3moe", EXPERTS, {"feed_forward_length": 256, "leading_dense_block_count": 1, "expert_count": 8,
                               "expert_used_count": 2, "expert_feed_forward_length": 32}),
        ("qwen3moe", [t for t in EXPERTS if not t[0].startswith("blk.0.ffn") or t[0] == "blk.0.ffn_norm.weight"],
         {"feed_forward_length": None, "expert_count": 8, "expert_used_count": 2, "expert_feed_forward_length": 32}),
        ("deepseek2", MLA_OLD, {"attention__head_count": 16, "attention__head_count_kv": 16,
                                "attention__key_length": 24, "attention__value_length": 16}),
        ("deepseek2", MLA_NEW, {"attention__head_count": 16, "attention__head_count_kv": 1,
                                "attention__key_length": 24, "attention__value_length": 16,
                                "attention__key_length_mla": 24, "attention__value_length_mla": 16}),
        ("gemma4", [t for at in range(4) for t in block(at, size=16 << at % 2)],
         {"attention__key_length": 32, "attention__value_length": 32, "attention__key_length_swa": 16,
          "attention__value_length_swa": 16, "attention__sliding_window": 64,
          "attention__sliding_window_pattern": [True, False, True, False]}),
        ("gemma3n", blocks(), {"feed_forward_length": [256] * 4, "attention__shared_kv_layers": 2}),
        ("glm4moe", blocks(5), {"block_count": 5, "nextn_predict_layers": 1}),
        ("glm4moe", blocks(4), {"block_count": 5, "nextn_predict_layers": 1}),
        ("glm4moe", block(4), {"block_count": 5, "nextn_predict_layers": 1}),
        ("hrm-text", blocks(4), {"block_count": 16}),
        ("qwen3", blocks(heads=4, size=32), {"attention__key_length": 32, "attention__value_length": 32}),
        ("llama", [(n, d, k) for n, d, k in blocks(size=128)], {"attention__key_length": 128,
                                                                "attention__value_length": 128}),
        ("llama", blocks(kept=1), {"attention__head_count_kv": 1}),
        ("llama", blocks(kept=4), {"attention__head_count_kv": None}),
        ("plamo2", [(f"blk.{at}.attn_norm.weight", (WIDTH,), F32) for at in range(4)],
         {"attention__head_count": [0, 4, 0, 4], "attention__head_count_kv": [0, 2, 0, 2],
          **{key.removeprefix("plamo2.").replace(".", "__"): value for key, value in states("plamo2").items()}}),
        ("kimi-linear", blocks(kept=4), {"attention__head_count_kv": [0, 0, 0, 4]}),
        ("jais", [(f"blk.{at}.attn_qkv.weight", (WIDTH, 3 * WIDTH), F16) for at in range(4)], {}),
        ("t5", [(f"enc.blk.{at}.attn_q.weight", (WIDTH, WIDTH), F16) for at in range(4)], {}),
    ],
)  # fmt: skip
def test_healthy_shapes_are_believed(
    found: Untrue, architecture: str, tensors: Sequence[TensorSpec], keys: Mapping[str, Any]
) -> None:
    assert found([("token_embd.weight", (WIDTH, 300), F16), *tensors], architecture, **keys) is None


def test_the_engine_opens_no_such_file(tmp_path: Path) -> None:
    path = write_model(tmp_path / "m.gguf", layers=30, tensors=blocks())
    with pytest.raises(PairError) as refused:
        checked_header(str(path))
    why = "its header tells of 30 layers, and 26 of them are not here; the first is layer 4, counted from 0"
    assert str(refused.value) == f"m.gguf cannot be used: {why}."
