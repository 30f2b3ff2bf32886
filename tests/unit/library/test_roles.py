"""Other things that come as GGUF are known for what they are, and why they cannot be talked to is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.library.local import LocalModel
from app.library.roles import WHY_NOT
from engine.files.header import read_header
from tests.fixtures.headers import F16, states, write_header, write_model

Only = Callable[[], LocalModel]


@pytest.mark.parametrize(
    ("architecture", "extra", "role", "words"),
    [
        ("llama", {}, "chat", None),
        ("llama", {"general.type": "model"}, "chat", None),
        ("clip", {}, "projector", "it is a projector that lets another model see or hear, not a model of its own"),
        ("qwen2", {"general.type": "mmproj"}, "projector", "it is a projector"),
        ("llama", {"general.type": "adapter"}, "adapter", "it is an adapter (LoRA or control vector) for another"),
        ("controlvector", {}, "adapter", "it is an adapter"),
        ("llama", {"general.type": "imatrix"}, "importance matrix", "it is an importance matrix for quantizing"),
        ("bert", {}, "embedding", "it is an embedding model: it turns text into numbers and writes none"),
        ("qwen3", {"qwen3.pooling_type": 3}, "embedding", "it is an embedding model"),
        ("qwen3", {"qwen3.pooling_type": 0}, "chat", None),
        ("qwen3", {"qwen3.pooling_type": 4}, "reranker", "it is a reranker: it orders texts and writes none"),
        ("eagle3", {}, "speculation head", "it is a speculation head, which reads its target's inner states"),
        ("qwen35", {"qwen35.nextn_predict_layers": 1, **states("qwen35")}, "chat", None),
        ("llada", {}, "diffusion", "it is a diffusion model, which does not write from left to right"),
        ("t5", {}, "encoder-decoder", "it is an encoder-decoder model, which this engine cannot run"),
        ("wavtokenizer-dec", {}, "speech", "it is a speech model: it makes sound, not text"),
        ("flux", {"tokenizer.ggml.tokens": None}, "no language model", "it carries no vocabulary, so it is no"),
    ],
)  # fmt: skip
def test_by_what_the_header_says(
    folder: Path, only: Only, architecture: str, extra: dict[str, Any], role: str, words: str | None
) -> None:
    write_model(folder / "some-name.gguf", architecture=architecture, extra=extra)
    model = only()
    assert model.role == role
    assert model.usable is (words is None)
    assert (model.why_not or "").startswith(words or "")
    assert model.fault is None


def test_a_vocabulary_without_weights(folder: Path, only: Only) -> None:
    write_model(folder / "ggml-vocab-x.gguf", tensors=[])
    assert only().why_not == "it holds a vocabulary and no weights"


def test_layers_that_predict_further_tokens_alone(folder: Path, only: Only) -> None:
    extra = {"qwen35.nextn_predict_layers": 1}
    write_model(folder / "mtp-x.gguf", architecture="qwen35", extra=extra, tensors=[("blk.36.a", (32,), F16)])
    assert only().role == "speculation head"


def test_an_importance_matrix_as_it_is_written(folder: Path, only: Only) -> None:
    write_header(folder / "imatrix.gguf", {"general.type": "imatrix"}, [("blk.0.ffn.in_sum2", (32,), F16)])
    assert only().role == "importance matrix"


def test_every_role_but_one_has_its_reason() -> None:
    assert "chat" not in WHY_NOT
    assert all(words.startswith("it ") for words in WHY_NOT.values())


def test_the_name_of_the_file_decides_nothing(folder: Path, only: Only) -> None:
    write_model(folder / "mmproj-imatrix-eagle3-bert.gguf")
    assert only().usable


def test_a_real_model_can_be_talked_to(smol_path: Path) -> None:
    from app.library.roles import role_of

    assert role_of(read_header(smol_path)) == "chat"
