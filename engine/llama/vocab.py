"""A model's vocabulary: text to token ids and back, and which tokens mean more than text."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterable, Sequence
from typing import Any

from engine.grammar.tokens import TokenTexts
from engine.llama.backend import library

_ATTR_UNKNOWN = 1 << 0
_ATTR_CONTROL = 1 << 3


class Vocabulary:
    """Ids are llama.cpp's; pieces are bytes, since a token may hold part of a UTF-8 character."""

    def __init__(self, model_handle: Any) -> None:
        self._L = library()
        self.handle = self._L.llama_model_get_vocab(model_handle)
        self.size: int = self._L.llama_vocab_n_tokens(self.handle)
        self.adds_bos: bool = self._L.llama_vocab_get_add_bos(self.handle)
        self.bos: int = self._L.llama_vocab_bos(self.handle)
        self.eos: int = self._L.llama_vocab_eos(self.handle)
        self.eot: int = self._L.llama_vocab_eot(self.handle)
        self._pieces: dict[int, bytes] = {}
        self._buffer = ctypes.create_string_buffer(256)

    @property
    def bos_or_first(self) -> int:
        """Some valid id, for trial passes."""
        return max(self.bos, 0)

    def tokenize(self, text: str, *, parse_special: bool, add_special: bool = False) -> list[int]:
        """Token ids of ``text``. ``parse_special``: control-token texts become those tokens (only a template may)."""
        data = text.encode("utf-8", "replace")
        capacity = len(data) + 8
        while True:
            tokens = (self._L.llama_token * capacity)()
            count = self._L.llama_tokenize(self.handle, data, len(data), tokens, capacity, add_special, parse_special)
            if count >= 0:
                return list(tokens[:count])
            capacity = -count

    def piece(self, token: int) -> bytes:
        """The bytes a token shows; empty for control tokens."""
        known = self._pieces.get(token)
        if known is None:
            known = self._pieces[token] = self._piece(token, special=False)
        return known

    def text(self, token: int) -> str:
        """The token's text in the vocabulary, control tokens included (``<|im_end|>``)."""
        return self._piece(token, special=True).decode("utf-8", "replace")

    def _piece(self, token: int, *, special: bool) -> bytes:
        length = self._L.llama_token_to_piece(self.handle, token, self._buffer, len(self._buffer), 0, special)
        if length < 0:
            self._buffer = ctypes.create_string_buffer(-length)
            length = self._L.llama_token_to_piece(self.handle, token, self._buffer, len(self._buffer), 0, special)
        return self._buffer.raw[:length]

    @functools.cached_property
    def texts(self) -> TokenTexts:
        """What all tokens show, for grammars. Takes a tenth of a second or so, once."""
        return TokenTexts(self.size, self.piece, self.ends)

    @functools.cached_property
    def words(self) -> list[bytes]:
        """Every token as llama_detokenize writes it when it stands alone, control tokens included."""
        return [self._word(token) for token in range(self.size)]

    def _word(self, token: int) -> bytes:
        one = (self._L.llama_token * 1)(token)
        length = self._L.llama_detokenize(self.handle, one, 1, self._buffer, len(self._buffer), False, True)
        if length < 0:
            self._buffer = ctypes.create_string_buffer(-length)
            length = self._L.llama_detokenize(self.handle, one, 1, self._buffer, len(self._buffer), False, True)
        return self._buffer.raw[:length]

    def is_end(self, token: int) -> bool:
        """Whether the token ends generation (EOS, end of turn and the like); by id, never by its text."""
        return token in self.ends

    @functools.cached_property
    def ends(self) -> frozenset[int]:
        """All end-of-generation ids."""
        is_eog = self._L.llama_vocab_is_eog
        return frozenset(token for token in self._special_ids if is_eog(self.handle, token)) | frozenset(
            token for token in (self.eos, self.eot) if token >= 0 and is_eog(self.handle, token)
        )

    @functools.cached_property
    def controls(self) -> dict[str, int]:
        """Text -> id of every control token, the ones that only a chat template may write."""
        return {self.text(token): token for token in self._special_ids if self.text(token)}

    @functools.cached_property
    def _special_ids(self) -> Sequence[int]:
        attribute, handle = self._L.llama_vocab_get_attr, self.handle
        return [t for t in range(self.size) if attribute(handle, t) & (_ATTR_UNKNOWN | _ATTR_CONTROL)]

    @functools.cached_property
    def suppressed(self) -> tuple[int, ...]:
        """Ids the file says must never be generated."""
        count = ctypes.c_int32()
        pointer = self._L.llama_vocab_get_suppress_tokens(self.handle, ctypes.byref(count))
        return tuple(pointer[: count.value]) if pointer else ()

    def single_token(self, text: str) -> int | None:
        """The id whose whole text is ``text`` when that is one control token, else None."""
        return self.controls.get(text)

    def join(self, tokens: Iterable[int]) -> bytes:
        """The bytes of several tokens."""
        return b"".join(map(self.piece, tokens))
