"""Which GPUs count beside main memory, from what the engine says of its devices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from engine.protocol import Device, ModelInfo

_SHARES_MAIN_MEMORY: Final = ("metal", "mtl")
"""Names of Apple's GPUs: ggml calls them GPUs, and their memory is the machine's."""


def own_memory(devices: Iterable[Device]) -> tuple[Device, ...]:
    """The GPUs with memory of their own: what lies there takes no main memory."""
    return tuple(
        device
        for device in devices
        if device.kind == "gpu" and not device.name.lower().startswith(_SHARES_MAIN_MEMORY) and device.memory_total > 0
    )


def given_back(gpus: Sequence[Device], loaded: Iterable[ModelInfo]) -> tuple[Device, ...]:
    """The GPUs as they are once the models that are ``loaded`` now have left: another pair takes their place.

    Only weights are counted, so what is free is a little more than this.
    """
    freed = sum(model.size_bytes * model.gpu_layers // (model.layers + 1) for model in loaded)
    after: list[Device] = []
    for gpu in gpus:
        back = min(freed, gpu.memory_total - gpu.memory_free)
        freed -= back
        after.append(gpu.model_copy(update={"memory_free": gpu.memory_free + back}))
    return tuple(after)
