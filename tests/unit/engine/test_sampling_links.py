"""Every link against a textbook version of it, and the whole chain against llama.cpp's own."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.llama.backend import library
from engine.llama.breakers import breakers_of
from engine.llama.model import Model
from engine.llama.samplers import FilterChain
from engine.llama.vocab import Vocabulary
from engine.noise import XTC, chance
from engine.protocol import Sampling
from engine.repetition import Dry, Penalties
from engine.sampling import Chooser, within_sigma, without_top_choices

OPEN = {"top_k": 0, "top_p": 1.0, "min_p": 0.0}
SIZE = 24


def some_logits(seed: int, size: int = SIZE) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 3, size).astype(np.float32)


texts = st.lists(st.integers(0, 5), max_size=40)


# --------------------------------------------------------------------------------------------------------- textbooks


@given(text=texts, last_n=st.sampled_from([-1, 1, 3, 10]), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_penalties_are_the_textbooks(text: list[int], last_n: int, seed: int) -> None:
    sampling = Sampling(repeat_penalty=1.3, frequency_penalty=0.2, presence_penalty=0.5, repeat_last_n=last_n)
    row, expected = some_logits(seed), some_logits(seed)
    window = text if last_n < 0 else text[-last_n:]
    for token in set(window):
        expected[token] = expected[token] / 1.3 if expected[token] > 0 else expected[token] * 1.3
        expected[token] -= 0.2 * window.count(token) + 0.5
    split = len(text) // 2
    penalties = Penalties(sampling, text[:split])
    for token in text[split:]:
        penalties.accept(token)
    penalties.apply(row)
    assert row == pytest.approx(expected, rel=1e-5)


@example(text=[1] * 20, last_n=5, allowed=1, breaker=None)
@given(
    text=st.lists(st.integers(0, 2), max_size=40),
    last_n=st.sampled_from([-1, 5, 12]),
    allowed=st.integers(1, 4),
    breaker=st.sampled_from([None, 2]),
)
@settings(max_examples=100, deadline=None)
def test_dry_is_the_textbooks(text: list[int], last_n: int, allowed: int, breaker: int | None) -> None:
    sampling = Sampling(dry_multiplier=0.8, dry_base=1.5, dry_allowed_length=allowed, dry_penalty_last_n=last_n)
    row = np.zeros(SIZE, np.float32)
    split = len(text) // 2
    dry = Dry(sampling, text[:split], {} if breaker is None else {breaker: ((),)})
    for token in text[split:]:
        dry.accept(token)
    dry.apply(row)
    assert row == pytest.approx(textbook_dry(text, last_n, allowed, breaker), rel=1e-5)


@example(text=[0, 1] * 30, allowed=100)
@given(text=texts, allowed=st.integers(5, 30))
@settings(max_examples=60, deadline=None)
def test_dry_that_allows_long_repetitions(text: list[int], allowed: int) -> None:
    text = [token % 2 for token in text] * 2
    sampling = Sampling(dry_multiplier=0.8, dry_base=1.5, dry_allowed_length=allowed)
    dry, row = Dry(sampling, text[:7], {}), np.zeros(SIZE, np.float32)
    for token in text[7:]:
        dry.accept(token)
    dry.apply(row)
    assert row == pytest.approx(textbook_dry(text, -1, allowed, None), rel=1e-5)


def textbook_dry(text: Sequence[int], last_n: int, allowed: int, breaker: int | None) -> np.ndarray:
    """For every earlier place: how many tokens up to it equal the end of the text, up to the last breaker?"""
    window = list(text if last_n < 0 else text[-last_n:])
    limit = window[::-1].index(breaker) if breaker in window else len(window)
    row = np.zeros(SIZE, np.float32)
    longest: dict[int, int] = {}
    for place in range(len(window) - 1):
        length = 0
        while length <= place and window[place - length] == window[-1 - length]:
            length += 1
        following = window[place + 1]
        longest[following] = max(longest.get(following, 0), min(length, limit))
    for token, length in longest.items():
        if length >= allowed and token != breaker and len(window) > allowed:
            row[token] -= 0.8 * 1.5 ** (length - allowed)
    return row


@given(text=texts, proposed=st.lists(st.integers(0, 5), max_size=8), last_n=st.sampled_from([-1, 1, 4]))
@settings(max_examples=60, deadline=None)
def test_tokens_taken_back_leave_no_trace(text: list[int], proposed: list[int], last_n: int) -> None:
    sampling = Sampling(
        repeat_penalty=1.3, frequency_penalty=0.1, dry_multiplier=1, repeat_last_n=last_n, dry_penalty_last_n=last_n
    )
    breakers = {4: ((),), 5: ((1,),)}
    for link in (Penalties(sampling, text), Dry(sampling, text, breakers)):
        after = some_logits(1)
        mark: Any = link.mark()
        for token in proposed:
            link.accept(token)
        link.take_back(mark)
        link.accept(2)
        longer, expected = [*text, 2], some_logits(1)
        fresh = Dry(sampling, longer, breakers) if isinstance(link, Dry) else Penalties(sampling, longer)
        fresh.apply(expected)
        link.apply(after)
        assert after == pytest.approx(expected, rel=1e-6)


def test_top_n_sigma_keeps_what_lies_near_the_largest() -> None:
    logits = np.array([5, 4, 3, 0, -1, -np.inf], np.float32)
    finite = logits[:5].astype(float)
    assert within_sigma(logits, 1.0).tolist() == [bool(x >= 5 - finite.std()) for x in finite] + [False]
    assert within_sigma(logits, 100.0).tolist() == [True] * 5 + [False]


def test_xtc_leaves_the_least_likely_of_the_top_choices() -> None:
    ids = np.arange(5, dtype=np.int32)
    logits = np.log(np.array([0.1, 0.4, 0.05, 0.3, 0.15], np.float32))
    for threshold, kept in [(0.5, {0, 1, 2, 3, 4}), (0.35, {0, 1, 2, 3, 4}), (0.29, {0, 2, 3, 4}), (0.12, {0, 2, 4})]:
        assert set(ids[without_top_choices(ids, logits, threshold)].tolist()) == kept, threshold


def test_xtc_is_drawn_from_seed_and_position_at_its_rate() -> None:
    logits = np.log(np.array([0.6, 0.3, 0.1], np.float32))
    chooser = Chooser(3, Sampling(temperature=0, xtc_probability=0.3, xtc_threshold=0.2, **OPEN), seed=5)
    choices = [chooser.choose(logits, position) for position in range(4000)]
    assert choices.count(1) / 4000 == pytest.approx(0.3, abs=0.03)
    assert set(choices) == {0, 1}
    assert choices[:50] == [1 if chance(5, position, XTC) <= 0.3 else 0 for position in range(50)]
    assert chance(42, 7, XTC) == pytest.approx(FROZEN_CHANCE, abs=0), "stored receipts replay only while this stays"


FROZEN_CHANCE = 0.7722345621091384


@pytest.mark.parametrize("p", [0.2, 0.5, 0.9])
def test_typical_keeps_what_is_as_surprising_as_expected(p: float) -> None:
    logits = some_logits(3)
    probabilities = np.exp(logits - logits.max())
    probabilities /= probabilities.sum()
    surprise = -np.log(probabilities)
    order = np.argsort(abs(surprise - (probabilities * surprise).sum()))
    count = int((np.cumsum(probabilities[order]) <= p).sum()) + 1
    ids, _ = FilterChain(Sampling(typical_p=p, **OPEN), SIZE).apply(np.arange(SIZE, dtype=np.int32), logits)
    assert set(ids.tolist()) == set(order[:count].tolist())


def test_typical_stands_logits_that_are_far_apart() -> None:
    """llama.cpp's own link makes NaN of them."""
    logits = np.array([0, 0, -500, -1000], np.float32)
    ids, _ = FilterChain(Sampling(typical_p=0.4, **OPEN), 4).apply(np.arange(4, dtype=np.int32), logits)
    assert set(ids.tolist()) <= {0, 1}


