"""The tensor infos of a GGUF's header: name, shape, type and place of each tensor."""

from __future__ import annotations

from math import prod
from struct import Struct
from typing import Final, NamedTuple

from engine.files.scan import Scanner
from engine.files.tensor_types import tensor_bytes

MAX_TENSOR_NAME_BYTES: Final = 63  # GGML_MAX_NAME is 64 with the closing zero
MAX_DIMS: Final = 4
MAX_TENSOR_BYTES: Final = 2**62

_MOST_BYTES: Final = 8 + MAX_TENSOR_NAME_BYTES + 4 + 8 * MAX_DIMS + 4 + 8
"""Of one tensor's info."""
_LENGTH: Final = Struct("<Q")
_COUNT: Final = Struct("<I")
_TENSOR: Final = tuple(Struct(f"<{dims}QIQ") for dims in range(MAX_DIMS + 1))  # dimensions, type, offset


class Tensor(NamedTuple):
    """One tensor: dimensions innermost first, ggml type number, offset from the start of the tensor data."""

    name: str
    dims: tuple[int, ...]
    type: int
    offset: int


def read_tensors(scan: Scanner, count: int, alignment: int) -> tuple[Tensor, ...]:
    """All of them. Raises :class:`HeaderError`."""
    tensors: list[Tensor] = []
    names: set[str] = set()
    while len(tensors) < count:
        tensors += _usual(scan, count - len(tensors), alignment, names)
        if len(tensors) < count:
            tensors.append(_any(scan, alignment, names))
    return tuple(tensors)


def _usual(scan: Scanner, count: int, alignment: int, names: set[str]) -> list[Tensor]:
    """Those that lie in the buffer and have nothing wrong with them, in one bare loop: a file has hundreds. It ends
    before any other, which is for :func:`_any` to read or to name."""
    found: list[Tensor] = []
    data, filled, position = scan.buffered
    last = filled - _MOST_BYTES
    length_at, count_at = _LENGTH.unpack_from, _COUNT.unpack_from
    while len(found) < count and position <= last:
        (length,) = length_at(data, position)
        if length > MAX_TENSOR_NAME_BYTES:
            break
        end = position + 8 + length
        try:
            name = data[position + 8 : end].decode("utf-8")
        except UnicodeDecodeError:
            break
        (dim_count,) = count_at(data, end)
        if not 0 < dim_count <= MAX_DIMS or name in names:
            break
        form = _TENSOR[dim_count]
        *dims, kind, offset = form.unpack_from(data, end + 4)
        if not 0 < prod(dims) <= MAX_TENSOR_BYTES or offset % alignment or offset > MAX_TENSOR_BYTES:
            break
        names.add(name)
        found.append(Tensor(name, tuple(dims), kind, offset))
        position = end + 4 + form.size
    scan.position = position
    return found


def _any(scan: Scanner, alignment: int, names: set[str]) -> Tensor:
    """The next one, or what is wrong with it."""
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
    if offset % alignment or offset > MAX_TENSOR_BYTES:
        raise scan.broken(f"tensor {name!r} lies at the impossible offset {offset:,}")
    return Tensor(name, tuple(dims) or (1,), kind, offset)  # none: one number


def stored_bytes(scan: Scanner, tensor: Tensor) -> int:
    """Bytes of its data; 0 where the type is unknown."""
    try:
        return tensor_bytes(tensor.type, tensor.dims) or 0
    except ValueError as error:
        raise scan.broken(f"tensor {tensor.name!r}: {error}") from None
