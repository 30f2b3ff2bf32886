"""``python -m tests.bench.lean``: what Python adds to a pass, and what a choice costs. Run it on a quiet machine.

The engine's own session answers in this process; every call of ``llama_decode`` is timed, and all other time between
the first and the last token is Python's share. The second table times choices alone, on made-up logits.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from engine.llama import context as context_module
from engine.llama.backend import library
from engine.machine import engine_environment
from engine.protocol import Finished, Generate, GenerateSettings, Load, LoadSettings, Message, ModelFile, Sampling
from engine.sampling import Chooser
from engine.session import Session

PROMPT = "Write a long story about a lighthouse keeper who repairs clocks."
LONG = "The tide table of the harbour lists every day of the month. " * 110
CHOICE_ROUNDS = 200
WEIGHTS = 12_000_000
"""float64 numbers read before every choice, 96 MB: a pass reads the weights, and leaves nothing of Python in caches."""


class TimedDecode:
    """Stands before the library: passes everything on, and keeps the time that ``llama_decode`` took."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self.seconds: list[float] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library, name)

    def llama_decode(self, handle: Any, batch: Any) -> int:
        started = time.perf_counter()
        code = int(self._library.llama_decode(handle, batch))
        self.seconds.append(time.perf_counter() - started)
        return code


def shares(target: Path, tokens: int, rounds: int) -> list[tuple[str, float, float]]:
    """(what, Python's share of the decoding time, microseconds of it a token), medians over rounds."""
    timed = TimedDecode(library())
    setattr(context_module, "library", lambda: timed)  # noqa: B010
    session = Session()
    found: dict[str, list[tuple[float, float]]] = {}
    try:
        session.load(
            Load(id=1, settings=LoadSettings(target=ModelFile(path=str(target)), context=4096)), lambda event: None
        )
        gc.collect()
        gc.freeze()  # as engine.host does
        for _ in range(rounds + 1):  # the first warms up
            for name, text, temperature, speculation in (
                ("plain, greedy", PROMPT, 0.0, "off"),
                ("plain, temperature 0.8", PROMPT, 0.8, "off"),
                ("plain, greedy, behind 1,500 tokens", LONG + PROMPT, 0.0, "off"),
                ("auto, greedy", PROMPT, 0.0, "auto"),
            ):
                session.forget()
                timed.seconds.clear()
                last: list[Any] = []
                wish = GenerateSettings(
                    messages=(Message(role="user", content=text),),
                    sampling=Sampling(temperature=temperature),
                    speculation=speculation,
                    max_tokens=tokens,
                    seed=1,
                )
                session.generate(Generate(id=2, settings=wish), last.append)
                done = last[-1]
                assert isinstance(done, Finished), done
                stats = done.stats
                inside = sum(timed.seconds[-stats.target_passes :])
                whole = stats.total_seconds - stats.queue_seconds - stats.prefill_seconds
                python = (whole - inside) / whole
                found.setdefault(name, []).append((python, (whole - inside) / stats.output_tokens * 1e6))
    finally:
        setattr(context_module, "library", library)  # noqa: B010
        session.unload()
    return [
        (name, statistics.median(p for p, _ in values[1:]), statistics.median(u for _, u in values[1:]))
        for name, values in found.items()
    ]


CHAINS: tuple[tuple[str, Sampling], ...] = (
    ("greedy", Sampling(temperature=0)),
    ("temperature 0.8, top-k 40, top-p 0.95, min-p 0.05", Sampling(temperature=0.8)),
    ("the same with top-k 100", Sampling(temperature=0.8, top_k=100)),
    ("the same with penalties and DRY", Sampling(temperature=0.8, repeat_penalty=1.1, dry_multiplier=0.8)),
    ("temperature 0.8 alone, no top-k", Sampling(temperature=0.8, top_k=0, top_p=1, min_p=0)),
    ("top-p 0.95, no top-k", Sampling(temperature=0.8, top_k=0, top_p=0.95, min_p=0)),
)


def choices(vocabulary: int) -> list[tuple[str, float, float]]:
    """(chain, median microseconds of one choice, the same behind as much other memory as a pass reads) over a
    vocabulary of this size, each row of logits a new one."""
    noise = np.random.default_rng(7)
    rows = (noise.normal(0, 2.5, (16, vocabulary)) ** 3 / 4).astype(np.float32)

    def median(sampling: Sampling, others: int) -> float:
        return _median(Chooser(vocabulary, sampling, 1), rows, others)

    return [(name, median(sampling, 0), median(sampling, WEIGHTS)) for name, sampling in CHAINS]


def _median(chooser: Chooser, rows: Any, others: int) -> float:
    spent, row, weights = [], np.empty_like(rows[0]), np.ones(others)
    for i in range(CHOICE_ROUNDS):
        weights.sum()
        row[:] = rows[i % len(rows)]
        started = time.perf_counter()
        chooser.accept(chooser.choose(row, i))
        spent.append(time.perf_counter() - started)
    return statistics.median(spent) * 1e6


def main(say: Callable[[str], None] = print) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.lean", description=__doc__.splitlines()[0])
    parser.add_argument("target", type=Path, nargs="?", help="a GGUF file (default: the starter)")
    parser.add_argument("--tokens", type=int, default=192)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--vocabulary", type=int, default=151_936)
    options = parser.parse_args()
    os.environ.update(engine_environment())  # before the library loads
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the library talks
    target = options.target
    if target is None:
        from tests.bench.pairs import DEFAULT_FOLDER, make_pair

        target = make_pair("a", DEFAULT_FOLDER, lambda text: print(text, file=sys.stderr)).target
    say(f"{target.name}: Python's share of decoding (everything but llama_decode)")
    for name, share, micro in shares(target, options.tokens, options.rounds):
        say(f"  {name:<40} {100 * share:5.2f} %  {micro:6.0f} us a token")
    say(f"one choice among {options.vocabulary:,} tokens: again and again, and behind as much reading as in a pass")
    for name, warm, cold in choices(options.vocabulary):
        say(f"  {name:<52} {warm:6.0f} us  {cold:6.0f} us")
    return 0


if __name__ == "__main__":
    sys.exit(main())
