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
from engine.cost import CostModel, CostProfile
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


def keep(
    folder: Path,
    target: LocalModel,
    draft: LocalModel | None,
    ratio: float | None,
    *key: object,
    proposals: int = 16,
    wide: int = 4,
) -> None:
    """As the engine keeps it. ``proposals`` and ``wide``: how many it saw, of the draft and of 8 tokens' width."""
    cost = CostProfile(draft_ratio=ratio, ratios={2: 1.1, 8: 1.5}, passes={2: 9, 8: wide}, proposals=proposals)
    pacing = PacingProfile(cost=cost)
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


def test_a_handful_of_proposals_is_no_measurement(pair: tuple[LocalModel, LocalModel], tmp_path: Path) -> None:
    target, draft = pair
    keep(tmp_path, target, draft, 0.05, proposals=15)
    costs = MeasuredCosts(tmp_path, FactStore())
    assert costs(target, draft) is None
    assert "of a pass (by the sizes)" in judge_drafts(target, [draft], costs)[1].reason
    keep(tmp_path, target, draft, 0.4, "other settings", wide=3)
    found = MeasuredCosts(tmp_path, FactStore())(target, draft)
    assert found is not None
    assert (found.ratio, dict(found.passes)) == (0.4, {2: 1.1})


def test_a_cost_model_keeps_how_much_it_saw() -> None:
    model = CostModel(CostProfile(passes={2: 3}, proposals=10))
    model.observe_pass(1, 0.1)
    model.observe_pass(2, 0.11)
    for _ in range(6):
        model.observe_draft(4, 0.1)
    model.adopt({8: 1.5})
    kept = model.profile()
    assert (kept.passes, kept.proposals) == ({2: 4, 8: 4}, 16)


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
