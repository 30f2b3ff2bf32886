"""Transfers in processes of their own: killed ones, and two for the same file."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.library.transfer import lock as lock_module
from app.library.transfer.leftovers import Unfinished, discard, find_unfinished
from app.library.transfer.lock import WriterLock
from app.library.transfer.sidecar import LOCK, beside
from app.library.transfer.wanted import Wanted
from tests.fixtures.hub import Hub
from tests.fixtures.transfers import CDN, NAME, PATIENT, Running, failure, get, names, offer, want

ROOT = Path(__file__).resolve().parents[4]

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of POSIX")


def start(wanted: Wanted, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.fixtures.transfer_child"]
    facts = [wanted.url, str(wanted.path), str(wanted.size), wanted.sha256 or ""]
    return subprocess.Popen([*command, *facts, *options], cwd=ROOT, stdout=subprocess.PIPE, text=True)


def read_until(child: subprocess.Popen[str], wanted: str) -> None:
    """Read what a child prints up to this line."""
    assert child.stdout is not None
    for line in child.stdout:
        if line.strip() == wanted:
            return
    raise AssertionError(f"the child ended without saying {wanted!r}")


def last_line(child: subprocess.Popen[str]) -> str:
    return child.communicate(timeout=60)[0].splitlines()[-1]


@posix_only
def test_ten_kills_cost_next_to_nothing(hub: Hub, tmp_path: Path) -> None:
    size, kills = 40_000_000, 10
    data = offer(hub, size)
    hub.misbehave(CDN, throttle=20_000_000)
    wanted = want(hub, tmp_path)
    for kill in range(kills):
        child = start(wanted)
        hub.wait_sent((kill + 1) * size // (kills + 2), CDN, timeout=60)
        child.send_signal(signal.SIGKILL)
        child.communicate(timeout=10)
        assert not wanted.path.exists()
        assert {f"{NAME}.part", f"{NAME}.part.lock"} <= set(names(tmp_path))
    assert last_line(start(wanted)) == f"done {tmp_path / NAME}"
    assert (tmp_path / NAME).read_bytes() == data
    assert names(tmp_path) == [NAME]
    assert hub.sent(CDN) <= 1.1 * size


@posix_only
def test_what_a_killed_process_leaves_is_told_from_the_disk_alone(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    hub.misbehave(CDN, stall_after=120_000)
    wanted = want(hub, tmp_path / "owner" / "model-GGUF")
    child = start(wanted)
    hub.wait_sent(120_000, CDN)
    read_until(child, "state receiving")
    assert not discard(wanted.path), "it is in use"
    child.kill()
    child.communicate(timeout=10)
    [found] = find_unfinished(tmp_path)
    assert found == Unfinished(wanted.path, found.done, 200_000, wanted.url)
    assert 0 < found.done <= 120_000
    assert discard(wanted.path)
    assert find_unfinished(tmp_path) == []
    assert names(tmp_path) == []


def test_two_processes_for_the_same_file(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    fault = hub.misbehave(CDN, stall_after=100_000)
    wanted = want(hub, tmp_path)
    first = start(wanted)
    assert fault.reached.wait(30)
    assert last_line(start(wanted)) == (
        f"error busy {NAME}: another Slipstream is downloading it; wait for that one to end."
    )
    waiting = start(wanted, "wait")
    read_until(waiting, "state waiting another Slipstream is downloading it")
    fault.release.set()
    assert last_line(first) == f"done {wanted.path}"
    read_until(waiting, f"done {wanted.path}")
    waiting.wait(timeout=10)
    assert wanted.path.read_bytes() == data
    assert hub.sent(CDN) == len(data)
    assert names(tmp_path) == [NAME]


def test_two_downloads_in_one_process_exclude_each_other_too(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    hub.misbehave(CDN, stall_after=50_000)
    first = Running([[want(hub, tmp_path)]], patience=PATIENT)
    first.wait_for(lambda now: now.done == 50_000)
    assert failure(want(hub, tmp_path)).code == "busy"
    assert names(tmp_path) == [f"{NAME}.part", f"{NAME}.part.json", f"{NAME}.part.lock"]
    first.cancelled_within()


def test_a_lock_of_a_dead_process_blocks_nobody(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    beside(tmp_path / NAME, LOCK).touch()
    get(want(hub, tmp_path))
    assert names(tmp_path) == [NAME]


def test_a_lock_is_taken_once_and_tidied_away(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    one, other = WriterLock(file), WriterLock(file)
    assert one.take()
    assert one.take(), "it is ours already"
    assert not other.take()
    one.release()
    assert not file.exists()
    assert other.take()
    one.release()
    assert file.exists(), "only its holder may remove it"
    other.release()


def test_a_lock_whose_file_is_removed_at_that_moment_is_taken_on_the_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "lock"
    take = lock_module.try_lock
    removed: list[int] = []

    def remove_first(descriptor: int) -> bool:
        if not removed:
            file.unlink()
        removed.append(descriptor)
        return take(descriptor)

    monkeypatch.setattr(lock_module, "try_lock", remove_first)
    one, other = WriterLock(file), WriterLock(file)
    assert one.take()
    assert not other.take()
    assert len(removed) == 3
    one.release()


@posix_only
def test_a_limit_on_file_sizes(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    wanted = want(hub, tmp_path)
    assert last_line(start(wanted, "limit=65536")) == (
        f"error too_large {NAME}: {tmp_path} takes no file of 200 kB; 66 kB of 200 kB are kept; choose a folder on "
        "another disk (FAT32 ends at 4 GB), or raise the limit on file sizes."
    )
    get(wanted)
    assert hub.seen(CDN)[-1].headers["range"] == "bytes=65536-"


@posix_only
def test_ctrl_c_ends_the_process(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    hub.misbehave(CDN, throttle=1000)
    child = start(want(hub, tmp_path))
    hub.wait_sent(200, CDN, timeout=30)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=3)
    assert child.returncode != 0
