"""A model file in memory: loading with progress and cancel, layers on a GPU, what the file says of itself."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.files.fingerprint import Mark, mark_of
from engine.llama.backend import forget_log, last_error, library, recent_log
from engine.llama.vocab import Vocabulary
from engine.protocol import GpuLayers, ModelInfo


class LoadError(Exception):
    """The library would not load the file. ``str()`` is one sentence for people; ``detail`` has its last log lines."""

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail


class LoadCancelled(Exception):
    """The user gave up while the file was loading."""


class Model:
    """A loaded GGUF. ``close()`` frees it; contexts made from it must be closed first.

    ``gpu_layers``: how many layers go to the GPU, counted with the output layer. Raises LoadError or LoadCancelled.

    ``repack``: let ggml rewrite weights for special kernels (``use_extra_bufts``). They round differently from pass
    width to pass width, so an exact target never has them; on some virtual machines they die of SIGILL (AMX).
    """

    def __init__(
        self,
        path: Path,
        *,
        gpu_layers: int = 0,
        repack: bool = False,
        progress: Callable[[float], None] = lambda fraction: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._L = L = library()
        self.path = path
        self.mark = _marked(path)
        """Size and fingerprint of what was loaded, taken once: the file may be deleted, moved or replaced meanwhile,
        and the model goes on from what it holds."""
        self._progress, self._cancelled = progress, cancelled
        params = L.llama_model_default_params()
        params.n_gpu_layers = gpu_layers
        params.use_extra_bufts = repack
        self._callback = L.llama_progress_callback(self._on_progress)  # a reference: C holds only the pointer
        params.progress_callback = self._callback
        params.progress_callback_user_data = None
        forget_log()
        self.handle: Any = L.llama_model_load_from_file(os.fsencode(path), params)
        if self._cancelled():
            self.close()
            raise LoadCancelled
        if not self.handle:
            why = last_error()
            raise LoadError(f"{path.name} could not be loaded as a model{f': {why}' if why else ''}.", recent_log())
        self.vocabulary = Vocabulary(self.handle)
        self.layers: int = L.llama_model_n_layer(self.handle)
        self.gpu_layers = min(gpu_layers, self.layers + 1)
        self.context_trained: int = L.llama_model_n_ctx_train(self.handle)

    def _on_progress(self, fraction: float, _user_data: ctypes.c_void_p) -> bool:
        self._progress(min(1.0, max(0.0, fraction)))
        return not self._cancelled()

    def metadata(self, key: str) -> str | None:
        """A metadata value as text, None when the file has no such key."""
        buffer = ctypes.create_string_buffer(4096)
        length = self._L.llama_model_meta_val_str(self.handle, key.encode(), buffer, len(buffer))
        return buffer.value.decode("utf-8", "replace") if length >= 0 else None

    def cache_bytes(self, context: int) -> int:
        """About how much memory the KV cache of ``context`` tokens takes, with 16-bit entries."""
        L, handle = self._L, self.handle
        width = L.llama_model_n_embd(handle) * L.llama_model_n_head_kv(handle) // max(1, L.llama_model_n_head(handle))
        return int(context * self.layers * width * 2 * 2)

    def info(self) -> ModelInfo:
        """The file's record for status line and receipt."""
        return ModelInfo(
            path=str(self.path),
            name=self.metadata("general.name") or self.path.stem,
            architecture=self.metadata("general.architecture") or "unknown",
            size_bytes=self.mark.size,
            fingerprint=self.mark.fingerprint,
            layers=self.layers,
            gpu_layers=self.gpu_layers,
            context_trained=self.context_trained,
            vocabulary=self.vocabulary.size,
        )

    def close(self) -> None:
        """Give the memory back now."""
        if self.handle:
            self._L.llama_model_free(self.handle)
            self.handle = None


def _marked(path: Path) -> Mark:
    """The file that is about to be loaded. Raises LoadError."""
    try:
        return mark_of(path)
    except FileNotFoundError as error:
        raise LoadError(f"There is no file {path}.") from error
    except OSError as error:
        raise LoadError(f"{path.name} cannot be read: {error.strerror or error}.") from error


ALL_LAYERS = 999
"""More than any model has: llama.cpp takes it as all of them, output layer included."""


def offload_attempts(wish: GpuLayers, has_gpu: bool) -> list[int]:
    """The layer counts to try, first to last, ending with none.

    >>> offload_attempts("auto", True)
    [999, 48, 32, 24, 16, 8, 0]
    >>> offload_attempts(20, True)
    [20, 15, 10, 5, 0]
    """
    if not has_gpu or wish == 0:
        return [0]
    if isinstance(wish, str):
        return [ALL_LAYERS, 48, 32, 24, 16, 8, 0]
    return list(dict.fromkeys([wish, wish * 3 // 4, wish // 2, wish // 4, 0]))


def layer_words(layers: int) -> str:
    return "all layers" if layers >= ALL_LAYERS else "no layers" if layers == 0 else f"{layers} layers"
