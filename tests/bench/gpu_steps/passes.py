"""What passes cost: V(1..16), D and prefill."""

from __future__ import annotations

import time
from collections.abc import Sequence

from engine.llama import backend
from engine.llama.context import Context
from engine.llama.model import Model
from engine.selftest import WIDEST
from tests.bench.deepen import weight_bytes
from tests.bench.gpu_steps.setup import Findings, Setup, kept
from tests.bench.worker_engine import FILLER, EngineWorker


def costs(setup: Setup) -> Findings:
    """V(1..16), D and the prefill rate of the synthetic target with the starter as its draft."""
    worker = EngineWorker()
    loaded = worker.load(str(setup.big), str(setup.starter), "fast", 8192, setup.threads, setup.layers)
    reads = weight_bytes(setup.big)
    yield {"weight bytes": reads, **kept(loaded, "backend", "gpu_layers", "threads", "notes")}
    measured = []
    for behind in (16,) if setup.tiny else (64, 512, 4096):
        cost = worker.costs(behind, WIDEST, 2 if setup.tiny else 9)
        verify, draft = cost["verify"], cost["draft"]
        measured.append(
            {
                "behind": behind,
                "V": verify,
                "D": draft,
                "weights per second": reads / verify[0],
                # What a draft of k must bring, on average, to be as fast as plain decoding.
                "tokens a pass to break even": {
                    str(k): (verify[k] + k * draft) / verify[0] for k in (1, 2, 3, 4, 7, 15)
                },
            }
        )
        yield {"costs": measured}
    pair = worker.session.pair
    assert pair is not None
    context, length = pair.target.context, 512 if setup.tiny else 4096
    tokens = _filler(pair.target.model, length)
    rates = []
    for _ in range(3):
        rates.append(_prefill(context, tokens))
        yield {"prefill": rates}
    worker.session.unload()


def _prefill(context: Context, tokens: Sequence[int]) -> dict[str, float]:
    """Seconds to read a prompt: until the last call came back, and until the device had really done it."""
    context.clear()
    started = time.perf_counter()
    while context.length < len(tokens):
        context.decode(tokens[context.length :][: context.chunk], rows=0)
    returned = time.perf_counter() - started
    backend.library().llama_synchronize(context.handle)
    done = time.perf_counter() - started
    return {
        "tokens": len(tokens),
        "seconds as timed": returned,
        "seconds": done,
        "tokens per second": len(tokens) / done,
    }


def _filler(model: Model, length: int) -> list[int]:
    ids = model.vocabulary.tokenize(FILLER * 20, parse_special=False)
    return (ids * (1 + length // len(ids)))[:length]
