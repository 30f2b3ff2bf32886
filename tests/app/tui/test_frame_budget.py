"""How often a growing answer is drawn, by made-up clocks."""

from __future__ import annotations

from itertools import pairwise

import pytest

from app.tui.frame_budget import FRAME_SECONDS, SHARE, SLOWEST_SECONDS, TICK_SECONDS, FrameBudget


class Clocks:
    """A budget that is asked at every tick, and frames that cost ``dear`` seconds of processor time."""

    def __init__(self) -> None:
        self.now = self.spent = 100.0
        self.budget = FrameBudget(cpu=lambda: self.spent, clock=lambda: self.now)

    def frames(self, seconds: float, dear: float) -> list[float]:
        """When frames were drawn."""
        drawn = []
        for _ in range(round(seconds / TICK_SECONDS)):
            self.now += TICK_SECONDS
            if self.budget.allows():
                drawn.append(self.now)
                self.spent += dear
        return drawn


def test_the_first_frame_is_drawn_at_once() -> None:
    assert len(Clocks().frames(TICK_SECONDS, 0.01)) == 1


def test_cheap_frames_come_twelve_times_a_second() -> None:
    assert len(Clocks().frames(10, 0.01)) == pytest.approx(10 / FRAME_SECONDS, abs=1)


@pytest.mark.parametrize("dear", [0.018, 0.025, 0.04, 0.055])
def test_dear_frames_become_rarer_so_that_the_share_is_kept(dear: float) -> None:
    drawn = Clocks().frames(30, dear)
    assert len(drawn) * dear / 30 <= SHARE + 0.01
    assert len(drawn) * dear / 30 > SHARE / 2


def test_text_never_comes_in_lumps_whatever_a_frame_costs() -> None:
    drawn = Clocks().frames(10, 0.5)
    longest = max(after - before for before, after in pairwise(drawn))
    assert longest <= SLOWEST_SECONDS + TICK_SECONDS
