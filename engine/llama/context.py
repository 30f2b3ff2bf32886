"""A KV cache and the passes over it: one sequence, positions 0, 1, 2, ... without gaps."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.llama.backend import AbortFlag, forget_log, library, logits_address, recent_log
from engine.llama.checkpoints import Checkpoints
from engine.llama.model import Model
from engine.passes import PassLog
from engine.protocol import Rollback

Logits = NDArray[np.float32]

F16, BF16 = 1, 30  # enum ggml_type
FLASH_AUTO, FLASH_ON = -1, 1

PREFILL_CHUNK = 512
"""Most tokens evaluated at once; also the longest stretch during which a GPU (which ignores the abort flag) is deaf."""


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """How a context computes. ``exact``: every pass width rounds alike (engine.md section 0.1)."""

    flash_attention: int = FLASH_AUTO
    type_k: int = F16
    type_v: int = F16


EXACT = CacheSettings(FLASH_ON, F16, BF16)
"""Unequal K and V types keep attention on the kernel that all widths share (ggml-cpu ops.cpp, use_split_kv_path)."""

FAST = CacheSettings()

_MOST_VIEWS = 64


class ContextError(Exception):
    """A context could not be made, or a pass failed. One sentence; ``detail`` has the library's last log lines."""

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail


class BrokenLogits(ContextError):
    """The target's logits are no numbers to choose by: NaN, infinite, or all of them impossible."""

    def __init__(self) -> None:
        super().__init__(
            "The model calculated no usable figures for its next token (NaN or infinite), as damaged or badly "
            "converted files do. What arrived so far is kept; check the file, get it again, or choose another model."
        )


class DecodeAborted(Exception):
    """The abort flag was set while a pass ran. What the cache holds must be asked for (:attr:`Context.length`)."""


