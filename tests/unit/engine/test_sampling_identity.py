"""Promise 2 for every sampler, on a model made of arithmetic: whoever drafts, the same tokens come out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.counting import Counter
from engine.drafters.base import Drafter, NoDrafter
from engine.drafters.lookup import LookupDrafter
from engine.drafters.model import ModelDrafter
from engine.grammar.gbnf import parse_gbnf
from engine.grammar.tokens import Constraint, TokenTexts
from engine.protocol import Sampling
from engine.sampling import Chooser
from engine.speculate import speculate
from engine.stats import Stats
from tests.unit.engine.test_speculate import END, VOCABULARY, ArithmeticTarget, Collector

PROMPT = [3, 1, 4, 1, 5, 3, 1, 4]
BREAKERS = {7: ((),), 2: ((5,),)}
PIECES = [b"%c" % (ord("a") + token) for token in range(END)] + [b""]
GRAMMAR = parse_gbnf('root ::= ([a-h] | "i" [a-p] "k")* ("lm" root "n" | "p" [b-d]{2,4})')
OPEN: dict[str, Any] = {"top_k": 0, "top_p": 1, "min_p": 0}
TOKENS = 40


class ArithmeticDraft(ArithmeticTarget):
    """Nearly the same model: right often enough to be accepted, wrong often enough to be corrected."""

    chunk = 512

    def __init__(self, noise: float = 0.7) -> None:
        super().__init__()
        self._noise = noise

    def mark(self, **_: object) -> None:
        """A memory that can take back anything keeps no copies."""

    def decode(self, tokens: Sequence[int], *, rows: int | None = None) -> np.ndarray:
        out = super().decode(tokens)
        noise = np.random.default_rng(len(self.tokens)).normal(0, self._noise, out.shape).astype(np.float32)
        return (out + noise)[len(tokens) - (len(tokens) if rows is None else rows) :]


def chooser(sampling: Sampling, seed: int, grammar: bool) -> Chooser:
    texts = TokenTexts(VOCABULARY, lambda token: PIECES[token], [END])
    constraint = Constraint(GRAMMAR, texts) if grammar else None
    return Chooser(
        VOCABULARY, sampling, seed, (11,), prompt=PROMPT, breakers=BREAKERS, constraint=constraint, ends=[END]
    )


def model_drafter(sampling: Sampling, seed: int, grammar: bool, noise: float = 0.7) -> ModelDrafter:
    context: Any = ArithmeticDraft(noise)
    drafter = ModelDrafter(context, shared_vocabulary=VOCABULARY, is_end=lambda token: token == END)
    drafter.use(chooser(sampling, seed, grammar))
    return drafter


def answer(kind: str, sampling: Sampling, seed: int, grammar: bool, draft_max: int = 4) -> tuple[list[int], Stats]:
    drafters: dict[str, Drafter] = {"off": NoDrafter(), "lookup": LookupDrafter()}
    drafter = drafters.get(kind) or model_drafter(sampling, seed, grammar)
    target, history, sink, counter = ArithmeticTarget(), list(PROMPT), Collector(TOKENS), Counter()
    target.decode(history[:-1])
    drafter.begin(history)
    speculate(
        target,  # type: ignore[arg-type]
        drafter,
        chooser(sampling, seed, grammar),
        history,
        sink=sink,
        draft_limit=lambda length: min(draft_max, TOKENS - len(sink.tokens) - 1),
        counter=counter,
        cancelled=lambda: False,
        after_pass=lambda: None,
    )
    counter.prefill_end = counter.arrived
    return sink.tokens, counter.snapshot()


SAMPLINGS = {
    "repeat": Sampling(repeat_penalty=1.3),
    "frequency and presence": Sampling(frequency_penalty=0.4, presence_penalty=0.3, repeat_last_n=-1, **OPEN),
    "short memory": Sampling(repeat_penalty=1.5, repeat_last_n=3, **OPEN),
    "dry": Sampling(dry_multiplier=2, dry_allowed_length=1, **OPEN),
    "dry, short memory": Sampling(dry_multiplier=2, dry_allowed_length=1, dry_penalty_last_n=6, **OPEN),
    "xtc": Sampling(xtc_probability=0.5, xtc_threshold=0.1),
    "typical": Sampling(typical_p=0.8, **OPEN),
    "top n sigma": Sampling(top_n_sigma=1.0, **OPEN),
    "bias": Sampling(logit_bias={3: 4.0, 5: -1000.0}),
    "all": Sampling(
        top_k=12,
        top_p=0.97,
        min_p=0.01,
        typical_p=0.95,
        top_n_sigma=2,
        repeat_penalty=1.2,
        frequency_penalty=0.1,
        dry_multiplier=1,
        xtc_probability=0.3,
        logit_bias={2: 1.0},
    ),
}


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("grammar", [False, True])
@pytest.mark.parametrize("name", SAMPLINGS)
def test_any_sampler_gives_the_same_answer_with_any_drafter(name: str, grammar: bool, temperature: float) -> None:
    sampling = SAMPLINGS[name].model_copy(update={"temperature": temperature})
    for seed in range(3):
        plain, _ = answer("off", sampling, seed, grammar)
        assert 11 not in plain
        if grammar:
            followed(plain)
        for kind, draft_max in [("lookup", 3), ("draft", 1), ("draft", 3), ("draft", 8)]:
            tokens, stats = answer(kind, sampling, seed, grammar, draft_max)
            assert tokens == plain, (kind, draft_max, seed)
            if kind == "draft" and len(plain) > 10:
                assert stats.accepted > 0


def followed(tokens: Sequence[int]) -> None:
    constraint = Constraint(GRAMMAR, TokenTexts(VOCABULARY, lambda token: PIECES[token], [END]))
    for token in tokens:
        assert constraint.allows(token)
        constraint.accept(token)


@given(
    seed=st.integers(0, 10_000),
    repeat=st.sampled_from([1.0, 1.3]),
    frequency=st.sampled_from([0.0, 0.5]),
    dry=st.sampled_from([0.0, 1.0]),
    xtc=st.sampled_from([0.0, 0.4]),
    last_n=st.sampled_from([-1, 4, 64]),
    top_k=st.sampled_from([0, 5]),
    grammar=st.booleans(),
    draft_max=st.integers(1, 9),
)
@settings(max_examples=60, deadline=None)
def test_any_mix_of_samplers_gives_the_same_answer(
    seed: int,
    repeat: float,
    frequency: float,
    dry: float,
    xtc: float,
    last_n: int,
    top_k: int,
    grammar: bool,
    draft_max: int,
) -> None:
    sampling = Sampling(
        temperature=1.1,
        top_k=top_k,
        repeat_penalty=repeat,
        frequency_penalty=frequency,
        dry_multiplier=dry,
        xtc_probability=xtc,
        repeat_last_n=last_n,
        dry_penalty_last_n=last_n,
    )
    plain, _ = answer("off", sampling, seed, grammar)
    for kind in ("lookup", "draft"):
        assert answer(kind, sampling, seed, grammar, draft_max)[0] == plain


@pytest.mark.parametrize("name", [name for name in SAMPLINGS if name != "all"])
def test_every_sampler_changes_something(name: str) -> None:
    sampling = SAMPLINGS[name]
    off = Sampling(top_k=sampling.top_k, top_p=sampling.top_p, min_p=sampling.min_p)
    assert any(answer("off", sampling, seed, False)[0] != answer("off", off, seed, False)[0] for seed in range(6))


@pytest.mark.parametrize("kind", ["off", "lookup", "draft"])
def test_the_chooser_is_told_every_emitted_token_in_order_once(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[list[int]] = []

    class Watched(Chooser):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.told: list[int] = []
            told.append(self.told)

        def accept(self, token: int) -> None:
            super().accept(token)
            self.told.append(token)

    monkeypatch.setitem(globals(), "Chooser", Watched)
    tokens, _ = answer(kind, SAMPLINGS["all"], 2, False)
    assert told[-1] == tokens  # the target's chooser is made last


def test_a_self_draft_proposes_what_the_target_will_choose() -> None:
    """Its penalties and grammar see what it proposes itself, and forget what was not accepted."""
    seed, plain = next(
        (seed, tokens) for seed in range(50) if len(tokens := answer("off", SAMPLINGS["all"], seed, True)[0]) > 15
    )
    drafter = model_drafter(SAMPLINGS["all"], seed, True, noise=0)
    drafter.begin(PROMPT)
    for i in range(len(plain) - 4):
        assert list(drafter.draft([*PROMPT, *plain[:i]], 4).tokens) == plain[i : i + 4]
