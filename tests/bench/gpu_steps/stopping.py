"""How soon a cancel is obeyed."""

from __future__ import annotations

import random
import statistics

from tests.bench.gpu_steps.engine import InProcess
from tests.bench.gpu_steps.setup import Findings, Setup
from tests.bench.worker_engine import FILLER


def cancel(setup: Setup) -> Findings:
    """How long a cancel takes while the prompt is read and while tokens come, and whether the next answer suffers."""
    engine = InProcess(setup.threads)
    window = 2048 if setup.tiny else 8192
    engine.load(setup.big, setup.layers, window)
    pair = engine.session.pair
    assert pair is not None
    long = pair.target.model.vocabulary.tokenize(FILLER, parse_special=False)
    prompt = FILLER * (window * 3 // 4 // len(long))
    before = engine.ask("Name a river.", tokens=16)
    chance = random.Random(1)
    for name in ("prefill", "decode"):
        late, times = 0, []
        for _ in range(5):
            text = f"{chance.random()} {prompt if name == 'prefill' else 'Tell me a story.'}"
            latency = engine.cancelled(text, in_prefill=name == "prefill", delay=chance.random() * 0.02)
            late += latency is None
            times += [] if latency is None else [latency]
            if times:
                yield {name: {"median": statistics.median(times), "worst": max(times), "times": times, "late": late}}
            else:
                yield {name: {"late": late}}
    engine.session.forget()
    after = engine.ask("Name a river.", tokens=16)
    yield {"the next answer is as before": before.token_ids == after.token_ids}
    engine.session.unload()
