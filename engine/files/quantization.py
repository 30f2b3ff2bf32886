"""How a file's weights are stored, in the words people use: Q4_K_M."""

from __future__ import annotations

from collections import Counter
from math import prod

from engine.files.header import Header
from engine.files.tensor_types import BLOCKS, tensor_bytes

FILE_TYPES: dict[int, str] = {  # llama.h, enum llama_ftype
    0: "F32",
    1: "F16",
    2: "Q4_0",
    3: "Q4_1",
    7: "Q8_0",
    8: "Q5_0",
    9: "Q5_1",
    10: "Q2_K",
    11: "Q3_K_S",
    12: "Q3_K_M",
    13: "Q3_K_L",
    14: "Q4_K_S",
    15: "Q4_K_M",
    16: "Q5_K_S",
    17: "Q5_K_M",
    18: "Q6_K",
    19: "IQ2_XXS",
    20: "IQ2_XS",
    21: "Q2_K_S",
    22: "IQ3_XS",
    23: "IQ3_XXS",
    24: "IQ1_S",
    25: "IQ4_NL",
    26: "IQ3_S",
    27: "IQ3_M",
    28: "IQ2_S",
    29: "IQ2_M",
    30: "IQ4_XS",
    31: "IQ1_M",
    32: "BF16",
    36: "TQ1_0",
    37: "TQ2_0",
    38: "MXFP4",
    39: "NVFP4",
    40: "Q1_0",
    41: "Q2_0",
}
"""``general.file_type`` -> name."""

TENSOR_TYPES: dict[int, str] = {  # ggml.h, enum ggml_type
    0: "F32",
    1: "F16",
    2: "Q4_0",
    3: "Q4_1",
    6: "Q5_0",
    7: "Q5_1",
    8: "Q8_0",
    9: "Q8_1",
    10: "Q2_K",
    11: "Q3_K",
    12: "Q4_K",
    13: "Q5_K",
    14: "Q6_K",
    15: "Q8_K",
    16: "IQ2_XXS",
    17: "IQ2_XS",
    18: "IQ3_XXS",
    19: "IQ1_S",
    20: "IQ4_NL",
    21: "IQ3_S",
    22: "IQ2_S",
    23: "IQ4_XS",
    29: "IQ1_M",
    30: "BF16",
    34: "TQ1_0",
    35: "TQ2_0",
    39: "MXFP4",
    40: "NVFP4",
    41: "Q1_0",
    42: "Q2_0",
}
"""A tensor's type -> name."""


def quantization(header: Header) -> str | None:
    """What the file says of itself, else the type that most of its bytes have; None where neither is known."""
    said = header.integer("general.file_type")
    if said is not None and said in FILE_TYPES:
        return FILE_TYPES[said]
    bytes_of: Counter[int] = Counter()
    for tensor in header.tensors:
        if tensor.type in BLOCKS:
            bytes_of[tensor.type] += tensor_bytes(tensor.type, tensor.dims) or 0
    return TENSOR_TYPES.get(max(bytes_of, key=bytes_of.__getitem__)) if bytes_of else None


def parameters(header: Header) -> int:
    """Weights in the file: the elements of all its tensors."""
    return sum(prod(tensor.dims) for tensor in header.tensors)
