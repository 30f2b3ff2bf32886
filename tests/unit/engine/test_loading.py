"""Opening models on a GPU, with fakes: no GPU is at hand, but what happens when memory runs out must be right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.llama import backend, loading
from engine.llama.context import EXACT, FAST, CacheSettings, ContextError
from engine.llama.loading import Wish, cache_settings, open_model
from engine.llama.model import LoadError, offload_attempts
from engine.protocol import Device


class FakeModel:
    """Fits while no more than ``room`` layers are offloaded; counts what is open."""

    room = 999
    opened = 0

    def __init__(self, path: Path, *, gpu_layers: int, repack: bool, progress: Any, cancelled: Any) -> None:
        if gpu_layers > self.room:
            raise LoadError(f"{path.name} could not be loaded as a model.", "cudaMalloc failed: out of memory")
        self.path, self.gpu_layers, self.context_trained = path, min(gpu_layers, 33), 4096
        self.repack = repack
        FakeModel.opened += 1

    def close(self) -> None:
        FakeModel.opened -= 1

    def cache_bytes(self, context: int) -> int:
        return context * 1000


class FakeContext:
    room = 999
    refuses_exact = False

    def __init__(
        self, model: FakeModel, *, size: int, threads: int, settings: CacheSettings, abort: Any, undo: int
    ) -> None:
        if model.gpu_layers > self.room or (self.refuses_exact and settings == EXACT):
            raise ContextError(f"No context of {size:,} tokens could be made for {model.path.name}.")
        self.size, self.settings = size, settings


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def use(*, model_room: int = 999, context_room: int = 999, gpu: bool = True, refuses_exact: bool = False) -> None:
        monkeypatch.setattr(FakeModel, "room", model_room)
        monkeypatch.setattr(FakeModel, "opened", 0)
        monkeypatch.setattr(FakeContext, "room", context_room)
        monkeypatch.setattr(FakeContext, "refuses_exact", refuses_exact)
        monkeypatch.setattr(loading, "Model", FakeModel)
        monkeypatch.setattr(loading, "Context", FakeContext)
        monkeypatch.setattr(loading, "probe", lambda context: "full")
        monkeypatch.setattr(loading, "gpus", lambda: (RTX,) if gpu else ())

    return use


RTX = Device(name="CUDA0", description="NVIDIA RTX 4090", kind="gpu", memory_total=24 << 30, memory_free=20 << 30)


def wish(gpu_layers: Any = "auto", context: int | None = None, exact: bool = True) -> Wish:
    return Wish(Path("qwen.gguf"), gpu_layers, context, 2, exact)


def test_everything_is_offloaded_where_it_fits(fakes: Callable[..., None]) -> None:
    fakes()
    opened = open_model(wish(), abort=None)  # type: ignore[arg-type]
    assert opened.model.gpu_layers == 33
    assert opened.notes == []
    assert opened.context.settings == FAST, "unequal K and V types are for CPUs only"


def test_weights_that_do_not_fit_are_tried_again_with_fewer_layers(fakes: Callable[..., None]) -> None:
    fakes(model_room=20)
    opened = open_model(wish(), abort=None)  # type: ignore[arg-type]
    assert opened.model.gpu_layers == 16
    assert opened.notes == ["the GPU's memory did not hold all layers of qwen.gguf; 16 layers offloaded"]


def test_a_context_that_does_not_fit_gives_its_model_back_first(fakes: Callable[..., None]) -> None:
    fakes(context_room=10)
    opened = open_model(wish(24), abort=None)  # type: ignore[arg-type]
    assert opened.model.gpu_layers == 6
    assert FakeModel.opened == 1
    assert opened.notes == ["the GPU's memory did not hold 24 layers of qwen.gguf; 6 layers offloaded"]


def test_the_last_attempt_is_the_processor_alone(fakes: Callable[..., None]) -> None:
    fakes(model_room=0)
    opened = open_model(wish("all"), abort=None)  # type: ignore[arg-type]
    assert opened.model.gpu_layers == 0
    assert opened.context.settings == EXACT
    assert opened.notes == ["the GPU's memory did not hold all layers of qwen.gguf; no layers offloaded"]


def test_what_fits_nowhere_is_an_error_with_the_librarys_words(fakes: Callable[..., None]) -> None:
    fakes(model_room=-1)
    with pytest.raises(LoadError, match=r"qwen\.gguf could not be loaded") as caught:
        open_model(wish(), abort=None)  # type: ignore[arg-type]
    assert "out of memory" in caught.value.detail


def test_without_a_gpu_the_wish_for_layers_is_harmless_and_answered(fakes: Callable[..., None]) -> None:
    fakes(gpu=False)
    for wanted in ("all", 5):
        opened = open_model(wish(wanted), abort=None)  # type: ignore[arg-type]
        assert opened.model.gpu_layers == 0
        assert opened.notes == ["no GPU was found that layers could be offloaded to; the processor does all the work"]
    assert open_model(wish("auto"), abort=None).notes == []  # type: ignore[arg-type]


def test_a_context_that_memory_cannot_hold_is_refused_before_it_is_made(
    fakes: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fakes(gpu=False)
    monkeypatch.setattr(loading, "available_memory", lambda: 4_000_000_000)
    assert open_model(wish(context=4_000_000), abort=None).context.size == 4_000_000  # type: ignore[arg-type]
    with pytest.raises(ContextError, match=r"A context of 1,000,000,000 tokens for qwen\.gguf needs about 1\.0 TB"):
        open_model(wish(context=1_000_000_000), abort=None)  # type: ignore[arg-type]
    monkeypatch.setattr(loading, "available_memory", lambda: None)
    assert open_model(wish(context=5_000_000), abort=None).context.size == 5_000_000  # type: ignore[arg-type]


def test_a_model_without_flash_attention_is_opened_fast_and_says_so(fakes: Callable[..., None]) -> None:
    fakes(gpu=False, refuses_exact=True)
    opened = open_model(wish(), abort=None)  # type: ignore[arg-type]
    assert opened.context.settings == FAST
    assert opened.notes == ["qwen.gguf does not support the exact settings; fast mode is used"]


def test_the_context_is_what_was_asked_for_else_what_the_model_knows(fakes: Callable[..., None]) -> None:
    fakes(gpu=False)
    assert open_model(wish(), abort=None).context.size == 4096  # type: ignore[arg-type]
    assert open_model(wish(context=512), abort=None).context.size == 512  # type: ignore[arg-type]
    larger = open_model(wish(context=9000), abort=None)  # type: ignore[arg-type]
    assert larger.context.size == 9000
    assert "larger than the 4,096 qwen.gguf was trained for" in larger.notes[0]


def test_attempts_go_down_to_none_and_never_repeat() -> None:
    assert offload_attempts("auto", has_gpu=False) == [0]
    assert offload_attempts(0, has_gpu=True) == [0]
    for wanted in ("auto", "all", 1, 2, 3, 20, 999):
        attempts = offload_attempts(wanted, has_gpu=True)  # type: ignore[arg-type]
        assert attempts[-1] == 0
        assert attempts == sorted(set(attempts), reverse=True)


def test_weights_are_rewritten_only_in_fast_mode_and_never_for_amx(
    fakes: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fakes(gpu=False)
    monkeypatch.setattr(loading, "system_info", lambda: "CPU : AVX2 = 1")
    assert open_model(wish(exact=False), abort=None).model.repack is True  # type: ignore[arg-type]
    assert open_model(wish(exact=True), abort=None).model.repack is False  # type: ignore[arg-type]
    monkeypatch.setattr(loading, "system_info", lambda: "CPU : AVX2 = 1 | AMX_INT8 = 1")
    assert open_model(wish(exact=False), abort=None).model.repack is False  # type: ignore[arg-type]


def test_exact_settings_are_for_processors_only() -> None:
    assert cache_settings(exact=True, gpu_layers=0) == EXACT
    assert cache_settings(exact=True, gpu_layers=1) == FAST
    assert cache_settings(exact=False, gpu_layers=0) == FAST


def test_gpus_are_named_only_by_a_build_that_can_use_them(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = Device(name="CPU", description="AMD", kind="cpu", memory_total=1, memory_free=1)
    monkeypatch.setattr(backend, "devices", lambda: (cpu, RTX))
    monkeypatch.setattr(backend, "supports_gpu_offload", lambda: True)
    assert backend.gpus() == (RTX,)
    monkeypatch.setattr(backend, "supports_gpu_offload", lambda: False)
    assert backend.gpus() == ()


def test_the_devices_of_this_machine_include_its_processor() -> None:
    assert any(device.kind == "cpu" and device.memory_total > 0 for device in backend.devices())