class Context:
    """One llama_context. ``length`` tokens are in the cache; :meth:`decode` appends, :meth:`truncate` takes back.

    Owned by one thread. Rows of logits are views into native memory, valid until the next pass.

    ``undo``: how many tokens of a pass it should be possible to take back where that costs memory for each of them
    (``n_rs_seq``: a running state for each). How far it really goes is asked of the library (:attr:`undo_limit`) and
    tried (:func:`engine.llama.rollback.probe`).
    """

    def __init__(
        self, model: Model, *, size: int, threads: int, settings: CacheSettings, abort: AbortFlag, undo: int = 0
    ) -> None:
        self._L = L = library()
        self.model, self.size, self.settings, self._abort = model, size, settings, abort
        params = L.llama_context_default_params()
        params.n_ctx = size
        params.n_batch = params.n_ubatch = min(PREFILL_CHUNK, size)
        params.n_seq_max = 1
        # The library asserts that a pass is larger than what it keeps of one (llama-batch.cpp, split_equal).
        params.n_rs_seq = max(0, min(undo, params.n_batch - 2))
        params.swa_full = True  # a ring of the window's size would forget the prefix that the next turn reuses
        params.n_threads = params.n_threads_batch = threads
        params.flash_attn_type = settings.flash_attention
        params.type_k, params.type_v = settings.type_k, settings.type_v
        params.offload_kqv = model.gpu_layers > 0
        params.abort_callback = abort.callback
        params.abort_callback_data = abort.data
        params.no_perf = True
        forget_log()
        self.handle: Any = L.llama_init_from_model(model.handle, params)
        if not self.handle:
            raise ContextError(f"No context of {size:,} tokens could be made for {model.path.name}.", recent_log())
        self.chunk: int = params.n_batch
        self._memory = L.llama_get_memory(self.handle)
        self._batch = L.llama_batch_init(self.chunk, 0, 1)
        for i in range(self.chunk):
            self._batch.n_seq_id[i] = 1
            self._batch.seq_id[i][0] = 0
        self._tokens = np.ctypeslib.as_array(self._batch.token, (self.chunk,))
        self._positions = np.ctypeslib.as_array(self._batch.pos, (self.chunk,))
        self._wants_logits = np.ctypeslib.as_array(self._batch.logits, (self.chunk,))
        self._counting = np.arange(size, dtype=np.int32)
        self._vocabulary_size = model.vocabulary.size
        self._logits_at = logits_address()
        self._views: dict[tuple[int, int], Logits] = {}
        self.length = 0
        self.passes = PassLog()
        """By which passes the cache was filled."""
        self.undo_limit: int = L.llama_n_rs_seq(self.handle)
        """Running states the library keeps of a pass: 0 where the architecture has none, or no support for it."""
        self._undo = 0
        """How many tokens can be taken back now: those of the last pass but its first, and only once. The library
        also accepts more and then continues from the states of an older pass."""
        self.rollback: Rollback = "bounded" if self.undo_limit else "full"
        self.checkpoints: Checkpoints | None = None

    @property
    def longest_undo(self) -> int | None:
        """How many tokens of a pass can be taken back; None: any number."""
        return {"full": None, "bounded": self.undo_limit, "none": 0}[self.rollback]

    def decode(self, tokens: Sequence[int], *, rows: int | None = None) -> Logits:
        """One pass over ``tokens`` behind what the cache holds.

        Returns the logits behind the last ``rows`` tokens (None: all of them), a view of shape (rows, vocabulary).
        Raises DecodeAborted when the abort flag cut the pass short, ContextError when it failed; :attr:`length` is
        true in every case.
        """
        count = len(tokens)
        rows = count if rows is None else rows
        if not 0 < count <= self.chunk or self.length + count > self.size:
            # More than n_batch would hit a GGML_ASSERT, which ends the process.
            raise ContextError(f"A pass of {count} tokens does not fit ({self.length} of {self.size} in use).")
        batch = self._batch
        batch.n_tokens = count
        self._tokens[:count] = tokens
        self._positions[:count] = self._counting[self.length : self.length + count]
        self._wants_logits[: count - rows] = False
        self._wants_logits[count - rows : count] = True
        code = self._L.llama_decode(self.handle, batch)
        if code == 0:
            if rows == 0 and self.model.gpu_layers > 0:
                self._L.llama_synchronize(self.handle)  # a GPU works on; else the next pass would be charged for it
            self.length += count
            self.passes.add(count)
            self._undo = min(count - 1, self.undo_limit)
            return self._rows(rows)
        if self.rollback == "full":
            self.passes.add(count)  # of a pass that was cut off, some tokens may be in the cache
            self.length = self._held()
            self.passes.cut(self.length)
        else:
            # A running state that a pass was cut off in belongs to no length, whatever the library says.
            self._return_to(self.length)
        if code == 2:
            raise DecodeAborted
        raise ContextError(f"A pass over {count} tokens failed (llama_decode returned {code}).", recent_log())

    def _rows(self, count: int) -> Logits:
        if count == 0:
            return np.empty((0, self._vocabulary_size), np.float32)
        # Making a view or a pointer takes 40 us each behind a pass that has emptied the caches, and the place is the
        # same every time.
        place = self._logits_at(self.handle)
        view = self._views.get((place, count))
        if view is None:
            pointer = ctypes.cast(place, ctypes.POINTER(ctypes.c_float))
            view = np.ctypeslib.as_array(pointer, (count, self._vocabulary_size))
            if len(self._views) > _MOST_VIEWS:
                self._views.clear()
            self._views[place, count] = view
        return view

    def truncate(self, length: int) -> bool:
        """Take back everything behind the first ``length`` tokens.

        False when this memory cannot stop right there. It then holds fewer tokens (:attr:`length`): those up to the
        last :meth:`mark` before, or none. The caller evaluates the rest anew.
        """
        if length >= self.length:
            return True
        if self._can_undo(self.length - length) and self._remove_behind(length):
            if self.checkpoints:
                self.checkpoints.forget_beyond(length)
            return True
        return self._return_to(length)

    def mark(self, *, every: int = 1, passing: bool = False) -> None:
        """Keep a copy of the state as it is now, for :meth:`truncate` to come back to; costs nothing where a tail of
        any length can be taken back. ``every``: not if the last mark is nearer than this many tokens. ``passing``:
        only until the next passing mark."""
        if self.checkpoints is not None:
            self.checkpoints.take(self.length, every=every, passing=passing)

    def use_threads(self, count: int) -> None:
        """Let the next passes be made by ``count`` threads."""
        self._L.llama_set_n_threads(self.handle, count, count)

    def clear(self) -> None:
        """Forget everything."""
        self._L.llama_memory_clear(self._memory, True)
        self.length = self._undo = 0
        self.passes.cut(0)
        if self.checkpoints:
            self.checkpoints.forget_beyond(0)

    def _can_undo(self, count: int) -> bool:
        return self.rollback == "full" or (self.rollback == "bounded" and count <= self._undo)

    def _remove_behind(self, length: int) -> bool:
        """Ask the library, and check what it did."""
        removed = self._L.llama_memory_seq_rm(self._memory, 0, length, -1)
        if not removed or self._held() != length:
            return False
        self.length, self._undo = length, 0
        self.passes.cut(length)
        return True

    def _return_to(self, length: int) -> bool:
        """The newest mark at or before ``length``, else empty; True when that is ``length`` itself."""
        found = self.checkpoints.restore(length) if self.checkpoints else 0
        # The running state is back; a hybrid's attention cells behind it still have to go.
        if not found or not self._remove_behind(found):
            self.clear()
        return self.length == length

    def _held(self) -> int:
        """Tokens in the cache as the library counts them."""
        return int(self._L.llama_memory_seq_pos_max(self._memory, 0)) + 1

    def close(self) -> None:
        """Free the context; before its model."""
        if self.handle:
            self._L.llama_batch_free(self._batch)
            self._L.llama_free(self.handle)
            self.handle = None
