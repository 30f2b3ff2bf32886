"""Which pass widths and prefill chunks round alike on this machine with this file: found out, never assumed.

The same tokens are evaluated one by one, in passes of every width, in prefill chunks of two sizes and behind a reused
prefix, and with fewer threads; the logits are compared bit by bit, at context lengths on both sides of the places
where kernels change (512 cached tokens: split attention; 64 queries: tiled attention; engine.md section 0.1). The
passes are timed as well: the cost model starts from them. A memory with running states goes back to a copy of them
between the passes, and a tail that it can take back by itself is taken back and continued, as behind a draft that was
rejected.

It is a generator of small steps in a context of its own, so that the engine can do it while nobody waits and leave it
at any step.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.llama.context import EXACT, FAST, CacheSettings, Context, ContextError
from engine.prefill import SMALL_CHUNK, next_chunk
from engine.protocol import SelfTestResult

WIDEST = 16
LENGTHS = (48, 506)
"""Tokens before each comparison: a short context, and one whose passes cross 512."""
NEEDED = LENGTHS[-1] + 2 * WIDEST
"""Tokens of context the whole test takes."""
TIMED = 3
"""How often each width is timed."""
STRETCH_SECONDS = 1.0
SHORTEST, LONGEST = 128, 512
"""Tokens of one text that are read singly and in passes of the widest kind that was found alike, as many as fit into
STRETCH_SECONDS: a tiny F16 model rounded differently at one token in 21 to 38, which a few positions do not show, and
128 would miss once in thirty times."""


@dataclass(slots=True)
class _Findings:
    widths: int = WIDEST
    prefill: bool = True
    reuse: bool = True
    threads: list[int] = field(default_factory=list)
    seconds: dict[int, list[float]] = field(default_factory=dict)
    read: list[tuple[int, float]] = field(default_factory=list)

    @property
    def exact_width(self) -> int | None:
        """What :func:`engine.prefill.next_chunk` must keep to."""
        return None if self.widths == WIDEST else self.widths

    @property
    def prefill_rate(self) -> float:
        """Prompt tokens per second in full chunks."""
        chunks = [(n, s) for n, s in self.read if n > SMALL_CHUNK]
        return sum(n for n, _ in chunks) / sum(s for _, s in chunks)


def self_test(
    make: Callable[[CacheSettings], Context],
    tokens: Sequence[int],
    settings: CacheSettings = EXACT,
    *,
    threads: int = 1,
) -> Generator[SelfTestResult | None, None, None]:
    """Test ``settings`` (the exact ones) on ``tokens`` (at least NEEDED), and time the fast ones beside them.

    ``make`` gives an empty context of at least NEEDED tokens with the settings asked for, whose passes are made by
    ``threads`` threads; it is closed here. Yields
    None between steps and the result at the end; may be abandoned at any step (``close()`` frees the context). Raises
    what a pass raises, and ContextError where the memory does not go back to where it was marked.
    """
    found, fast = _Findings(threads=fewer_threads(threads)), _Findings()
    context = make(settings)
    try:
        for length in LENGTHS:
            yield from _compare_at(context, tokens, length, found, threads)
        yield from _compare_stretch(context, tokens, found)
    finally:
        context.close()
    context = make(FAST)
    try:
        yield from _read(context, tokens[: LENGTHS[-1]], context.chunk, fast)
        for token in tokens[LENGTHS[-1] :][:WIDEST]:
            _timed(context, [token], fast)
            yield None
    finally:
        context.close()
    plain = float(np.median(found.seconds[1]))
    yield SelfTestResult(
        widths=found.widths,
        prefill=found.prefill,
        reuse=found.reuse,
        threads=tuple(found.threads),
        context=NEEDED,
        ratios={w: float(np.median(s)) / plain for w, s in sorted(found.seconds.items()) if w > 1},
        plain_seconds=plain,
        prefill_tokens_per_second=found.prefill_rate,
        fast_plain_seconds=float(np.median(fast.seconds[1])),
        fast_prefill_tokens_per_second=fast.prefill_rate,
    )


def fewer_threads(threads: int) -> list[int]:
    """The smaller numbers of threads that are tried: one less, half of them, and one."""
    return sorted({threads - 1, threads // 2, 1} - {0, threads})


def _compare_at(context: Context, tokens: Sequence[int], length: int, found: _Findings, threads: int) -> Iterator[None]:
    ahead = tokens[length : length + WIDEST]
    after = tokens[length + WIDEST]
    yield from _read(context, tokens[:length], context.chunk, found)
    context.mark()
    single = []
    for token in ahead:
        single.append(_timed(context, [token], found)[0])
        yield
    behind_decoding = _row(context, after)
    for _ in range(TIMED):
        for width in range(2, WIDEST + 1):
            _back(context, length)
            rows = _timed(context, ahead[:width], found)
            if not all(_same(rows[i], single[i]) for i in range(width)):
                found.widths = min(found.widths, width - 1)
            yield
    for fewer in tuple(found.threads):
        context.use_threads(fewer)
        for width in dict.fromkeys((1, found.widths)):
            _back(context, length)
            again = [row.copy() for row in _pieces(context, ahead, width)]
            if not all(map(_same, again, single)):
                found.threads.remove(fewer)
                break
            yield
        context.use_threads(threads)
    for width in range(2, min(WIDEST, (context.longest_undo or 0) + 1) + 1):
        _back(context, length)
        context.decode(ahead[:width], rows=0)
        _back(context, length + 1)
        found.reuse &= _same(context.decode(ahead[1:2])[0], single[1])
        yield
    _back(context, length)  # the cache was cut and continued many times by now
    while context.length < length + WIDEST:
        context.decode(tokens[context.length : length + WIDEST][: found.widths], rows=0)
    found.reuse &= _same(_row(context, after), behind_decoding)
    yield
    for chunk in (SMALL_CHUNK, context.chunk):
        yield from _read(context, tokens[: length + WIDEST], chunk, found)
        found.prefill &= _same(_row(context, after), behind_decoding)
    yield


def _pieces(context: Context, tokens: Sequence[int], width: int) -> Iterator[NDArray[np.float32]]:
    """The logits behind each of ``tokens``, read in passes of ``width``; each valid until the next is asked for."""
    for start in range(0, len(tokens), width):
        yield from context.decode(tokens[start : start + width])


def _compare_stretch(context: Context, tokens: Sequence[int], found: _Findings) -> Iterator[None]:
    fitting = int(STRETCH_SECONDS / float(np.median(found.seconds[1])))
    stretch = tokens[: max(SHORTEST, min(LONGEST, fitting))]
    context.clear()
    single = []
    for token in stretch:
        single.append(_digest(context.decode([token])[0]))
        yield
    context.clear()
    while found.widths > 1 and context.length < len(stretch):
        at = context.length
        rows = context.decode(stretch[at : at + found.widths])
        if [_digest(row) for row in rows] != single[at : at + len(rows)]:
            found.widths = 1
        yield


def _digest(row: NDArray[np.float32]) -> bytes:
    """What is kept of a row of logits: hundreds of whole ones would be hundreds of megabytes."""
    return hashlib.blake2b(row.tobytes(), digest_size=16).digest()


def _read(context: Context, tokens: Sequence[int], chunk: int, found: _Findings) -> Iterator[None]:
    """Prefill from nothing in chunks of ``chunk``, as the engine reads a prompt."""
    context.clear()
    while context.length < len(tokens):
        size = next_chunk(len(tokens) - context.length, chunk, found.exact_width)
        part = tokens[context.length :][:size]
        started = time.perf_counter()
        context.decode(part, rows=0)
        found.read.append((len(part), time.perf_counter() - started))
        yield


def _timed(context: Context, tokens: Sequence[int], found: _Findings) -> NDArray[np.float32]:
    started = time.perf_counter()
    rows = context.decode(tokens).copy()  # a view dies with the next pass
    found.seconds.setdefault(len(tokens), []).append(time.perf_counter() - started)
    return rows


def _back(context: Context, length: int) -> None:
    """Take back what lies behind ``length`` tokens, which were marked or belong to the last pass."""
    if not context.truncate(length):
        raise ContextError("The self-test could not take back what it had read, so it cannot tell how exact this is.")


def _row(context: Context, token: int) -> NDArray[np.float32]:
    """Logits behind one more token, which is taken back (a running state goes back to its mark)."""
    row: NDArray[np.float32] = context.decode([token])[0].copy()
    context.truncate(context.length - 1)
    return row


def _same(left: NDArray[np.float32], right: NDArray[np.float32]) -> bool:
    """Bit by bit, so that NaN equals NaN and 0.0 differs from -0.0."""
    return bool(np.array_equal(left.view(np.uint32), right.view(np.uint32)))
