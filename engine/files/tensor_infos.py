"""The tensor infos of a GGUF's header: name, shape, type and place of each tensor."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from struct import Struct
from typing import Final

from engine.files.scan import Scanner
from engine.files.tensor_types import tensor_bytes

MAX_TENSOR_NAME_BYTES: Final = 63  # GGML_MAX_NAME is 64 with the closing zero
MAX_DIMS: Final = 4
MAX_TENSOR_BYTES: Final = 2**62

_TENSOR: Final = tuple(Struct(f"<{dims}QIQ") for dims in range(MAX_DIMS + 1))  # dimensions, type, offset


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor: dimensions innermost first, ggml type number, offset from the start of the tensor data."""

    name: str
    dims: tuple[int, ...]
    type: int
    offset: int


def read_tensors(scan: Scanner, count: int, alignment: int) -> tuple[Tensor, ...]:
    """All of them. Raises :class:`HeaderError`."""
    tensors: list[Tensor] = []
    names: set[str] = set()
    for _ in range(count):
        name = scan.string("a tensor name", MAX_TENSOR_NAME_BYTES)
        if name in names:
            raise scan.broken(f"the tensor {name!r} occurs twice")
        names.add(name)
        dim_count = scan.u32()
        if dim_count > MAX_DIMS:
            raise scan.broken(f"tensor {name!r} has {dim_count} dimensions")
        *dims, kind, offset = scan.numbers(_TENSOR[dim_count])
        if 0 in dims:  # a zero dimension divides by zero inside the loader
            raise scan.broken(f"tensor {name!r} has a dimension of zero")
        if prod(dims) > MAX_TENSOR_BYTES:
            raise scan.broken(f"tensor {name!r} is said to have {prod(dims):,} elements")
        tensor = Tensor(name, tuple(dims) or (1,), kind, offset)  # none: one number
        if tensor.offset % alignment or tensor.offset > MAX_TENSOR_BYTES:
            raise scan.broken(f"tensor {name!r} lies at the impossible offset {tensor.offset:,}")
        tensors.append(tensor)
    return tuple(tensors)


def stored_bytes(scan: Scanner, tensor: Tensor) -> int:
    """Bytes of its data; 0 where the type is unknown."""
    try:
        return tensor_bytes(tensor.type, tensor.dims) or 0
    except ValueError as error:
        raise scan.broken(f"tensor {tensor.name!r}: {error}") from None
