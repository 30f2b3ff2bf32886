"""What the tokens of a model file stand for, read from the file: no model is loaded for it.

Three ways of writing a vocabulary are known (llama.cpp ``llama_vocab``, ``token_to_piece``): byte-level BPE, in which
each byte is one printable character (GPT-2's table); SentencePiece, with ``▁`` for a space and ``<0x41>`` for a byte;
and control tokens, which stand as they are. Anything else is shown as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from engine.files.arrays import read_array
from engine.files.header import HeaderError, read_header

CONTROL, USER_DEFINED, BYTE = 3, 4, 6
"""``tokenizer.ggml.token_type`` (llama_token_type)."""

_BYTE = re.compile(rb"<0x([0-9A-Fa-f]{2})>")


class Pieces:
    """The pieces of a vocabulary by id. Raises HeaderError where the file has none, and OSError."""

    def __init__(self, path: Path) -> None:
        header = read_header(path)
        tokens = read_array(header, "tokenizer.ggml.tokens")
        self._tokens = [token for token in tokens if isinstance(token, bytes)]
        if not self._tokens:
            raise HeaderError("unsupported", "the file holds no vocabulary")
        types = read_array(header, "tokenizer.ggml.token_type") if "tokenizer.ggml.token_type" in header.arrays else []
        self._types = [kind for kind in types if isinstance(kind, int)]
        self._byte_level = header.text("tokenizer.ggml.model") == "gpt2"

    def __len__(self) -> int:
        return len(self._tokens)

    def is_control(self, token: int) -> bool:
        """Whether only a chat template may write it."""
        return self._type(token) == CONTROL

    def bytes_of(self, token: int) -> bytes:
        """What the token adds to the text; a control token by its name."""
        if not 0 <= token < len(self._tokens):
            return b"?"
        written, kind = self._tokens[token], self._type(token)
        if kind in (CONTROL, USER_DEFINED):
            return written
        if self._byte_level:
            return _from_printable(written)
        if kind == BYTE and (match := _BYTE.fullmatch(written)):
            return bytes([int(match[1], 16)])
        return written.replace("\u2581".encode(), b" ")

    def text(self, tokens: Iterable[int]) -> str:
        """Several tokens as text; halves of characters become replacement marks."""
        return b"".join(map(self.bytes_of, tokens)).decode("utf-8", "replace")

    def _type(self, token: int) -> int:
        return self._types[token] if 0 <= token < len(self._types) else 1


def _printable() -> dict[str, int]:
    """GPT-2's ``bytes_to_unicode``, the other way round: bytes that print stand for themselves, the others for the
    characters from 256 on, in order."""
    own = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(byte): byte for byte in own}
    others = [byte for byte in range(256) if byte not in own]
    return table | {chr(256 + place): byte for place, byte in enumerate(others)}


_BYTES = _printable()


def _from_printable(written: bytes) -> bytes:
    text = written.decode("utf-8", "replace")
    return bytes(_BYTES[c] for c in text) if all(c in _BYTES for c in text) else written
