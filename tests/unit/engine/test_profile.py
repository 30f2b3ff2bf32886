"""What was learned is kept, and what somebody else wrote there is as good as nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.cost import CostProfile
from engine.pacing import PacingProfile
from engine.profile import Profile, ProfileStore

LEARNED = Profile(pacing=PacingProfile(cost=CostProfile(ratios={2: 1.5}, unit_seconds=0.01, draft_ratio=0.2)))


def test_what_was_learned_comes_back(tmp_path: Path) -> None:
    store = ProfileStore(tmp_path)
    assert store.load("pair") == Profile()
    store.save(LEARNED, "pair")
    assert store.load("pair") == LEARNED
    assert store.load("another pair") == Profile()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        "[]",
        '{"pacing": {"cost": {"ratios": {"2": 0}}}}',
        '{"pacing": {"cost": {"ratios": {"2": NaN}}}}',
        '{"pacing": {"cost": {"ratios": {"2": 1e999}}}}',
        '{"pacing": {"cost": {"unit_seconds": 0}}}',
        '{"pacing": {"cost": {"draft_ratio": -1}}}',
        '{"pacing": {"cost": {"draft_prefill_ratio": 0}}}',
        '{"pacing": {"lookup": {"greedy": {"0": [5, -12]}}}}',
        '{"pacing": {"draft": {"greedy": {"0": [-5, 12]}}}}',
    ],
)
def test_what_makes_no_sense_is_not_used(tmp_path: Path, text: str) -> None:
    store = ProfileStore(tmp_path)
    store.save(LEARNED, "pair")
    (file,) = tmp_path.iterdir()
    file.write_text(text)
    assert store.load("pair") == Profile()
