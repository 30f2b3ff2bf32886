"""GGUF headers put together byte by byte, also such as no program would write."""

from __future__ import annotations

import struct
import time
from pathlib import Path

import pytest

from engine.files.header import HeaderError, read_header
from tests.fixtures.pace import limit

STRING, ARRAY, UINT32 = 8, 9, 4


def text(value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(data)) + data


def pair(key: str, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def tensor(name: str, dims: list[int], kind: int = 0, offset: int = 0) -> bytes:
    return text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, offset)


def blob(pairs: list[bytes], tensors: list[bytes], *, version: int = 3, data: int = 0) -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(pairs)) + b"".join(pairs) + b"".join(tensors)
    return head + bytes(-len(head) % 32 + data)


ARCHITECTURE = pair("general.architecture", STRING, text("llama"))


def refusal(path: Path) -> HeaderError:
    """Why the file is refused: within two seconds, in one sentence that names it."""
    started = time.process_time()
    with pytest.raises(HeaderError) as caught:
        read_header(path)
    assert time.process_time() - started < limit(2)
    assert path.name in caught.value.message
    assert caught.value.message.endswith(".")
    assert "\n" not in caught.value.message
    return caught.value
