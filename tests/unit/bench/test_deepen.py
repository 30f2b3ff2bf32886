"""Identity blocks: a deeper model of the same logits, bit for bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.files.header import read_header
from engine.llama.backend import AbortFlag
from engine.llama.context import Logits
from engine.llama.loading import Wish, open_model
from tests.bench.deepen import deepen, weight_bytes


def logits_of(path: Path) -> Logits:
    opened = open_model(Wish(path, 0, 64, 1, True), AbortFlag())
    try:
        return opened.context.decode([1, 300, 301, 302, 303]).copy()
    finally:
        opened.close()


def test_the_deeper_model_has_the_same_logits(random_model: Path, tmp_path: Path) -> None:
    deep = deepen(random_model, tmp_path / "deep.gguf", 5)
    before, after = read_header(random_model), read_header(deep)
    assert after.block_count == (before.block_count or 0) + 5
    assert after.size > before.size
    assert {t.name for t in before.tensors} < {t.name for t in after.tensors}
    assert not list(tmp_path.glob("*.partial"))
    assert np.array_equal(logits_of(random_model), logits_of(deep))


def test_everything_else_the_header_says_is_unchanged(random_model: Path, tmp_path: Path) -> None:
    before, after = read_header(random_model), read_header(deepen(random_model, tmp_path / "deep.gguf", 1))
    assert {**before.metadata, "llama.block_count": 3} == after.metadata
    assert before.arrays.keys() == after.arrays.keys()


def test_the_weights_a_pass_reads(random_model: Path, tmp_path: Path) -> None:
    """An untied embedding is not read as a whole; every added block is."""
    header = read_header(random_model)
    block = sum(np.prod(t.dims) * (2 if t.type == 1 else 4) for t in header.tensors if t.name.startswith("blk.0."))
    flat = weight_bytes(random_model)
    assert flat < header.size
    assert weight_bytes(deepen(random_model, tmp_path / "deep.gguf", 4)) == flat + 4 * block


def test_a_file_without_blocks_is_refused(text_gguf: Path, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="not a GGUF"):
        deepen(text_gguf, tmp_path / "deep.gguf", 1)
