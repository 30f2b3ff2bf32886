"""When a draft pays: the engine's own arithmetic."""

from __future__ import annotations

import time

import pytest

from engine.cost import CostModel, CostProfile
from engine.files.paying import LONGEST, pays_from
from tests.fixtures.pace import limit


def test_the_dearer_the_draft_the_more_must_be_accepted() -> None:
    needed = [pays_from(ratio) for ratio in (0.02, 0.1, 0.2, 0.3, 0.4)]
    assert all(each is not None for each in needed)
    assert needed == sorted(needed, key=lambda each: each or 0)
    assert pays_from(0.6) is pays_from(1.0) is pays_from(50.0) is None


def test_it_is_what_the_engine_would_say() -> None:
    ratios = {2: 1.1, 4: 1.3, 8: 1.6}
    engine = CostModel(CostProfile(ratios=ratios))
    assert pays_from(0.15, ratios) == engine.break_even_average(LONGEST, 0.15)
    assert (pays_from(0.15, ratios) or 1) < (pays_from(0.15) or 1)


@pytest.mark.parametrize("ratio", [-1.0, 0.0])
def test_a_free_draft_still_costs_wider_passes(ratio: float) -> None:
    assert 0.3 < (pays_from(ratio) or 0) < 0.7


def test_two_hundred_are_weighed_quickly() -> None:
    started = time.process_time()
    for number in range(200):
        pays_from(number / 200)
    assert time.process_time() - started < limit(0.5)
