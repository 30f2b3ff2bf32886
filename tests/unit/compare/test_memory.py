"""The most memory during a run: by the system's own mark where it can be started anew, else by looking now and then."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from app.compare.memory import Peak, PeakMemory

MIB = 1024 * 1024


def process(proc: Path, *, rss: int, mark: int) -> None:
    """Process 42 with so many KiB resident now and at most."""
    (proc / "42").mkdir(exist_ok=True)
    (proc / "42" / "status").write_text(f"Name:\tpython\nVmHWM:\t{mark:>8} kB\nVmRSS:\t{rss:>8} kB\n")


def test_the_mark_is_started_anew_and_read_at_the_end(tmp_path: Path) -> None:
    process(tmp_path, rss=1000, mark=1000)
    memory = PeakMemory(42, tmp_path)
    assert (tmp_path / "42" / "clear_refs").read_text() == "5"
    process(tmp_path, rss=1100, mark=1500)
    assert memory.peak() == Peak(1500 * 1024, sampled=False)


def test_where_it_cannot_be_started_anew_it_is_looked_at(tmp_path: Path) -> None:
    process(tmp_path, rss=1000, mark=9000)  # a peak of before that stays
    memory = PeakMemory(42, tmp_path)
    for rss in (1400, 1200):
        process(tmp_path, rss=rss, mark=9000)
        memory.look()
    assert memory.peak() == Peak(1400 * 1024, sampled=True)


def test_elsewhere_nothing_is_known(tmp_path: Path) -> None:
    assert PeakMemory(42, tmp_path).peak() is None
    assert PeakMemory(None, tmp_path).peak() is None


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_this_very_process() -> None:
    before = bytearray(64 * MIB)
    before[::4096] = b"x" * len(before[::4096])
    del before
    memory = PeakMemory(os.getpid())
    now = bytearray(32 * MIB)
    now[::4096] = b"x" * len(now[::4096])
    del now
    peak = memory.peak()
    assert peak is not None
    assert peak.sampled or peak.bytes > 32 * MIB
