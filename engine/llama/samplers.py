"""llama.cpp's own sampler chain, used as a filter: it narrows the candidates; scaling and choosing are ours."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.llama.backend import library
from engine.protocol import Sampling

_CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])

_MIN_KEEP = 1

_NO_CHANCE = 87.0
"""exp(-87) is the end of float32: llama.cpp's typical link makes NaN of what lies lower (0 * log 0)."""


class FilterChain:
    """top_k, typical_p, top_p, min_p, in llama.cpp's order."""

    def __init__(self, sampling: Sampling, vocabulary_size: int) -> None:
        self._L = L = library()
        chain = L.llama_sampler_chain_init(L.llama_sampler_chain_default_params())
        self._chain: Any = chain
        self._typical = sampling.typical_p < 1
        if sampling.top_k > 0:
            L.llama_sampler_chain_add(chain, L.llama_sampler_init_top_k(sampling.top_k))
        if self._typical:
            L.llama_sampler_chain_add(chain, L.llama_sampler_init_typical(sampling.typical_p, _MIN_KEEP))
        if sampling.top_p < 1:
            L.llama_sampler_chain_add(chain, L.llama_sampler_init_top_p(sampling.top_p, _MIN_KEEP))
        if sampling.min_p > 0:
            L.llama_sampler_chain_add(chain, L.llama_sampler_init_min_p(sampling.min_p, _MIN_KEEP))
        self._candidates = np.zeros(vocabulary_size, _CANDIDATE)
        self._ids, self._logits = self._candidates["id"], self._candidates["logit"]
        self._array = L.llama_token_data_array(data=self._candidates.ctypes.data_as(L.llama_token_data_p))
        self._reference = ctypes.byref(self._array)
        self._apply = L.llama_sampler_apply

    def apply(
        self, ids: NDArray[np.signedinteger[Any]], logits: NDArray[np.float32]
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The surviving candidates (at least one goes in): their ids and logits, views valid until the next call."""
        if self._typical:
            likely = logits > logits.max() - _NO_CHANCE
            ids, logits = ids[likely], logits[likely]
        count = len(ids)
        self._ids[:count] = ids
        self._logits[:count] = logits
        array = self._array
        array.size, array.selected, array.sorted = count, -1, False
        self._apply(self._chain, self._reference)
        left = array.size
        return self._ids[:left], self._logits[:left]

    def close(self) -> None:
        """Free the chain."""
        if self._chain:
            self._L.llama_sampler_free(self._chain)
            self._chain = None

    def __del__(self) -> None:
        self.close()
