"""May this draft serve this target? llama.cpp's own rule, judged from the two headers and explained.

The rule (``common_speculative_are_compatible`` of llama.cpp): the same tokenizer type; the same answer to "add a
start token?", and the same one if so; likewise for the end token; vocabulary sizes that differ by 128 at most; and
equal pieces from id 5 up to the smaller size. Names and architectures do not matter.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from engine.files.arrays import read_span
from engine.files.header import ArraySpan, Header, HeaderError, read_header

MAX_SIZE_DIFFERENCE = 128
FIRST_COMPARED = 5
"""Ids below are special tokens, which one family's files name differently."""

_TYPES = {  # tokenizer.ggml.model -> (type, default start id, default end id); llama-vocab.cpp, llama_vocab::impl::load
    "llama": ("SPM", 1, 2),
    "bert": ("WPM", 101, None),
    "gpt2": ("BPE", 11, 11),
    "hybriddna": ("BPE", 11, 11),
    "whitespace": ("BPE", 11, 11),
    "gemma4": ("BPE", None, None),
    "t5": ("UGM", None, 1),
    "rwkv": ("RWKV", None, None),
    "plamo2": ("PLAMO2", 1, 2),
}
_PRE_WITH_START = {
    *("llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano"),
    *("tekken", "chameleon"),
}
"""Pre-tokenizers of BPE vocabularies that add a start token when the file does not say."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the draft fits, why in one phrase, and how many ids mean the same to both: the draft must not propose
    others."""

    fits: bool
    reason: str
    shared_vocabulary: int


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the rule asks about a file, with llama.cpp's defaults for what the file leaves open.

    Enough to judge the file by, without reading its header again. ``pieces``: where they lie in the file.
    """

    path: Path
    pieces: ArraySpan
    model: str
    type: str
    start: int | None
    """Id of the start token that is added to prompts; None: none is added. Likewise ``end``."""
    end: int | None

    @property
    def size(self) -> int:
        """How many pieces."""
        return self.pieces.count

    @staticmethod
    def of(header: Header) -> Vocabulary | None:
        """The file's vocabulary; None where it carries none."""
        pieces = header.tokens
        if pieces is None:
            return None
        model = header.text("tokenizer.ggml.model") or "unknown"
        pre = header.text("tokenizer.ggml.pre") or ""
        kind, start, end = _TYPES.get(model, (model, None, None))
        adds_start = header.flag("tokenizer.ggml.add_bos_token")
        if adds_start is None:
            adds_start = kind in ("SPM", "WPM") or (kind == "BPE" and pre in _PRE_WITH_START)
        adds_start = adds_start or "gemma4" in (model, pre)
        adds_end = header.flag("tokenizer.ggml.add_eos_token")
        if adds_end is None:
            adds_end = kind == "UGM"
        start = _valid(header, "tokenizer.ggml.bos_token_id", pieces.count, start)
        end = _valid(header, "tokenizer.ggml.eos_token_id", pieces.count, end)
        nothing = -1  # llama.cpp's id of a token that is to be added and does not exist
        return Vocabulary(
            header.path,
            pieces,
            model,
            kind,
            (nothing if start is None else start) if adds_start else None,
            (nothing if end is None else end) if adds_end else None,
        )


def _valid(header: Header, key: str, size: int, default: int | None) -> int | None:
    token = header.integer(key)
    return token if token is not None and 0 <= token < size else default


def judge(target: Path, draft: Path) -> Verdict:
    """Compare the vocabularies of two GGUF files. A file that cannot be read does not fit; this never raises."""
    headers: list[Header] = []
    for path in (target, draft):
        try:
            headers.append(read_header(path))
        except HeaderError as error:
            return Verdict(False, error.message.rstrip("."), 0)
        except FileNotFoundError:
            return Verdict(False, f"there is no file {path}", 0)
        except OSError as error:
            return Verdict(False, f"{path.name} cannot be read: {error.strerror or error}", 0)
    return judge_headers(headers[0], headers[1])


def judge_headers(target: Header, draft: Header, pieces: bytes | None = None) -> Verdict:
    """:func:`judge` for headers that are known already. ``pieces``: the target's, where they are known, too; its file
    is then not read."""
    here, there = Vocabulary.of(target), Vocabulary.of(draft)
    if here is None or there is None:
        return Verdict(False, f"{(target if here is None else draft).path.name} carries no vocabulary", 0)
    return Judge(here, pieces).verdict(there)


