"""The self-test in the engine: badge, drafts and settings follow what was found, and it is kept."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine import generation
from engine.client import EngineClient
from engine.llama.backend import library
from engine.machine import usable_cores
from engine.profile import Profile, ProfileStore
from engine.protocol import (
    ErrorCode,
    Failed,
    Finished,
    GenerateSettings,
    Load,
    Loaded,
    LoadSettings,
    Message,
    ModelFile,
    PairChanged,
    PairInfo,
    Sampling,
    SelfTest,
    SelfTested,
    SelfTestResult,
    SpeculationMode,
)
from engine.selftest import fewer_threads
from engine.session import Session
from engine.step_back import StepBack
from tests.engine.conftest import Driver
from tests.fixtures.scripted import Script

LETTERS = [f"{letter}{number} " for number in range(4) for letter in "abcdefghij"]


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Driver]:
    """A driver whose engine keeps profiles."""
    driver = Driver()
    driver.session = Session(ProfileStore(tmp_path))
    yield driver
    driver.session.unload()


def found(widths: int, *, prefill: bool = True) -> SelfTestResult:
    return SelfTestResult(
        widths=widths,
        prefill=prefill,
        reuse=True,
        context=538,
        ratios={2: 1.5},
        plain_seconds=0.01,
        prefill_tokens_per_second=100,
        fast_plain_seconds=0.009,
        fast_prefill_tokens_per_second=120,
    )


def plant(driver: Driver, path: Path, result: SelfTestResult) -> PairInfo:
    """Load once, keep ``result`` as what an earlier run found, and load anew."""
    driver.load(path, context=256)
    pair = driver.session.pair
    assert pair is not None
    store = driver.session._profiles
    assert store is not None
    store.save(Profile(selftest=result), *pair._selftest_key())
    driver.session.unload()
    return driver.load(path, context=256)


def test_the_real_model_is_tested_and_the_result_is_kept(kept: Driver, smol_path: Path) -> None:
    pair = kept.load(smol_path, context=256)
    assert pair.badge == "exact settings, untested"
    kept.session.self_test(SelfTest(id=9), kept.events.append)
    done = kept.events[-1]
    assert isinstance(done, SelfTested)
    assert done.result.prefill
    assert done.result.reuse
    assert done.result.widths >= 8
    assert done.result.threads == tuple(fewer_threads(kept.session.pair.threads if kept.session.pair else 0))
    assert isinstance(kept.events[-2], PairChanged)
    assert kept.events[-2].pair.badge == "exact"
    answer = kept.ask("hello", speculation="lookup", max_tokens=2, draft_max=30)
    assert answer.receipt is not None
    assert answer.receipt.mode == "exact"
    assert answer.receipt.draft_max == done.result.widths - 1
    kept.session.unload()
    again = kept.load(smol_path, context=256)
    assert again.badge == "exact"
    assert again.exactness == done.result


def test_a_target_that_is_not_exact_here_runs_fast_and_says_why(kept: Driver, scripted: Callable[..., Script]) -> None:
    script = scripted(LETTERS)
    pair = plant(kept, script.path, found(widths=16, prefill=False))
    assert pair.badge == "fast"
    assert any("the mode is fast: reading a prompt rounds differently" in note for note in pair.notes)
    answer = kept.ask("hello", speculation="lookup", draft_max=12, max_tokens=3)
    assert answer.receipt is not None
    assert answer.receipt.mode == "fast"
    assert answer.receipt.draft_max == 12


def test_a_draft_never_widens_a_pass_beyond_what_was_found(kept: Driver, scripted: Callable[..., Script]) -> None:
    script = scripted(LETTERS, loop_to=0)
    plant(kept, script.path, found(widths=5))
    for mode in ("lookup", "auto"):
        answer = kept.ask("hello", speculation=mode, max_tokens=120, draft_max=10)
        assert max(answer.stats.pass_widths) <= 5
        assert answer.receipt is not None
        assert any("exact mode allows 4" in note for note in answer.receipt.notes)


def test_the_test_of_a_missing_model_is_refused(kept: Driver) -> None:
    kept.session.self_test(SelfTest(id=1), kept.events.append)
    failed = kept.failure()
    assert failed.code is ErrorCode.NO_MODEL


@pytest.mark.parametrize("kind", ["lfm2", "lfm2-swa", "qwen35", "gemma3"])
def test_a_model_that_takes_back_little_is_tested_all_the_same(
    kept: Driver, kind_model: Callable[..., Path], kind: str
) -> None:
    """By copies of its state; the answers before and after are the same, whatever the test has read."""
    pair = kept.load(kind_model(kind), context=256)
    assert pair.badge == "exact settings, untested"
    before = kept.ask("hello", speculation="lookup", max_tokens=24)
    kept.session.self_test(SelfTest(id=9), kept.events.append)
    done = kept.events[-1]
    assert isinstance(done, SelfTested), done
    assert done.result.exact
    assert done.result.widths >= 8
    after = kept.ask("hello", speculation="lookup", max_tokens=24)
    assert after.token_ids == before.token_ids
    assert after.receipt is not None
    assert after.receipt.mode == "exact"


def test_a_model_that_drafts_are_not_made_for_is_not_tested_and_says_what_that_means(
    kept: Driver, kind_model: Callable[..., Path]
) -> None:
    kept.load(kind_model("mamba"), context=256)
    kept.session.self_test(SelfTest(id=9), kept.events.append)
    assert kept.failure().message == (
        "This model keeps one running state and is decoded plainly: there are no drafts that a self-test could compare "
        "with plain decoding."
    )
    assert kept.session.idle_work() is None


def test_a_model_whose_state_cannot_be_copied_is_not_tested_and_says_what_that_means(
    kept: Driver, kind_model: Callable[..., Path]
) -> None:
    kept.load(kind_model("lfm2"), context=256)
    assert kept.session.pair is not None
    kept.session.pair.target.context.checkpoints = None
    kept.session.self_test(SelfTest(id=9), kept.events.append)
    assert kept.failure().message == (
        "This model's running states cannot be copied, so the self-test has no way back and cannot judge it. Drafts "
        "are verified with the exact settings all the same, untested."
    )


def test_a_cancelled_test_claims_nothing(kept: Driver, scripted: Callable[..., Script]) -> None:
    kept.load(scripted(LETTERS).path, context=256)
    kept.session.abort.set()
    kept.session.self_test(SelfTest(id=1), kept.events.append)
    assert kept.failure().code is ErrorCode.CANCELLED
    assert kept.session.pair is not None
    assert kept.session.pair.tested is None


async def test_the_engine_tests_itself_after_the_first_answer_and_never_makes_one_wait(
    tmp_path: Path, scripted: Callable[..., Script]
) -> None:
    client = EngineClient(tmp_path / "engine.log", cache=tmp_path / "cache")
    client.wanted = LoadSettings(target=ModelFile(path=str(scripted(LETTERS).path)), context=256)
    changed = asyncio.Event()
    client.on_pair_change = lambda pair: changed.set()
    settings = GenerateSettings(messages=(Message(role="user", content="hello"),), sampling=Sampling(temperature=0))
    try:
        for _ in range(6):  # requests in quick succession cut it short and are answered
            async with contextlib.aclosing(client.generate(settings)) as events:
                last = [event async for event in events][-1]
            assert isinstance(last, Finished)
            assert last.finish_reason == "stop"
        async with asyncio.timeout(60):
            await changed.wait()
        assert client.pair is not None
        assert client.pair.badge == "exact"
        again = await client.self_test()
        assert isinstance(again, SelfTested)
    finally:
        await client.close()
    second = EngineClient(tmp_path / "other.log", cache=tmp_path / "cache")
    try:
        async with contextlib.aclosing(second.load(client.wanted)) as loading:
            loaded = [event async for event in loading][-1]
        assert isinstance(loaded, Loaded)
        assert loaded.pair.badge == "exact"
    finally:
        await second.close()


def test_profiles_are_a_help_and_never_a_must(tmp_path: Path) -> None:
    store = ProfileStore(tmp_path)
    store.save(Profile(selftest=found(7)), "key", 1)
    assert store.load("key", 1).selftest == found(7)
    assert store.load("key", 2) == Profile()
    (damaged,) = tmp_path.glob("*.json")
    damaged.write_text("{")
    assert store.load("key", 1) == Profile()
    blocked = ProfileStore(tmp_path / "file" / "below")
    (tmp_path / "file").write_text("")
    blocked.save(Profile(), "key")
    assert blocked.load("key") == Profile()
    assert ProfileStore().load("key") == Profile()
    assert list(tmp_path.glob("*.part")) == []


def test_a_load_request_says_what_is_known(kept: Driver, scripted: Callable[..., Script]) -> None:
    events: list[object] = []
    settings = LoadSettings(target=ModelFile(path=str(scripted(LETTERS).path)), mode="fast", context=128)
    kept.session.load(Load(id=4, settings=settings), events.append)
    assert isinstance(events[-1], Loaded)
    assert events[-1].pair.badge == "fast"
    assert events[-1].pair.notes == ()
    assert not isinstance(events[-1], Failed)


@pytest.mark.parametrize("speculation", ["off", "auto"])
def test_an_answer_with_fewer_threads_for_a_while_is_the_same(
    kept: Driver, smol_path: Path, noise_draft: Path, monkeypatch: pytest.MonkeyPatch, speculation: SpeculationMode
) -> None:
    """Others come and go with every pass."""
    full, _ = usable_cores()
    plant(kept, smol_path, found(widths=8).model_copy(update={"threads": tuple(fewer_threads(full))}))
    kept.load(smol_path, noise_draft, context=256)
    pair = kept.session.pair
    assert pair is not None
    before = kept.ask("tell me of clocks", speculation=speculation, temperature=0.8, max_tokens=40, seed=7)
    others = itertools.cycle([float(full), 0.0])
    used: list[int] = []

    class Coming:
        def cores(self) -> float:
            used.append(library().llama_n_threads(pair.target.context.handle))
            return next(others)

    monkeypatch.setattr(
        generation, "StepBack", functools.partial(StepBack, look=Coming, clock=itertools.count(step=10).__next__)
    )
    kept.session.forget()
    again = kept.ask("tell me of clocks", speculation=speculation, temperature=0.8, max_tokens=40, seed=7)
    assert again.receipt is not None
    assert again.token_ids == before.token_ids
    if full > 1:
        assert {1, full} <= set(used)
        assert any(f"beside other programs 1 of {full} threads made" in note for note in again.receipt.notes)
    assert library().llama_n_threads(pair.target.context.handle) == full


def test_fewer_threads_are_only_used_where_they_were_found_to_round_alike(kept: Driver, smol_path: Path) -> None:
    pair = kept.load(smol_path, context=256)
    loaded = kept.session.pair
    assert loaded is not None
    assert pair.badge == "exact settings, untested"
    assert loaded.exactness.fewer_threads == ()
    kept.session.unload()
    plant(kept, smol_path, found(widths=8).model_copy(update={"threads": (1,)}))
    assert kept.session.pair is not None
    assert kept.session.pair.exactness.fewer_threads == (1,)
    kept.session.unload()
    plant(kept, smol_path, found(widths=8, prefill=False).model_copy(update={"threads": (1,)}))
    assert kept.session.pair.exactness.fewer_threads == ()


@pytest.mark.parametrize(("others", "adopted"), [(None, True), (0.1, True), (0.9, False)])
def test_times_measured_beside_others_are_not_believed(
    kept: Driver, smol_path: Path, others: float | None, adopted: bool
) -> None:
    plant(kept, smol_path, found(widths=8).model_copy(update={"ratios": {2: 7.5}, "other_cores": others}))
    assert kept.session.pair is not None
    assert (kept.session.pair.pacer.cost.ratio(2) == 7.5) is adopted
