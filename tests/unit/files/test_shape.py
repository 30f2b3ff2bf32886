"""What a header says about memory: caches layer by layer, states, and how far a model can take tokens back."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.files.header import read_header
from engine.files.limits import MOST_LAYERS
from engine.files.shape import Shape
from tests.fixtures.headers import F16, I8, write_model
from tests.fixtures.pace import limit

Of = Callable[..., Shape]


@pytest.fixture
def of(tmp_path: Path) -> Of:
    def shape(architecture: str = "llama", **keys: Any) -> Shape:
        options = {key: keys.pop(key) for key in ("layers", "heads", "kv_heads", "width", "tensors") if key in keys}
        extra = {
            (key if key.startswith("tokenizer") else f"{architecture}.{key.replace('__', '.')}"): value
            for key, value in keys.items()
        }
        return Shape.of(
            read_header(write_model(tmp_path / "m.gguf", architecture=architecture, extra=extra, **options))
        )

    return shape


def test_a_real_model(smol_path: Path) -> None:
    shape = Shape.of(read_header(smol_path))
    assert (shape.layers, shape.width, shape.feed_forward, shape.attention) == (30, 576, 1536, 576)
    assert (shape.vocabulary, shape.merges, shape.context_trained) == (49152, 48900, 8192)
    assert shape.cell == 30 * 3 * (64 + 64) * 2  # layers, key/value heads, a key and a value of 64, two bytes
    assert (shape.state, shape.undo, shape.masks, shape.rough) == (0, "any", 1, False)
    assert 0.97 * smol_path.stat().st_size < shape.weights < smol_path.stat().st_size
    assert shape.embeddings == 49152 * 576 // 32 * 34  # Q8_0


def test_key_value_heads_layer_by_layer(of: Of) -> None:
    assert of(layers=3, kv_heads=2).cell == 3 * 2 * 32 * 2
    assert of(layers=3, attention__head_count_kv=[1, 2, 4]).cell == 7 * 32 * 2
    assert of(layers=3, attention__head_count_kv=None).cell == 3 * 4 * 32 * 2  # as many as there are heads


def test_lengths_of_keys_and_values(of: Of) -> None:
    assert of(layers=1, kv_heads=1, attention__key_length=100, attention__value_length=60).cell == 160 * 2
    assert of(layers=1, kv_heads=1, attention__key_length=100).cell == (100 + 16) * 2


def test_windows_hold_the_whole_context_too(of: Of) -> None:
    plain, windowed = of("gemma3"), of("gemma3", attention__sliding_window=512)
    assert windowed.cell == plain.cell
    assert (plain.masks, windowed.masks) == (1, 2)
    assert of("phi3", attention__sliding_window=512).masks == 1


def test_windowed_layers_with_heads_of_their_own_size(of: Of) -> None:
    shape = of(
        "gemma4", layers=3, kv_heads=1, attention__sliding_window=512,
        attention__key_length=64, attention__value_length=64,
        attention__key_length_swa=16, attention__value_length_swa=16,
        attention__sliding_window_pattern=[True, True, False],
    )  # fmt: skip
    assert shape.cell == (32 + 32 + 128) * 2
    repeated = of(
        "cohere2", layers=4, kv_heads=1, attention__sliding_window=512,
        attention__key_length=64, attention__value_length=64, attention__key_length_swa=16,
        attention__sliding_window_pattern=4,
    )  # fmt: skip
    assert repeated.cell == (3 * (16 + 64) + 128) * 2


def test_layers_that_share_a_cache(of: Of) -> None:
    assert of("gemma4", layers=10, attention__shared_kv_layers=6).cell == of(layers=4).cell
    assert of("gemma3n", layers=30).cell == of(layers=20).cell


def test_layers_that_predict_further_tokens_are_not_loaded(of: Of) -> None:
    shape = of("glm4moe", layers=5, nextn_predict_layers=1)
    assert shape.layers == 4
    assert shape.cell == of(layers=4).cell


def test_compressed_keys_have_no_values_beside_them(of: Of) -> None:
    shape = of(
        "deepseek2", layers=2, kv_heads=1, attention__key_length=576, attention__value_length=512,
        attention__key_length_mla=192, attention__value_length_mla=128,
    )  # fmt: skip
    assert shape.cell == 2 * 576 * 2


SSM = {"ssm__conv_kernel": 4, "ssm__inner_size": 128, "ssm__state_size": 16}


def test_models_of_states_only(of: Of) -> None:
    mamba = of("mamba", **SSM, attention__head_count=0)
    assert (mamba.cell, mamba.state, mamba.undo) == (0, 2 * (3 * 128 + 16 * 128) * 4, "none")
    mamba2 = of("mamba2", **SSM, ssm__group_count=2)
    assert mamba2.state == 2 * (3 * (128 + 2 * 2 * 16) + 16 * 128) * 4
    assert of("rwkv7", wkv__head_size=64).state == 2 * (2 * 64 + 64 * 64) * 4
    assert of("rwkv6", wkv__head_size=64, token_shift_count=1).state == 2 * (64 + 64 * 64) * 4


def test_hybrids(of: Of) -> None:
    jamba = of("jamba", layers=3, **SSM, attention__head_count_kv=[0, 2, 0])
    assert (jamba.cell, jamba.state, jamba.undo) == (2 * 32 * 2, 2 * (3 * 128 + 16 * 128) * 4, "none")
    lfm = of("lfm2", layers=3, shortconv__l_cache=3, attention__head_count_kv=[0, 2, 0])
    assert (lfm.cell, lfm.state, lfm.undo) == (2 * 32 * 2, 2 * 64 * 2 * 4, "some")
    both = of("falcon-h1", layers=2, **SSM, ssm__group_count=1)
    assert both.cell == of(layers=2).cell
    assert both.state == 2 * (3 * (128 + 2 * 16) + 16 * 128) * 4


def test_hybrids_with_attention_at_intervals(of: Of) -> None:
    every_fourth = of("qwen35", layers=8, **SSM, ssm__group_count=1)
    assert every_fourth.cell == of(layers=2).cell
    assert every_fourth.state == 6 * (3 * (128 + 2 * 16) + 16 * 128) * 4
    every_second = of("qwen35", layers=8, **SSM, ssm__group_count=1, full_attention_interval=2)
    assert every_second.cell == of(layers=4).cell
    listed = of("qwen35", layers=4, **SSM, attention__recurrent_layers=[True, False, False, False])
    assert listed.cell == of(layers=3).cell


def test_layers_that_are_one_thing_only(of: Of) -> None:
    shape = of(
        "nemotron_h", layers=3, **SSM, attention__head_count_kv=[0, 2, 0], feed_forward_length=[0, 0, 256]
    )  # fmt: skip
    assert shape.cell == 2 * 32 * 2
    assert shape.state == (3 * 128 + 16 * 128) * 4


def test_experts(of: Of) -> None:
    keys = {"expert_used_count": 8, "expert_feed_forward_length": 100, "expert_shared_count": 1}
    assert of("qwen3moe", feed_forward_length=6000, **keys).feed_forward == 6000
    assert of("qwen3moe", feed_forward_length=500, **keys).feed_forward == 900
    assert of("olmoe", feed_forward_length=500, expert_used_count=8).feed_forward == 4000


def test_architectures_that_keep_more_say_so(of: Of) -> None:
    assert of("deepseek32").rough
    assert not of("qwen3").rough


def test_what_no_model_has_ends_at_once(of: Of) -> None:
    started = time.process_time()
    shape = of(layers=MOST_LAYERS, heads=2**32 - 1, kv_heads=2**32 - 1, feed_forward_length=None)
    assert shape.layers == MOST_LAYERS
    assert time.process_time() - started < limit(0.5)
    assert of("", layers=1) == of("", layers=1)
    assert of(heads=0, kv_heads=0).cell == 0


def test_one_part_of_a_model(of: Of) -> None:
    shape = of(tensors=[("token_embd.weight", (32, 100), F16), ("blk.0.x", (1000,), I8)])
    assert shape.embeddings == 6400
    assert 7400 <= shape.weights <= 7400 + 64
    assert of(tensors=[]).weights == 0