class Judge:
    """Judges drafts for one target. The target's pieces are read at most once, however many drafts there are."""

    def __init__(self, target: Vocabulary, pieces: bytes | None = None) -> None:
        self._target = target
        self._pieces = None if pieces is None else Pieces(pieces)

    def verdict(self, draft: Vocabulary) -> Verdict:
        """Whether ``draft`` fits, and why. Reads no file where the hashes of the pieces are known and equal, or where
        something else speaks against the draft already. Never raises."""
        here, there = self._target, draft
        shared = min(here.size, there.size)
        if here.type != there.type:
            reason = (
                f"other vocabulary: type {here.model} with {here.size:,} pieces here, "
                f"type {there.model} with {there.size:,} in the draft"
            )
        elif here.start != there.start:
            reason = f"start tokens differ: {_added(here.start)} here, {_added(there.start)} in the draft"
        elif here.end != there.end:
            reason = f"end tokens differ: {_added(here.end)} here, {_added(there.end)} in the draft"
        elif abs(here.size - there.size) > MAX_SIZE_DIFFERENCE:
            reason = (
                f"other vocabulary: {here.size:,} pieces here, {there.size:,} in the draft, "
                f"and at most {MAX_SIZE_DIFFERENCE} may differ"
            )
        elif here.pieces.digest is not None and here.pieces.digest == there.pieces.digest:
            return Verdict(True, _fitting(here.size, there.size), shared)
        else:
            try:
                difference = self._known_pieces().difference(read_span(there.path, there.pieces))
            except (HeaderError, OSError) as error:
                return Verdict(False, str(error).rstrip("."), shared)
            if difference is None:
                return Verdict(True, _fitting(here.size, there.size), shared)
            token, our_piece, their_piece = difference
            reason = (
                f'vocabulary differs at id {token}: "{_shown(our_piece)}" here, "{_shown(their_piece)}" in the draft'
            )
        return Verdict(False, reason, shared)

    def _known_pieces(self) -> Pieces:
        if self._pieces is None:
            self._pieces = Pieces(read_span(self._target.path, self._target.pieces))
        return self._pieces


class Pieces:
    """An array of strings as it lies in a file: each piece behind its length in eight bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    @cached_property
    def starts(self) -> list[int]:
        """Where each piece's length stands, and the end behind the last one."""
        starts, position, end, unpack = [0], 0, len(self.data), struct.Struct("<Q").unpack_from
        while position + 8 <= end:
            position += 8 + unpack(self.data, position)[0]
            starts.append(position)
        return starts

    def at(self, start: int) -> bytes:
        """The piece whose length stands at ``start``."""
        return self.data[start + 8 : start + 8 + int.from_bytes(self.data[start : start + 8], "little")]

    def behind(self, count: int) -> int:
        """Where the piece behind the first ``count`` begins; the end where there are not so many."""
        start = 0
        for _ in range(count):
            start += 8 + int.from_bytes(self.data[start : start + 8], "little")
        return min(start, len(self.data))

    def difference(self, data: bytes) -> tuple[int, bytes, bytes] | None:
        """The first id from FIRST_COMPARED on that both arrays have and whose pieces differ.

        Each piece carries its length, so equal bytes are equal pieces and the first byte that differs lies in the
        first piece that does; where one array ends first, the rest of the other one is not compared.
        """
        theirs = Pieces(data)
        ours_from, theirs_from = self.behind(FIRST_COMPARED), theirs.behind(FIRST_COMPARED)
        equal = _common_length(self.data, ours_from, data, theirs_from)
        if equal == min(len(self.data) - ours_from, len(data) - theirs_from):
            return None
        token = bisect_right(self.starts, ours_from + equal) - 1
        start = self.starts[token]
        return token, self.at(start), theirs.at(start - ours_from + theirs_from)


def _common_length(ours: bytes, ours_from: int, theirs: bytes, theirs_from: int) -> int:
    """How many bytes from these places on are equal, found by halving: comparing blocks costs next to nothing."""
    low, high = 0, min(len(ours) - ours_from, len(theirs) - theirs_from)
    if ours[ours_from : ours_from + high] == theirs[theirs_from : theirs_from + high]:
        return high
    while high - low > 1:  # [0, low) is equal, and the first difference lies in [low, high)
        middle = (low + high) // 2
        if ours[ours_from + low : ours_from + middle] == theirs[theirs_from + low : theirs_from + middle]:
            low = middle
        else:
            high = middle
    return low


def _fitting(here: int, there: int) -> str:
    if here == there:
        return "same vocabulary"
    longer, more = ("the draft", there - here) if there > here else ("the target", here - there)
    return f"same vocabulary up to id {min(here, there) - 1}; {longer} has {more} more pieces"


def _added(token: int | None) -> str:
    if token is None:
        return "none is added"
    return f"id {token} is added" if token >= 0 else "an unknown one is added"


def _shown(piece: bytes) -> str:
    """A piece as it stands in the file, short and without control codes."""
    text = re.sub(r"[\x00-\x1f\x7f-\x9f]", "\ufffd", piece.decode("utf-8", "replace"))
    return text if len(text) <= 40 else text[:39] + "…"
