"""Choices take fewer calls than they once did, and are the same bit for bit: receipts of then still replay."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.llama.backend import library
from engine.llama.samplers import FilterChain
from engine.noise import gumbel
from engine.protocol import Sampling
from engine.sampling import Chooser

BLOCK = 64
CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])


def choose_as_it_was(logits: np.ndarray, sampling: Sampling, seed: int, position: int) -> tuple[int, list[int], bytes]:
    """The token, the candidates that were left and the bits of what they were chosen by."""
    ids = np.arange(len(logits), dtype=np.int32)
    blocks = len(logits) // BLOCK
    if sampling.top_k > 0 and 4 * sampling.top_k <= blocks:
        maxima = np.maximum.reduce(logits[: blocks * BLOCK].reshape(BLOCK, blocks), axis=0)
        maxima.partition(blocks - sampling.top_k)
        ids = (logits >= maxima[blocks - sampling.top_k]).nonzero()[0].astype(np.int32)
    values = logits[ids]
    if not len(ids) or not -np.inf < values.max() < np.inf:
        return int(logits.argmax()), [], b""
    ids, values = filtered_as_it_was(ids, values, sampling)
    if len(ids) == 1:
        return int(ids[0]), ids.tolist(), values.tobytes()
    scores = values / np.float64(sampling.temperature) + gumbel(seed, position, ids)
    return int(ids[scores.argmax()]), ids.tolist(), scores.tobytes()


def filtered_as_it_was(ids: np.ndarray, values: np.ndarray, sampling: Sampling) -> tuple[np.ndarray, np.ndarray]:
    """llama.cpp's links over an array that is made anew."""
    L, chain = library(), FilterChain(sampling, len(ids))
    candidates = np.zeros(len(ids), CANDIDATE)
    candidates["id"], candidates["logit"] = ids, values
    array = L.llama_token_data_array()
    array.data = candidates.ctypes.data_as(L.llama_token_data_p)
    array.size, array.selected, array.sorted = len(ids), -1, False
    L.llama_sampler_apply(chain._chain, ctypes.byref(array))
    left = candidates[: array.size]
    return left["id"].copy(), left["logit"].copy()


CHAINS = {
    "default": Sampling(temperature=0.8),
    "many": Sampling(temperature=1.5, top_k=100, top_p=1, min_p=0),
    "one": Sampling(temperature=0.8, top_k=1),
    "cold": Sampling(temperature=1e-40),
    "all": Sampling(temperature=0.8, top_k=0, top_p=1, min_p=0),
    "top-p": Sampling(temperature=0.8, top_k=0, top_p=0.9, min_p=0),
}


def some_row(draw: np.random.Generator, size: int, kind: str) -> np.ndarray:
    row = (draw.normal(0, 2.5, size) ** 3 / 4).astype(np.float32)
    if kind == "ties":
        row = np.round(row)
    elif kind == "flat":
        row[:] = 0
    elif kind == "impossible":
        row[draw.random(size) < 0.9] = -np.inf
    elif kind in ("nan", "inf"):
        row[draw.integers(0, size, 3)] = float(kind)
    return row


@pytest.mark.parametrize("chain", CHAINS)
@given(
    seed=st.integers(0, 2**63 - 1),
    position=st.integers(0, 100_000),
    size=st.sampled_from([1, 63, 500, 10_240, 10_303, 49_152]),
    kind=st.sampled_from(["usual", "usual", "ties", "flat", "impossible", "nan", "inf"]),
)
@settings(max_examples=60, deadline=None)
def test_the_choice_is_bit_for_bit_what_it_was(chain: str, seed: int, position: int, size: int, kind: str) -> None:
    sampling, draw = CHAINS[chain], np.random.default_rng([seed, position])
    chooser = Chooser(size, sampling, seed)
    for place in range(position, position + 3):  # one after the other: nothing of the last one is left over
        row = some_row(draw, size, kind)
        token, ids, scores = choose_as_it_was(row, sampling, seed, place)
        found, by = chooser._scores(row, None, place)
        assert (found.tolist(), by.tobytes()) == (ids, scores)
        assert chooser.choose(row, place) == token
