"""Costs of pairs from the engine's own profiles."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from app.library.facts import FactStore
from app.library.local import LocalModel, LocalScan
from app.library.measured import MeasuredCosts
from app.library.verdicts import judge_drafts
from engine.cost import CostProfile
from engine.files.fingerprint import fingerprint
from engine.pacing import Pacer, PacingProfile
from engine.profile import Profile, ProfileStore
from tests.fixtures.headers import write_model


@pytest.fixture
def pair(folder: Path, look: Callable[..., LocalScan]) -> tuple[LocalModel, LocalModel]:
    write_model(folder / "a-target.gguf", name="target", size=1_000_000)
    write_model(folder / "b-draft.gguf", name="draft", size=900_000)
    target, draft = look().models
    return target, draft


def keep(folder: Path, target: LocalModel, draft: LocalModel | None, ratio: float | None, *key: object) -> None:
    """As the engine keeps it."""
    pacing = PacingProfile(cost=CostProfile(draft_ratio=ratio, ratios={2: 1.1, 8: 1.5}))
    names = (fingerprint(target.path), fingerprint(draft.path) if draft else None)
    ProfileStore(folder).save(Profile(target=names[0], draft=names[1], pacing=pacing), *names, *key)


def test_a_kept_profile_is_found_by_the_two_files(pair: tuple[LocalModel, LocalModel], tmp_path: Path) -> None:
    target, draft = pair
    cache = tmp_path / "engine"
    keep(cache, target, None, None)
    keep(cache, target, draft, 0.125)
    costs = MeasuredCosts(cache, FactStore())
    found = costs(target, draft)
    assert found is not None
    assert (found.ratio, dict(found.passes)) == (0.125, {2: 1.1, 8: 1.5})
    assert costs(draft, target) is None
    verdict = judge_drafts(target, [draft], costs)[1]
    assert verdict.kind == "fits"
    assert "a token costs 0.12 of a pass (measured here)" in verdict.reason


def test_the_youngest_measurement_counts(pair: tuple[LocalModel, LocalModel], tmp_path: Path) -> None:
    keep(tmp_path, *pair, 0.2, "2 threads")
    for path in tmp_path.glob("*.json"):
        os.utime(path, ns=(1, 1))
    keep(tmp_path, *pair, 0.3, "1 thread")
    found = MeasuredCosts(tmp_path, FactStore())(*pair)
    assert found is not None
    assert found.ratio == 0.3


def test_what_was_not_measured_is_not_there(pair: tuple[LocalModel, LocalModel], tmp_path: Path) -> None:
    target, draft = pair
    assert MeasuredCosts(tmp_path / "nowhere", FactStore())(target, draft) is None
    (tmp_path / "x.json").write_text("{")
    (tmp_path / "y.json").write_text("[]")
    keep(tmp_path, target, draft, None)
    assert MeasuredCosts(tmp_path, FactStore())(target, draft) is None
    draft.path.unlink()
    keep(tmp_path, target, target, 0.5)
    assert MeasuredCosts(tmp_path, FactStore())(target, draft) is None


def test_a_guess_is_not_kept_as_if_it_were_measured() -> None:
    pacer = Pacer(draft_ratio_guess=0.1)
    assert pacer.cost.draft_ratio == 0.1
    assert pacer.profile().cost.draft_ratio is None
    pacer.cost.observe_pass(1, 0.01)
    pacer.cost.observe_draft(4, 0.02)
    kept = pacer.profile().cost.draft_ratio
    assert kept is not None
    assert Pacer(pacer.profile()).cost.draft_measured