def test_temperature_zero_takes_the_largest_logit_behind_bias_penalties_and_dry() -> None:
    logits = np.array([3.0, 2.9, 2.8, 0.0], np.float32)
    assert Chooser(4, Sampling(temperature=0, logit_bias={3: 5}), 1).choose(logits, 9) == 3
    assert Chooser(4, Sampling(temperature=0, logit_bias={0: -1000, 99: 7}), 1).choose(logits, 9) == 1
    assert Chooser(4, Sampling(temperature=0, repeat_penalty=2), 1, prompt=[0, 1]).choose(logits, 9) == 2
    assert Chooser(4, Sampling(temperature=0, dry_multiplier=1), 1, prompt=[1, 2, 0, 1, 2]).choose(logits, 9) == 1
    assert logits.tolist() == pytest.approx([3.0, 2.9, 2.8, 0.0])


def test_a_temperature_near_zero_is_arg_max_too() -> None:
    logits = some_logits(8)
    for temperature in (1e-6, 1e-40, 1e-300):
        assert Chooser(SIZE, Sampling(temperature=temperature, **OPEN), 1).choose(logits, 3) == logits.argmax()


def test_broken_logits_choose_something_and_end_nothing() -> None:
    for value in (np.nan, -np.inf):
        row = np.full(SIZE, value, np.float32)
        for sampling in (Sampling(repeat_penalty=2), Sampling(top_n_sigma=1), Sampling(temperature=0)):
            assert 0 <= Chooser(SIZE, sampling, 1, prompt=[1]).choose(row, 1) < SIZE


