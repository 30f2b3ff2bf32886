"""What other programs did meanwhile: the machine's work less ours, over the time that passed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.other_work import OtherWork
from engine.processors import TICKS


def machine(proc: Path, *, busy: float, app: float = 0.0) -> None:
    """All processors worked ``busy`` seconds since the start, for the app that started this process ``app`` of them."""
    (proc / "stat").write_text(f"cpu  {round(busy * TICKS)} 0 0 900 7 0 0 0 0 0\ncpu0 1 2 3\n")
    parent = proc / str(os.getppid())
    parent.mkdir(exist_ok=True)
    (parent / "stat").write_text(f"1 (a (b) c) R 1 1 1 0 -1 0 0 0 0 0 {round(app * TICKS)} 0 0 0 20 0 1\n")


def clock(*times: float) -> Iterator[float]:
    return iter(times)


def watched(proc: Path, wall: tuple[float, float], own: tuple[float, float]) -> OtherWork:
    walls, owns = clock(*wall), clock(*own)
    return OtherWork(proc, wall=lambda: next(walls), own=lambda: next(owns))


def test_a_neighbour_is_what_is_left_of_the_machines_work(tmp_path: Path) -> None:
    machine(tmp_path, busy=100.0, app=3.0)
    work = watched(tmp_path, (10.0, 12.0), (5.0, 8.5))
    machine(tmp_path, busy=106.0, app=3.5)
    assert work.cores() == pytest.approx(1.0)


def test_on_a_quiet_machine_there_is_none(tmp_path: Path) -> None:
    machine(tmp_path, busy=100.0)
    work = watched(tmp_path, (10.0, 12.0), (5.0, 9.1))
    machine(tmp_path, busy=104.0)
    assert work.cores() == 0.0


def test_over_a_moment_nothing_is_said(tmp_path: Path) -> None:
    machine(tmp_path, busy=100.0)
    assert watched(tmp_path, (10.0, 10.1), (5.0, 5.1)).cores() is None


def test_elsewhere_nothing_is_known(tmp_path: Path) -> None:
    assert watched(tmp_path, (10.0, 12.0), (5.0, 6.0)).cores() is None
