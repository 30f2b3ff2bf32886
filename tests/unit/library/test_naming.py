"""What a model is called in a list."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.library.naming import model_name

HASH = "sha256-" + "ab" * 32


@pytest.mark.parametrize(
    ("path", "general", "given", "name"),
    [
        ("/m/Qwen3-4B-Q4_K_M.gguf", "Qwen3 4B", None, "Qwen3-4B"),
        ("/m/Qwen2.5-7B-Instruct-Q8_0.gguf", None, None, "Qwen2.5-7B-Instruct"),  # not the same as the one without
        ("/m/SmolLM2-135M-Instruct.Q4_1.gguf", "Smollm2 135M 8k Lc100K", None, "SmolLM2-135M-Instruct"),
        ("/m/Qwen3-30B-UD-Q4_K_XL-00001-of-00002.gguf", None, None, "Qwen3-30B"),
        ("/m/gpt-oss-20b-mxfp4.gguf", None, None, "gpt-oss-20b"),
        ("/m/Llama-3.2-1B-BF16.gguf", None, None, "Llama-3.2-1B"),
        ("/m/mistral-7b-iq3_xxs.gguf", None, None, "mistral-7b"),
        ("/jan/gemma-3-1b/model.gguf", "Gemma 3 1b It", None, "Gemma 3 1b It"),
        ("/jan/gemma-3-1b/model.gguf", None, None, "gemma-3-1b"),
        ("/x/ggml-model-q4_0.gguf", "model", None, "x"),
        (f"/o/blobs/{HASH}", "Llama 3.2", "llama3.2:1b", "llama3.2:1b"),
        (f"/o/blobs/{HASH}", "Llama 3.2", None, "Llama 3.2"),
        (f"/{'cd' * 20}/{HASH}", None, None, HASH[:59] + "…"),
        ("/m/" + "long" * 40 + ".gguf", None, None, "long" * 14 + "lon…"),
        ("/m/.gguf", None, None, "m"),
        ("/m/model.gguf", "a\x1b[2Jb\nc", None, "a␛[2Jb c"),
    ],
)
def test_names(path: str, general: str | None, given: str | None, name: str) -> None:
    assert model_name(Path(path), general, given) == name
