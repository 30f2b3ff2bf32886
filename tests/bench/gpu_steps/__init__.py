"""What is measured on a GPU, step by step. Each step runs in a process of its own (:mod:`tests.bench.gpu` starts it)
and yields its findings piece by piece, so that what was found before a crash or the end of its time is kept."""

from __future__ import annotations

from collections.abc import Callable

from tests.bench.gpu_steps.answers import ask, identity
from tests.bench.gpu_steps.exactness import selftest
from tests.bench.gpu_steps.memory import Ballast, memory
from tests.bench.gpu_steps.passes import costs
from tests.bench.gpu_steps.setup import Findings, Setup, facts, models
from tests.bench.gpu_steps.stopping import cancel

__all__ = ["Ballast", "Findings", "Setup", "steps"]


def steps(setup: Setup) -> dict[str, tuple[float, Callable[[], Findings]]]:
    """Name -> (most seconds it may take, what it does), the most telling first."""
    count, tokens = (2, 12) if setup.tiny else (10, 64)
    few, short = (1, 8) if setup.tiny else (3, 48)
    return {
        "facts": (30, lambda: facts(setup)),
        "models": (90, lambda: models(setup)),
        "self-test of the starter": (40, lambda: selftest(setup, setup.starter)),
        "costs": (60, lambda: costs(setup)),
        "identity with the starter": (90, lambda: identity(setup, setup.starter, setup.starter_draft, count, tokens)),
        "self-test of the synthetic model": (60, lambda: selftest(setup, setup.big)),
        "cancel": (40, lambda: cancel(setup)),
        "slipstream ask": (60, lambda: ask(setup)),
        "out of memory": (60, lambda: memory(setup)),
        "identity with the synthetic model": (60, lambda: identity(setup, setup.big, setup.starter, few, short)),
    }
