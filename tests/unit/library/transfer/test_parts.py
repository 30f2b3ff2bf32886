"""What an earlier run has left is used as far as it is sound, and not a byte further."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.library.transfer import part
from tests.fixtures.hub import Hub
from tests.fixtures.transfers import CDN, NAME, PATIENT, RESOLVE, Running, failure, get, names, offer, sha256, want


def ranges(hub: Hub) -> list[str | None]:
    """The ranges that were asked for, in order."""
    return [seen.headers.get("range") for seen in hub.seen(CDN)]


def test_a_part_that_is_whole_needs_no_request(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    (tmp_path / f"{NAME}.part").write_bytes(data)
    get(want(hub, tmp_path))
    assert (tmp_path / NAME).read_bytes() == data
    assert hub.requests == []


def test_a_part_that_is_too_long_starts_over(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    (tmp_path / f"{NAME}.part").write_bytes(data + b"more")
    running = Running([[want(hub, tmp_path)]])
    running.result()
    assert (tmp_path / NAME).read_bytes() == data
    assert running.seen[-1].files[0].note == "what was kept was damaged: started from zero"


def test_pieces_that_do_not_fit_together_are_fetched_once_more_in_one_go(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    hub.misbehave(CDN, content=data[:100_000] + b"?" * 100_000, times=1)
    hub.misbehave(CDN, cut_after=100_000, times=1)
    running = Running([[want(hub, tmp_path)]])
    running.result()
    assert (tmp_path / NAME).read_bytes() == data
    assert ranges(hub) == [None, "bytes=100000-", None]
    wrong = sha256(data[:100_000] + b"?" * 100_000)
    assert running.seen[-1].files[0].note == (
        "what was received in pieces does not fit together "
        f"(SHA-256 {wrong[:8]} instead of {sha256(data)[:8]}): started from zero"
    )
    assert names(tmp_path) == [NAME]


def test_a_wrong_whole_part_from_before_is_fetched_anew(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    (tmp_path / f"{NAME}.part").write_bytes(b"GGUF" + b"?" * (len(data) - 4))
    get(want(hub, tmp_path))
    assert (tmp_path / NAME).read_bytes() == data
    assert ranges(hub) == [None]


def test_without_a_hash_a_changed_file_starts_over(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    fresh = data[:-1] + b"?"
    hub.misbehave(CDN, content=fresh, etag="other")
    hub.misbehave(CDN, cut_after=60_000, times=1)
    running = Running([[want(hub, tmp_path, sha256=None, etag=None)]])
    running.result()
    assert (tmp_path / NAME).read_bytes() == fresh
    assert hub.seen(CDN)[1].headers["if-range"] == f'"{sha256(data)}"'
    assert "has changed: started from zero" in running.seen[-1].files[0].note


def test_with_a_hash_servers_may_disagree_on_etags(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    hub.misbehave(CDN, etag="of the second server")
    hub.misbehave(CDN, cut_after=60_000, times=1)
    get(want(hub, tmp_path))
    assert hub.sent(CDN) == len(data)


def test_a_part_of_another_version_starts_over(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    hub.misbehave(CDN, cut_after=60_000, times=1)
    hub.misbehave(CDN, status=503, skip=1)
    failure(want(hub, tmp_path))
    hub.behave()
    data = offer(hub, 210_000, seed=1)
    running = Running([[want(hub, tmp_path)]])
    running.result()
    assert (tmp_path / NAME).read_bytes() == data
    note = "what was kept belonged to another version of the file: started from zero"
    assert running.seen[-1].files[0].note == note


def test_the_same_version_at_another_address_is_continued(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    hub.misbehave(CDN, cut_after=60_000, times=1)
    hub.misbehave(CDN, status=503, skip=1)
    failure(want(hub, tmp_path))
    hub.behave()
    get(want(hub, tmp_path, revision="main"))
    assert hub.sent(CDN) == len(data)


@pytest.mark.parametrize("text", ["", "null", "[]", "{", '{"version": 1}', '{"version": 1, "url": 5, "size": "x"}'])
def test_a_broken_sidecar_costs_nothing(hub: Hub, tmp_path: Path, text: str) -> None:
    data = offer(hub)
    (tmp_path / f"{NAME}.part").write_bytes(data[:150_000])
    (tmp_path / f"{NAME}.part.json").write_text(text)
    get(want(hub, tmp_path))
    assert (tmp_path / NAME).read_bytes() == data
    assert ranges(hub) == ["bytes=150000-"]


def test_without_a_hash_a_part_without_sidecar_is_not_trusted(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    (tmp_path / f"{NAME}.part").write_bytes(b"?" * 150_000)
    get(want(hub, tmp_path, sha256=None, etag=None))
    assert (tmp_path / NAME).read_bytes() == data


def kept_part(hub: Hub, folder: Path) -> bytes:
    """A part of 90,000 bytes that was forced to the disk."""
    data = offer(hub)
    hub.misbehave(CDN, cut_after=90_000, times=1)
    hub.misbehave(CDN, status=503, skip=1)
    failure(want(hub, folder))
    hub.behave()
    return data


def test_kept_bytes_that_changed_on_the_disk_are_noticed_before_anything_is_asked_for(hub: Hub, tmp_path: Path) -> None:
    data = kept_part(hub, tmp_path)
    path = tmp_path / f"{NAME}.part"
    path.write_bytes(data[:1000] + b"?" + data[1001:90_000])
    running = Running([[want(hub, tmp_path)]])
    running.result()
    assert (tmp_path / NAME).read_bytes() == data
    assert running.seen[-1].files[0].note == "what was kept was damaged: started from zero"
    assert ranges(hub)[-1] is None


def test_zeros_that_a_power_cut_leaves_are_dropped(hub: Hub, tmp_path: Path) -> None:
    data = kept_part(hub, tmp_path)
    with open(tmp_path / f"{NAME}.part", "ab") as file:
        file.write(bytes(50_000))
    get(want(hub, tmp_path))
    assert (tmp_path / NAME).read_bytes() == data
    assert ranges(hub)[-1] == "bytes=90000-"


def test_what_is_there_is_forced_to_the_disk_now_and_then(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, "CHECKPOINT_BYTES", 50_000)
    offer(hub)
    hub.misbehave(CDN, stall_after=130_000)
    running = Running([[want(hub, tmp_path)]], patience=PATIENT)
    running.wait_for(lambda now: now.done == 130_000)
    running.control.cancel()
    running.failure()
    good = json.loads((tmp_path / f"{NAME}.part.json").read_text())["good"]
    assert 50_000 <= good <= 130_000  # cancelling does not wait for the disk
    hub.behave()
    get(want(hub, tmp_path))
    assert hub.sent(CDN) == 200_000


def test_nothing_received_leaves_nothing(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    hub.misbehave(RESOLVE, status=404, headers={"X-Error-Code": "EntryNotFound"})
    failure(want(hub, tmp_path))
    assert names(tmp_path) == []