# ----------------------------------------------------------------------------------------------------- llama.cpp's own


@pytest.fixture(scope="module")
def vocabulary(random_model: Path) -> Iterator[Vocabulary]:
    model = Model(random_model)
    yield model.vocabulary
    model.close()


class Oracle:
    """llama.cpp's chain of common_sampler_init (common/sampling.cpp) but for XTC and the random link."""

    def __init__(self, vocabulary: Vocabulary, sampling: Sampling, text: Sequence[int]) -> None:
        self.L = L = library()
        s, n = sampling, vocabulary.size
        self._chain = L.llama_sampler_chain_init(L.llama_sampler_chain_default_params())
        bias = (L.llama_logit_bias * max(1, len(s.logit_bias)))()
        for item, (token, value) in zip(bias, s.logit_bias.items(), strict=False):
            item.token, item.bias = token, value
        breakers = (ctypes.c_char_p * len(s.dry_sequence_breakers))(*[b.encode() for b in s.dry_sequence_breakers])
        whole = 100_000
        for link in (
            L.llama_sampler_init_logit_bias(n, len(s.logit_bias), bias),
            L.llama_sampler_init_penalties(
                n,
                whole if s.repeat_last_n < 0 else s.repeat_last_n,
                s.repeat_penalty,
                s.frequency_penalty,
                s.presence_penalty,
            ),
            L.llama_sampler_init_dry(
                vocabulary.handle,
                s.dry_multiplier,
                s.dry_base,
                s.dry_allowed_length,
                whole if s.dry_penalty_last_n < 0 else s.dry_penalty_last_n,
                ctypes.cast(breakers, ctypes.POINTER(ctypes.c_char_p)),
                len(breakers),
            ),
            L.llama_sampler_init_top_n_sigma(s.top_n_sigma),
            L.llama_sampler_init_top_k(s.top_k),
            L.llama_sampler_init_typical(s.typical_p, 1),
            L.llama_sampler_init_top_p(s.top_p, 1),
            L.llama_sampler_init_min_p(s.min_p, 1),
        ):
            L.llama_sampler_chain_add(self._chain, link)
        for token in text:
            L.llama_sampler_accept(self._chain, token)

    def apply(self, logits: np.ndarray) -> dict[int, float]:
        data = (self.L.llama_token_data * len(logits))()
        for i, value in enumerate(logits.tolist()):
            data[i].id, data[i].logit = i, value
        array = self.L.llama_token_data_array(data, len(logits), -1, False)
        self.L.llama_sampler_apply(self._chain, ctypes.byref(array))
        kept = {array.data[i].id: array.data[i].logit for i in range(array.size)}
        self.L.llama_sampler_free(self._chain)
        return {token: value for token, value in kept.items() if value != -np.inf}


