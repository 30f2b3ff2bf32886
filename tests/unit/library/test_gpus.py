"""GPUs beside main memory: which count, and what is free once the pair that is loaded has left."""

from __future__ import annotations

from typing import Literal

import pytest

from app.library.gpus import given_back, own_memory
from app.library.room import Room
from engine.files.fit import ON_EACH_GPU
from engine.files.shape import Shape
from engine.protocol import Device, ModelInfo

GB = 10**9
Kind = Literal["cpu", "gpu", "igpu", "accelerator"]


def device(name: str, kind: Kind = "gpu", *, total: int = 24 * GB, free: int = 20 * GB) -> Device:
    return Device(name=name, description="some card", kind=kind, memory_total=total, memory_free=free)


def model(size: int, layers: int, gpu_layers: int) -> ModelInfo:
    return ModelInfo(
        path="/m/x.gguf", name="x", architecture="llama", size_bytes=size, fingerprint="f", layers=layers,
        gpu_layers=gpu_layers, context_trained=8192, vocabulary=1000,
    )  # fmt: skip


def test_only_gpus_with_memory_of_their_own_count() -> None:
    card = device("CUDA0")
    others = [
        device("CPU", "cpu"),
        device("Vulkan1", "igpu"),
        device("Metal"),
        device("MTL0"),
        device("BLAS", "accelerator"),
        device("CUDA1", total=0, free=0),
    ]
    assert own_memory([card, *others]) == (card,)


def test_what_is_loaded_gives_its_place_back() -> None:
    (card,) = given_back([device("CUDA0", total=24 * GB, free=18 * GB)], [model(4 * GB, 35, 36)])
    assert card.memory_free == 22 * GB
    (half,) = given_back([device("CUDA0", total=24 * GB, free=18 * GB)], [model(4 * GB, 35, 18)])
    assert half.memory_free == 20 * GB
    (full,) = given_back([device("CUDA0", total=24 * GB, free=23 * GB)], [model(4 * GB, 35, 36)])
    assert full.memory_free == 24 * GB, "never more than there is"
    assert given_back([], [model(4 * GB, 35, 36)]) == ()


@pytest.mark.parametrize(
    ("needed", "words"), [(8 * GB, "fits"), (25 * GB, "fits"), (29 * GB, "tight"), (40 * GB, "does not fit")]
)
def test_a_gpu_holds_what_main_memory_does_not(needed: int, words: str) -> None:
    room = Room(None, 16 * GB, 10 * GB, 8, (device("CUDA0", free=20 * GB + ON_EACH_GPU),))
    assert room.on_gpus == 20 * GB
    assert room.words(needed) == words
    assert room.holds(needed) is (words != "does not fit")


def test_files_are_judged_with_the_gpu_as_well() -> None:
    large = Shape(weights=20 * GB, layers=40, width=4096, vocabulary=32000, cell=100_000, context_trained=4096)
    plain = Room(None, 16 * GB, 10 * GB, 8)
    assert plain.fit(large).words == "does not fit"
    with_card = Room(None, 16 * GB, 10 * GB, 8, (device("CUDA0", free=23 * GB),))
    fit = with_card.fit(large)
    assert fit.words == "fits"
    assert "All 40 layers on the GPU" in fit.sentence
