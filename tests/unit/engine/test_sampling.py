"""The choice rule: a pure function of logits, settings, seed and position, and an exact sample."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.protocol import Sampling
from engine.sampling import Chooser, gumbel, random_seed, top_candidates

VOCABULARY = 512


def some_logits(seed: int, size: int = VOCABULARY) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 3, size).astype(np.float32)


def test_temperature_zero_is_arg_max() -> None:
    logits = some_logits(1)
    assert Chooser(VOCABULARY, Sampling(temperature=0), seed=7).choose(logits, 3) == int(logits.argmax())


@given(seed=st.integers(0, 2**63 - 1), position=st.integers(0, 10_000), other=st.integers(0, 10_000))
@settings(max_examples=50, deadline=None)
def test_a_choice_does_not_depend_on_the_choices_before_it(seed: int, position: int, other: int) -> None:
    logits = some_logits(2)
    fresh = Chooser(VOCABULARY, Sampling(temperature=0.9), seed)
    used = Chooser(VOCABULARY, Sampling(temperature=0.9), seed)
    used.choose(some_logits(3), other)
    assert fresh.choose(logits, position) == used.choose(logits, position)


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(temperature=1, top_k=0, top_p=1, min_p=0),
        Sampling(temperature=0.7, top_k=0, top_p=1, min_p=0),
        Sampling(temperature=1, top_k=4, top_p=1, min_p=0),
        Sampling(temperature=1, top_k=0, top_p=0.8, min_p=0),
        Sampling(temperature=1, top_k=0, top_p=1, min_p=0.2),
    ],
)
def test_choices_follow_the_filtered_distribution(sampling: Sampling) -> None:
    logits = np.array([2.0, 1.5, 1.0, 0.5, 0.0, -1.0, -2.0, -6.0], np.float32)
    draws = 20_000
    counts = np.zeros(8)
    for seed in range(20):
        chooser = Chooser(8, sampling, seed)
        for position in range(draws // 20):
            counts[chooser.choose(logits, position)] += 1

    expected = filtered(logits, sampling) * draws
    assert (counts[expected == 0] == 0).all()
    kept = expected > 0
    chi_square = (((counts - expected) ** 2)[kept] / expected[kept]).sum()
    assert chi_square < 35  # 7 degrees of freedom: exceeded once in 100,000 tries; the seeds are fixed


def filtered(logits: np.ndarray, sampling: Sampling) -> np.ndarray:
    """The textbook filters, written independently of llama.cpp."""
    kept = np.ones(len(logits), bool)
    order = np.argsort(-logits)
    if sampling.top_k:
        kept[order[sampling.top_k :]] = False
    p = np.where(kept, np.exp(logits), 0)
    p /= p.sum()
    if sampling.top_p < 1:
        before = np.cumsum(p[order]) - p[order]
        kept[order[before >= sampling.top_p]] = False
    if sampling.min_p:
        kept &= p >= sampling.min_p * p.max()
    scaled = np.where(kept, np.exp(logits / sampling.temperature), 0)
    return scaled / scaled.sum()


def test_positions_and_seeds_give_independent_noise() -> None:
    ids = np.arange(1000, dtype=np.int32)
    a, b, c = gumbel(1, 1, ids), gumbel(1, 2, ids), gumbel(2, 1, ids)
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.1
    assert abs(np.corrcoef(a, c)[0, 1]) < 0.1
    assert a.mean() == pytest.approx(0.5772, abs=0.15)  # Euler's constant
    assert a.std() == pytest.approx(1.2825, abs=0.15)  # pi / sqrt 6


def test_noise_is_frozen_for_all_time() -> None:
    """Stored receipts replay only while this hash stays what it is."""
    assert gumbel(42, 7, np.array([0, 1, 49_151], np.int32)).tolist() == pytest.approx(FROZEN, abs=0)


FROZEN = [2.710878097032698, -0.33913489313753975, 0.23697381457314637]


@given(seed=st.integers(0, 1000), top_k=st.integers(1, 50), size=st.integers(1, 40_000), ties=st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_candidate_bound_never_loses_one_of_the_top_k(seed: int, top_k: int, size: int, ties: bool) -> None:
    logits = some_logits(seed, size)
    if ties:
        logits = np.round(logits)
    ids = top_candidates(logits, top_k)
    if ids is None:
        return
    kth = np.sort(logits)[-top_k]
    assert set(np.flatnonzero(logits >= kth)) >= set(ids[logits[ids] >= kth])
    assert set(np.flatnonzero(logits > kth)) <= set(ids.tolist())
    assert (logits[ids] >= kth).sum() >= top_k


def test_suppressed_tokens_are_never_chosen() -> None:
    logits = some_logits(4)
    best = int(logits.argmax())
    for temperature in (0.0, 1.0):
        chooser = Chooser(VOCABULARY, Sampling(temperature=temperature), 1, suppressed=(best,))
        assert all(chooser.choose(logits, position) != best for position in range(200))
    assert logits[best] != -np.inf, "the caller's row is left as it was"


def test_random_seeds_differ_and_survive_json_numbers() -> None:
    seeds = {random_seed() for _ in range(100)}
    assert len(seeds) == 100
    assert max(seeds) < 2**53