def ours(vocabulary: Vocabulary, sampling: Sampling, prompt: Sequence[int], answer: Sequence[int], logits: np.ndarray):
    breakers = breakers_of(vocabulary, sampling.dry_sequence_breakers)
    chooser = Chooser(vocabulary.size, sampling, 1, prompt=prompt, breakers=breakers)
    with chooser.proposing([*prompt, *answer, 9, 9, 8]):
        pass  # a used and reset one must be as good as a fresh one
    chooser = Chooser(vocabulary.size, sampling, 1, prompt=prompt, breakers=breakers)
    for token in answer:
        chooser.accept(token)
    seen: list[dict[int, float]] = []
    chain = chooser._chain
    assert chain is not None
    apply = chain.apply

    def watched(ids: Any, values: Any) -> Any:
        kept, left = apply(ids, values)
        seen.append(dict(zip(kept.tolist(), left.tolist(), strict=True)))
        return kept, left

    chain.apply = watched  # type: ignore[method-assign]
    chooser.choose(logits, len(prompt) + len(answer))
    return seen[0]


def some_sampling(random: np.random.Generator, size: int) -> Sampling:
    def maybe(value: float, off: float) -> float:
        return value if random.random() < 0.5 else off

    sigma = maybe(round(random.uniform(0.5, 2), 2), 0)
    return Sampling(
        temperature=1,
        top_k=int(maybe(random.integers(1, 60), 0)),
        top_p=maybe(0.8, 1),
        min_p=maybe(0.02, 0),
        typical_p=1 if sigma else maybe(0.7, 1),  # both: llama.cpp makes NaN of the candidates sigma left out
        top_n_sigma=sigma,
        repeat_penalty=maybe(1.4, 1),
        repeat_last_n=int(random.choice([-1, 0, 5, 64])),
        frequency_penalty=maybe(0.3, 0),
        presence_penalty=maybe(-0.2, 0),
        dry_multiplier=maybe(0.8, 0),
        dry_allowed_length=int(random.integers(1, 4)),
        dry_penalty_last_n=int(random.choice([-1, 7, 40])),
        dry_sequence_breakers=(" the", "s", "up", "w use", "of")[: int(random.integers(0, 6))],
        logit_bias={int(token): float(random.normal(0, 4)) for token in random.integers(0, size, 3)},
    )


@pytest.mark.parametrize("seed", range(80))
def test_the_chain_leaves_what_llama_cpps_leaves(vocabulary: Vocabulary, seed: int) -> None:
    random = np.random.default_rng(seed)
    sampling = some_sampling(random, vocabulary.size)
    few = random.integers(vocabulary.size - 40, vocabulary.size, 6)  # pieces of text; few, so that they repeat
    text = [int(few[i]) for i in random.integers(0, len(few), int(random.integers(0, 60)))]
    logits = random.normal(0, 3, vocabulary.size).astype(np.float32)
    split = int(random.integers(0, len(text) + 1))
    expected = Oracle(vocabulary, sampling, text).apply(logits)
    found = ours(vocabulary, sampling, text[:split], text[split:], logits)
    assert set(found) == set(expected)
    assert [found[token] for token in expected] == pytest.approx(list(expected.values()), rel=1e-4, abs=1e-4)


def test_breakers_are_found_inside_tokens_and_across_them(vocabulary: Vocabulary) -> None:
    found = breakers_of(vocabulary, ["the", "w use", ""])
    inside = [token for token, tails in found.items() if () in tails]
    assert inside
    assert all(b"the" in vocabulary.words[token] for token in inside)
    ends_in_w = next(token for token, word in enumerate(vocabulary.words) if word == b"w")
    assert found[ends_in_w] == (tuple(vocabulary.tokenize(" use", parse_special=False)),)
