"""DRY's sequence breakers as token ids: which tokens hold a breaker, or begin one that others may complete."""

from __future__ import annotations

import weakref
from collections.abc import Iterable

from engine.llama.vocab import Vocabulary

MAX_BYTES = 40
MAX_TAIL = 20
"""Longest breaker in bytes and in tokens behind its head, as in llama.cpp."""

Breakers = dict[int, tuple[tuple[int, ...], ...]]
"""Head token -> the tails that complete a breaker; an empty tail: the token holds one by itself."""


_Overlaps = dict[int, set[tuple[int, ...]]]
_known: weakref.WeakKeyDictionary[Vocabulary, dict[bytes, _Overlaps]] = weakref.WeakKeyDictionary()


def breakers_of(vocabulary: Vocabulary, texts: Iterable[str]) -> Breakers:
    """The breakers of a chooser. A sweep over the vocabulary for each text, the first time it is asked for."""
    known = _known.setdefault(vocabulary, {})
    found: _Overlaps = {}
    for text in texts:
        breaker = text.encode("utf-8", "replace")[:MAX_BYTES]
        if breaker and breaker not in known:
            known[breaker] = _overlaps(vocabulary, breaker)
        for head, tails in known.get(breaker, {}).items():
            found.setdefault(head, set()).update(tails)
    return {head: tuple(sorted(tails)) for head, tails in found.items()}


def _overlaps(vocabulary: Vocabulary, breaker: bytes) -> _Overlaps:
    """llama.cpp's get_overlapping_token_sequences (llama-sampler.cpp)."""
    found: _Overlaps = {}
    for token, word in enumerate(vocabulary.words):
        if breaker in word:
            found[token] = {()}
            continue
        for matched in range(1, min(len(word) + 1, len(breaker))):
            if word.endswith(breaker[:matched]):
                tail = breaker[matched:].decode("utf-8", "replace")
                found.setdefault(token, set()).add(tuple(vocabulary.tokenize(tail, parse_special=False)[:MAX_TAIL]))
    return found
