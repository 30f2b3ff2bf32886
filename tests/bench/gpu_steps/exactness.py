"""Which passes agree bit by bit, and how far those that do not are apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engine.llama.backend import AbortFlag
from engine.llama.context import EXACT, F16, FAST, CacheSettings, Context, ContextError, Logits
from engine.llama.model import ALL_LAYERS, Model
from engine.selftest import LENGTHS, NEEDED, WIDEST, self_test
from tests.bench.gpu_steps.setup import Findings, Setup

FLASH_OFF = 0
VARIANTS: dict[str, CacheSettings] = {
    "fast": FAST,
    "flash attention off": CacheSettings(FLASH_OFF, F16, F16),
    "exact": EXACT,
}
"""Ways to compute, the safest first: a back end may end the process over settings it does not know."""


def selftest(setup: Setup, path: Path) -> Findings:
    """Which pass widths round alike, by the engine's own test and pass by pass, for every way to compute."""
    model = Model(path, gpu_layers=0 if setup.cpu else ALL_LAYERS)
    try:
        yield {"model": path.name, "layers": model.layers, "offloaded": model.gpu_layers}
        vocabulary = model.vocabulary
        text = " ".join(f"{number} river" for number in range(NEEDED))
        tokens = [t for t in vocabulary.tokenize(text, parse_special=False) if not vocabulary.is_end(t)][:NEEDED]

        def make(settings: CacheSettings) -> Context:
            size = -(-NEEDED // 256) * 256
            return Context(model, size=size, threads=setup.threads, settings=settings, abort=AbortFlag())

        for name, settings in VARIANTS.items():
            try:
                yield {name: _variant(make, tokens, settings)}
            except ContextError as error:
                yield {name: {"error": str(error), "detail": error.detail}}
    finally:
        model.close()


def _variant(
    make: Callable[[CacheSettings], Context], tokens: Sequence[int], settings: CacheSettings
) -> dict[str, Any]:
    found = next(result for result in self_test(make, tokens, settings) if result is not None)
    context = make(settings)
    try:
        rounding = {str(length): _rounding(context, tokens, length) for length in LENGTHS}
    finally:
        context.close()
    return {"words": found.words, "self-test": found.model_dump(exclude={"ratios"}), "rounding": rounding}


def _rounding(context: Context, tokens: Sequence[int], length: int) -> dict[str, Any]:
    """How passes of each width differ from single ones behind ``length`` tokens, and from themselves when repeated."""

    def behind(chunk: int) -> None:
        context.clear()
        while context.length < length:
            context.decode(tokens[context.length : length][:chunk], rows=0)

    def passes(width: int, count: int) -> Logits:
        context.truncate(length)
        parts = [tokens[length + at : length + at + width] for at in range(0, count, width)]
        return np.concatenate([context.decode(part).copy() for part in parts])

    behind(context.chunk)
    single = passes(1, WIDEST)
    differing: dict[str, dict[str, float | int]] = {}
    unstable = [] if _same(single, passes(1, WIDEST)) else [1]
    for width in range(2, WIDEST + 1):
        rows = passes(width, width)
        if not _same(rows, passes(width, width)):
            unstable.append(width)
        if not _same(rows, single[:width]):
            differing[str(width)] = {
                "largest difference": _largest(rows, single[:width]),
                "other arg max": int((rows.argmax(1) != single[:width].argmax(1)).sum()),
            }
    prefill = {}
    for chunk in (1, 64):  # against the whole text in chunks of context.chunk
        behind(chunk)
        prefill[str(chunk)] = _largest(passes(1, 1), single[:1])
    return {
        "agree": [width for width in range(2, WIDEST + 1) if str(width) not in differing],
        "differ": differing,
        "not repeatable": unstable,
        "prefill in other chunks, largest difference": prefill,
        "spread of the logits": float(single.std()),
        "finite": bool(np.isfinite(single).all()),
    }


def _same(left: Logits, right: Logits) -> bool:
    return bool(np.array_equal(left.view(np.uint32), right.view(np.uint32)))


def _largest(left: Logits, right: Logits) -> float:
    return float(np.abs(left - right).max())
