"""Which weights the library keeps a second time, in the order its fast kernels read them in (ggml-cpu/repack.cpp,
``ggml_repack_get_optimal_repack_type``): it depends on their type and on the processor.

The copy is made when a model is loaded that need not be exact: a draft. The file's own pages stay mapped beside it
(llama-model-loader.cpp ``load_all_data`` lets go of what lies before and behind the tensors only).
"""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path
from typing import Final

from engine.files.header import Header
from engine.files.machine import PROC
from engine.files.tensor_types import tensor_bytes

ROWS: Final = 8
"""A matrix is rearranged by so many rows at a time; others stay as they are."""

_Q4_0, _Q8_0, _Q2_K, _Q4_K, _Q5_K, _Q6_K, _IQ4_NL, _MXFP4, _Q1_0 = 2, 8, 10, 12, 13, 14, 20, 39, 41
_AVX2: Final = frozenset((_Q4_0, _Q4_K, _IQ4_NL, _MXFP4))
_AVX512: Final = _AVX2 | {_Q2_K}
_ARM: Final = _AVX2 | {_Q8_0, _Q5_K, _Q6_K, _Q1_0}


def repacked_bytes(header: Header, kinds: frozenset[int] | None = None) -> int:
    """Bytes of the second copy. ``kinds``: the ggml types that are rearranged; None: those of this processor."""
    kinds = repacked_kinds() if kinds is None else kinds
    if kinds.isdisjoint(tensor.type for tensor in header.tensors):
        return 0
    names = {tensor.name for tensor in header.tensors}
    looked_up = "token_embd.weight" if "output.weight" in names else ""  # else it is multiplied with, too
    return sum(
        tensor_bytes(tensor.type, tensor.dims) or 0
        for tensor in header.tensors
        if tensor.type in kinds
        and tensor.name != looked_up
        and len(tensor.dims) in (2, 3)
        and tensor.dims[1] % ROWS == 0
    )


@cache
def repacked_kinds(machine: str = platform.machine(), proc: Path = PROC) -> frozenset[int]:
    """The ggml types that are rearranged on this processor. Where it does not tell what it can, it is a usual one."""
    if machine.lower() in ("arm64", "aarch64"):
        return _ARM
    if machine.lower() not in ("x86_64", "amd64"):
        return frozenset()
    try:
        flags = set((proc / "cpuinfo").read_text().partition("flags")[2].partition("\n")[0].split())
    except OSError:
        return _AVX2
    return _AVX512 if "avx512f" in flags else _AVX2 if "avx2" in flags else frozenset()
