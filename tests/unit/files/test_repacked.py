"""What is kept of a draft's weights a second time, by type and processor."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.files.header import read_header
from engine.files.repacked import repacked_bytes, repacked_kinds
from engine.files.tensor_types import BLOCKS
from tests.fixtures.headers import F32, write_model

Q4_0, Q8_0, Q2_K, Q4_K = 2, 8, 10, 12


@pytest.mark.parametrize(
    ("machine", "flags", "kinds"),
    [
        ("x86_64", "sse2 avx2", {Q4_0, Q4_K, 20, 39}),
        ("x86_64", "sse2 avx2 avx512f", {Q4_0, Q4_K, 20, 39, Q2_K}),
        ("x86_64", "sse2", set()),
        ("AMD64", None, {Q4_0, Q4_K, 20, 39}),
        ("arm64", None, {Q4_0, Q4_K, 20, 39, Q8_0, 13, 14, 41}),
        ("riscv64", "", set()),
    ],
)
def test_types_by_processor(tmp_path: Path, machine: str, flags: str | None, kinds: set[int]) -> None:
    if flags is not None:
        (tmp_path / "cpuinfo").write_text(f"processor\t: 0\nflags\t\t: {flags}\nbugs\t\t: avx512f\n")
    assert repacked_kinds(machine, tmp_path) == kinds
    assert kinds <= BLOCKS.keys()


def test_matrices_of_these_types_count(tmp_path: Path) -> None:
    def kept(*more: tuple[str, tuple[int, ...], int]) -> int:
        tensors = [("token_embd.weight", (256, 800), Q2_K), ("blk.0.attn_norm.weight", (256,), F32), *more]
        return repacked_bytes(read_header(write_model(tmp_path / "m.gguf", tensors=tensors)), frozenset({Q2_K}))

    embeddings, matrix = 800 * 84, 64 * 84
    assert kept() == embeddings, "without an output matrix of its own they are multiplied with"
    assert kept(("output.weight", (256, 800), Q8_0)) == 0
    output = ("output.weight", (256, 800), Q2_K)
    assert kept(output, ("blk.0.ffn_up.weight", (256, 64), Q2_K)) == embeddings + matrix
    assert kept(output, ("blk.0.ffn_up.weight", (256, 60), Q2_K)) == embeddings, "rows are taken by eight"
    assert kept(output, ("blk.0.ffn_up_exps.weight", (256, 64, 4), Q2_K)) == embeddings + 4 * matrix
    assert kept(output, ("blk.0.ffn_up.weight", (256, 64), Q4_K)) == embeddings
