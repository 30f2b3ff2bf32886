"""Opening a model with its context: as asked where memory holds it, else with less on the GPU, and saying so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.files.sizes import size_words
from engine.llama.backend import AbortFlag, gpus, system_info
from engine.llama.context import EXACT, FAST, CacheSettings, Context, ContextError, DecodeAborted
from engine.llama.model import LoadCancelled, LoadError, Model, layer_words, offload_attempts
from engine.llama.rollback import probe
from engine.machine import available_memory
from engine.protocol import GpuLayers


@dataclass(frozen=True, slots=True)
class Wish:
    """How one model file should be opened. ``exact``: compute so that every pass width rounds alike. ``undo``: tokens
    of a pass that will have to be taken back, see :class:`~engine.llama.context.Context`."""

    path: Path
    gpu_layers: GpuLayers
    context: int | None
    threads: int
    exact: bool
    undo: int = 0


@dataclass(slots=True)
class Opened:
    """A model and its context. ``notes``: what was done otherwise than wished, in words. Close it once."""

    model: Model
    context: Context
    notes: list[str]

    def close(self) -> None:
        self.context.close()
        self.model.close()


DEFAULT_CONTEXT = 8192
"""Tokens, when the user names no size; less where the model was trained for less."""


def open_model(
    wish: Wish,
    abort: AbortFlag,
    *,
    progress: Callable[[float], None] = lambda fraction: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Opened:
    """Load ``wish.path`` and make its context.

    With a GPU, an allocation that fails (weights or context) is tried again with fewer layers offloaded. Raises
    LoadError, ContextError or LoadCancelled.
    """
    attempts = offload_attempts(wish.gpu_layers, has_gpu=len(gpus()) > 0)
    failure: LoadError | ContextError | None = None
    for layers in attempts:
        try:
            model = Model(wish.path, gpu_layers=layers, repack=may_repack(wish), progress=progress, cancelled=cancelled)
        except LoadError as error:
            failure = failure or error
            continue
        try:
            context, notes = _make_context(model, wish, abort)
        except ContextError as error:
            model.close()
            failure = failure or error
            continue
        except LoadCancelled:
            model.close()
            raise
        if failure is not None:
            notes.insert(
                0,
                f"the GPU's memory did not hold {layer_words(attempts[0])} of {wish.path.name}; "
                f"{layer_words(layers)} offloaded",
            )
        if attempts == [0] and wish.gpu_layers not in ("auto", 0):
            notes.append("no GPU was found that layers could be offloaded to; the processor does all the work")
        return Opened(model, context, notes)
    assert failure is not None
    raise failure


def _make_context(model: Model, wish: Wish, abort: AbortFlag) -> tuple[Context, list[str]]:
    notes: list[str] = []
    size = wish.context or min(DEFAULT_CONTEXT, model.context_trained or DEFAULT_CONTEXT)
    if wish.context and 0 < model.context_trained < wish.context:
        notes.append(
            f"the context of {wish.context:,} tokens is larger than the {model.context_trained:,} "
            f"{model.path.name} was trained for; answers may degrade beyond that"
        )
    settings = cache_settings(wish.exact, model.gpu_layers)
    needed, free = model.cache_bytes(size), available_memory()
    if model.gpu_layers == 0 and free is not None and needed > free:
        # The kernel would grant it page by page until something is killed.
        raise ContextError(
            f"A context of {size:,} tokens for {model.path.name} needs about {size_words(needed)} of memory, and "
            f"{size_words(free)} are free. Choose a smaller context."
        )
    try:
        return _context(model, wish, size, settings, abort), notes
    except ContextError:
        if settings == FAST:
            raise
    # Some architectures have no flash attention, which unequal K and V types need.
    context = _context(model, wish, size, FAST, abort)
    notes.append(f"{model.path.name} does not support the exact settings; fast mode is used")
    return context, notes


def _context(model: Model, wish: Wish, size: int, settings: CacheSettings, abort: AbortFlag) -> Context:
    """The pair's context. Raises LoadCancelled when the abort flag is set."""
    try:
        return probed(model, size=size, threads=wish.threads, settings=settings, abort=abort, undo=wish.undo)
    except DecodeAborted:
        raise LoadCancelled from None


def probed(model: Model, *, size: int, threads: int, settings: CacheSettings, abort: AbortFlag, undo: int) -> Context:
    """A context, with what it can take back found out. Raises ContextError and DecodeAborted."""
    context = Context(model, size=size, threads=threads, settings=settings, abort=abort, undo=undo)
    try:
        probe(context)
    except (ContextError, DecodeAborted):
        context.close()
        raise
    return context


def may_repack(wish: Wish) -> bool:
    """Rewritten weights read prompts faster, but round differently from width to width; and where the build holds
    AMX instructions, some virtual machines list them and die of them (SIGILL), so there they are left alone."""
    return not wish.exact and "AMX" not in system_info()


def cache_settings(exact: bool, gpu_layers: int) -> CacheSettings:
    """The exact settings are for CPUs only: GPU back ends do not mix K and V types."""
    return EXACT if exact and gpu_layers == 0 else FAST
