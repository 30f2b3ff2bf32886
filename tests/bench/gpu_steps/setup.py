"""What the steps on a GPU are told, and the model files they use."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.llama import backend
from engine.machine import usable_cores
from engine.protocol import (
    GpuLayers,
)
from tests.bench.machine import describe
from tests.bench.pairs import PairMissing, requantized, smol, smol_q2_k
from tests.bench.synthetic import BIG, SMALL, TINY, Shape, WeightType, write_synthetic
from tests.bench.work import COPY_EDIT, Prompt, load_work, many

ROOT = Path(__file__).resolve().parents[3]
Findings = Iterator[dict[str, Any]]

Q4_0 = 2  # enum llama_ftype


@dataclass(frozen=True, slots=True)
class Setup:
    """Where the models are and how they are run. ``tiny``: everything small, to try the script itself."""

    work: Path
    tiny: bool = False
    cpu: bool = False
    weights: WeightType = "q8_0"

    @property
    def layers(self) -> GpuLayers:
        """What the engine is asked for."""
        return 0 if self.cpu else "all"

    @property
    def threads(self) -> int:
        """One for a tiny model: several would only wait for each other."""
        return 1 if self.tiny else usable_cores()[0]

    @property
    def shape(self) -> Shape:
        return TINY if self.tiny else BIG

    @property
    def big(self) -> Path:
        """The synthetic target."""
        return self.work / f"synthetic-{'tiny' if self.tiny else '3b'}-{self.weights}.gguf"

    @property
    def starter(self) -> Path:
        """The starter model; where it is not installed (and for ``tiny``) a random model stands in for it."""
        if not self.tiny:
            try:
                return smol()
            except PairMissing:
                pass
        return self.work / f"stand-in-{'tiny' if self.tiny else 'small'}.gguf"

    @property
    def starter_draft(self) -> Path:
        """The starter in a coarser weight type: a draft that is right about half the time."""
        name = "smollm2-135m-q2_k.gguf" if self.real else f"{self.starter.stem}-q4_0.gguf"
        return self.work / name

    @property
    def real(self) -> bool:
        """Whether the starter is the real one."""
        return self.starter.parent != self.work


def models(setup: Setup) -> Findings:
    """Write the model files."""
    started = time.monotonic()
    if not setup.real and not setup.starter.exists():
        write_synthetic(setup.starter, TINY if setup.tiny else SMALL, seed=2)
    yield {"starter": setup.starter.name, "starter is real": setup.real}
    if setup.real:
        smol_q2_k(setup.work)
    else:
        requantized(setup.starter, setup.starter_draft, Q4_0, lambda text: None)
    yield {"starter's draft": setup.starter_draft.name}
    if not setup.big.exists():
        source = setup.starter if setup.real else None
        write_synthetic(setup.big, setup.shape, weights=setup.weights, tokenizer=source, seed=1)
    yield {
        "synthetic": setup.big.name,
        "bytes": setup.big.stat().st_size,
        "weights": setup.weights,
        "shape": f"{setup.shape.blocks} layers x {setup.shape.width}, feed-forward {setup.shape.feed_forward}, "
        f"{setup.shape.heads} heads ({setup.shape.kv_heads} for K and V)",
        "seconds": round(time.monotonic() - started, 1),
    }


def facts(setup: Setup) -> Findings:
    """What machine and what build this is, in the words of the engine."""
    described = [device.model_dump() for device in backend.devices()]
    yield {"devices": described, "gpu offload": backend.supports_gpu_offload(), "machine": describe()}
    yield {"versions": backend.versions(), "system info": backend.system_info().strip()}
    if not setup.cpu and not backend.gpus():
        raise RuntimeError("this build of llama-cpp-python finds no GPU: what follows runs on the CPU")


def ten(count: int) -> list[Prompt]:
    """``count`` prompts of as many categories, the last a text to copy, which lookup can draft."""
    work = load_work()
    return [*many(work, max(1, count - 1)), *work.choose([COPY_EDIT], 1)][:count]


def kept(record: dict[str, Any], *keys: str) -> dict[str, Any]:
    """These keys of a record."""
    return {key: record[key] for key in keys}
