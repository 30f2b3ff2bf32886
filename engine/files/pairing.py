"""May this draft serve this target? llama.cpp's own rule, judged from the two headers and explained.

The rule (``common_speculative_are_compatible`` of llama.cpp): the same tokenizer type; the same answer to "add a
start token?", and the same one if so; likewise for the end token; vocabulary sizes that differ by 128 at most; and
equal pieces from id 5 up to the smaller size. Names and architectures do not matter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from engine.files.header import Header, HeaderError, read_header, read_span

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
    return judge_headers(*headers)


def judge_headers(target: Header, draft: Header) -> Verdict:
    """:func:`judge` for headers that are known already."""
    here, there = target.tokens, draft.tokens
    if here is None or there is None:
        return Verdict(False, f"{(target if here is None else draft).path.name} carries no vocabulary", 0)
    shared = min(here.count, there.count)
    ours, theirs = _Tokenizer.of(target), _Tokenizer.of(draft)
    if ours.type != theirs.type:
        reason = (
            f"other vocabulary: type {ours.model} with {here.count:,} pieces here, "
            f"type {theirs.model} with {there.count:,} in the draft"
        )
    elif ours.start != theirs.start:
        reason = f"start tokens differ: {_added(ours.start)} here, {_added(theirs.start)} in the draft"
    elif ours.end != theirs.end:
        reason = f"end tokens differ: {_added(ours.end)} here, {_added(theirs.end)} in the draft"
    elif abs(here.count - there.count) > MAX_SIZE_DIFFERENCE:
        reason = (
            f"other vocabulary: {here.count:,} pieces here, {there.count:,} in the draft, "
            f"and at most {MAX_SIZE_DIFFERENCE} may differ"
        )
    else:
        try:
            difference = _first_difference(read_span(target, here), read_span(draft, there), shared)
        except (HeaderError, OSError) as error:
            return Verdict(False, str(error).rstrip("."), shared)
        if difference is None:
            return Verdict(True, _fitting(here.count, there.count), shared)
        token, our_piece, their_piece = difference
        reason = f'vocabulary differs at id {token}: "{_shown(our_piece)}" here, "{_shown(their_piece)}" in the draft'
    return Verdict(False, reason, shared)


@dataclass(frozen=True, slots=True)
class _Tokenizer:
    """What the rule asks about, with llama.cpp's defaults for what a file leaves open."""

    model: str
    type: str
    start: int | None
    """Id of the start token that is added to prompts; None: none is added. Likewise ``end``."""
    end: int | None

    @staticmethod
    def of(header: Header) -> _Tokenizer:
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
        start = _valid(header, "tokenizer.ggml.bos_token_id", start)
        end = _valid(header, "tokenizer.ggml.eos_token_id", end)
        nothing = -1  # llama.cpp's id of a token that is to be added and does not exist
        return _Tokenizer(
            model,
            kind,
            (nothing if start is None else start) if adds_start else None,
            (nothing if end is None else end) if adds_end else None,
        )


def _valid(header: Header, key: str, default: int | None) -> int | None:
    token = header.integer(key)
    size = header.tokens.count if header.tokens else 0
    return token if token is not None and 0 <= token < size else default


def _first_difference(ours: bytes, theirs: bytes, count: int) -> tuple[int, bytes, bytes] | None:
    """The first id from 5 on, below ``count``, whose pieces differ. Arguments: the arrays as they lie in the files."""
    shorter, longer = sorted((ours, theirs), key=len)
    if longer.startswith(shorter):  # each piece carries its length: equal bytes are equal pieces
        return None
    here = there = 0
    for token in range(count):
        our_start, their_start = here + 8, there + 8
        here = our_start + int.from_bytes(ours[here:our_start], "little")
        there = their_start + int.from_bytes(theirs[there:their_start], "little")
        if token >= FIRST_COMPARED and ours[our_start:here] != theirs[their_start:there]:
            return token, ours[our_start:here], theirs[their_start:there]
    return None


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
