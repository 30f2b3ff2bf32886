"""Pause, resume and cancel, in whatever state the network is."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from app.library.transfer.control import Control
from app.library.transfer.lock import WriterLock
from app.library.transfer.patience import Patience
from app.library.transfer.sidecar import LOCK, beside
from tests.fixtures.hub import Hub, never_accepting
from tests.fixtures.transfers import CDN, NAME, PATIENT, REPO, RESOLVE, Running, names, offer, want

USUAL = Patience()
"""As people have it: a cancel that only works with short timeouts is none."""

SOON = 1.0
"""Seconds within which a cancel must have ended everything."""


def test_cancel_while_the_connection_is_being_made(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    with never_accepting() as url:
        running = Running([[want(hub, tmp_path, url=f"{url}/{REPO}/resolve/main/{NAME}")]], patience=USUAL)
        running.wait_state("connecting")
        assert running.cancelled_within() < SOON


def test_cancel_while_the_name_is_looked_up(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(hub)
    asked, answered = threading.Event(), threading.Event()

    def lookup(*args: object, **options: object) -> None:
        asked.set()
        answered.wait(20)
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    running = Running([[want(hub, tmp_path, url=f"https://hub.invalid/{REPO}/resolve/main/{NAME}")]], patience=USUAL)
    assert asked.wait(10)
    assert running.cancelled_within() < SOON
    answered.set()


@pytest.mark.parametrize("where", [RESOLVE, CDN])
def test_cancel_while_a_server_is_silent(hub: Hub, tmp_path: Path, where: str) -> None:
    offer(hub)
    fault = hub.misbehave(where, silent=True)
    running = Running([[want(hub, tmp_path)]], patience=USUAL)
    assert fault.reached.wait(10)
    assert running.cancelled_within() < SOON
    assert hub.requests[-1].left.wait(5), "the connection stayed open"


def test_cancel_while_nothing_more_comes(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    fault = hub.misbehave(CDN, stall_after=50_000)
    running = Running([[want(hub, tmp_path)]], patience=USUAL)
    assert fault.reached.wait(10)
    assert running.cancelled_within() < SOON
    assert hub.requests[-1].left.wait(5), "the connection stayed open"


def test_cancel_while_bytes_trickle(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    hub.misbehave(CDN, throttle=50)
    running = Running([[want(hub, tmp_path)]], patience=USUAL)
    running.wait_for(lambda now: now.done > 0)
    assert running.cancelled_within() < SOON


def test_cancel_while_bytes_pour(hub: Hub, tmp_path: Path) -> None:
    offer(hub, 3_000_000)
    hub.misbehave(CDN, throttle=2_000_000)
    running = Running([[want(hub, tmp_path)]], patience=USUAL)
    running.wait_for(lambda now: now.done > 0)
    assert running.cancelled_within() < SOON
    assert names(tmp_path) == [f"{NAME}.part", f"{NAME}.part.json"]


def test_cancel_while_waiting_to_try_again(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    hub.misbehave(RESOLVE, status=503, headers={"Retry-After": "300"})
    running = Running([[want(hub, tmp_path)]], patience=USUAL)
    running.wait_state("waiting")
    assert running.cancelled_within() < SOON


def test_cancel_while_another_one_has_the_file(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    lock = WriterLock(beside(tmp_path / NAME, LOCK))
    assert lock.take()
    running = Running([[want(hub, tmp_path)]], patience=USUAL, wait_for_other=True)
    assert running.wait_state("waiting").files[0].reason == "another Slipstream is downloading it"
    assert running.cancelled_within() < SOON
    lock.release()
    assert names(tmp_path) == []


def test_cancel_while_paused(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    hub.misbehave(CDN, throttle=50)
    running = Running([[want(hub, tmp_path)]], patience=USUAL)
    running.control.pause()
    running.wait_state("paused")
    assert running.cancelled_within() < SOON


def test_cancel_before_the_start(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    control = Control()
    control.cancel()
    running = Running([[want(hub, tmp_path)]], control=control)
    assert str(running.failure()) == (f"{NAME}: cancelled; nothing of it was received; start it again to continue.")
    assert hub.requests == []


def test_a_pause_hangs_up_and_keeps_what_is_there(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    hub.misbehave(CDN, stall_after=50_000, times=1)
    running = Running([[want(hub, tmp_path)]], patience=PATIENT)
    running.wait_for(lambda now: now.done == 50_000)
    running.control.pause()
    paused = running.wait_state("paused")
    assert (paused.done, paused.rate) == (50_000, 0)
    assert hub.requests[-1].left.wait(5), "the connection stayed open"
    seen = len(hub.requests)
    running.control.resume()
    running.result()
    assert (tmp_path / NAME).read_bytes() == data
    assert [one.headers.get("range") for one in hub.requests[seen:]] == ["bytes=50000-"] * 2  # the hub, the CDN
    assert hub.sent(CDN) == len(data)


def test_one_file_of_two_is_cancelled(hub: Hub, tmp_path: Path) -> None:
    offer(hub, name="one.gguf")
    data = offer(hub, name="two.gguf", seed=1)
    hub.misbehave("*/one.gguf", silent=True)
    running = Running([[want(hub, tmp_path, "one.gguf")], [want(hub, tmp_path, "two.gguf")]], patience=USUAL)
    running.wait_for(lambda now: now.files[1].state == "done" and now.files[0].state == "connecting")
    running.download.control_of(tmp_path / "one.gguf").cancel()
    error = running.failure()
    assert (error.code, error.path) == ("cancelled", tmp_path / "one.gguf")
    assert list(running.download.errors) == [tmp_path / "one.gguf"]
    assert (tmp_path / "two.gguf").read_bytes() == data


def test_an_interrupt_ends_all_and_comes_through(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    hub.misbehave(CDN, throttle=50)

    def interrupt(now: object) -> None:
        raise KeyboardInterrupt

    running = Running([[want(hub, tmp_path)]], patience=USUAL)
    running.wait_state("receiving")
    running.download._on_progress = interrupt
    running.join(5)
    assert isinstance(running.error, KeyboardInterrupt)
    assert names(tmp_path) == [f"{NAME}.part", f"{NAME}.part.json"]


def test_a_control_obeys_the_one_above() -> None:
    above = Control()
    one, other = Control(above), Control(above)
    one.pause()
    assert (above.paused, one.paused, other.paused) == (False, True, False)
    above.pause()
    one.resume()
    assert (one.paused, other.paused) == (True, True)
    above.resume()
    assert (one.paused, other.paused) == (False, False)
    above.cancel()
    assert (one.cancelled, other.cancelled) == (True, True)


def test_waiting_ends_when_something_is_pressed() -> None:
    control = Control()
    waiter = threading.Thread(target=Control(control).wait, args=(30,))
    waiter.start()
    presses: list[Callable[[], None]] = [control.pause, control.resume] * 500
    for press in presses:
        press()
        waiter.join(0.01)
        if not waiter.is_alive():
            break
    assert not waiter.is_alive()
