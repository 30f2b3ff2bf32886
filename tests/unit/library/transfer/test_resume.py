"""A file arrives whole, whatever the network does, and no byte is asked for twice without need."""

from __future__ import annotations

import json
from pathlib import Path

from tests.fixtures.hub import SIGNATURE, Hub
from tests.fixtures.transfers import CDN, NAME, PATIENT, QUICK, Running, failure, get, names, offer, want


def ranges(hub: Hub) -> list[str | None]:
    """The ranges that were asked for, in order."""
    return [seen.headers.get("range") for seen in hub.seen(CDN)]


def test_a_file_arrives_alone_and_whole(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    assert get(want(hub, tmp_path)) == [tmp_path / NAME]
    assert (tmp_path / NAME).read_bytes() == data
    assert names(tmp_path) == [NAME]
    assert hub.sent(CDN) == len(data)


def test_folders_are_made(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    place = tmp_path / "models" / "owner" / "model-GGUF" / NAME
    assert get(want(hub, tmp_path, path=place)) == [place]


def test_a_file_of_git_is_known_by_its_blob(hub: Hub, tmp_path: Path) -> None:
    hub.repo("owner/model-GGUF").put("config.json", b'{"a": 1}\n' * 50)
    wanted = want(hub, tmp_path, "config.json")
    assert (wanted.sha256, len(wanted.etag or "")) == (None, 40)
    get(wanted)
    assert (tmp_path / "config.json").read_bytes() == b'{"a": 1}\n' * 50
    wrong = want(hub, tmp_path, "config.json", path=tmp_path / "other.json")
    hub.misbehave("resolve/*", content=b'{"a": 2}\n' * 50)
    assert failure(wrong).code == "hash_mismatch"


def test_an_empty_side_file_is_a_file_and_an_empty_model_is_not(hub: Hub, tmp_path: Path) -> None:
    offer(hub, 0, "empty.txt")
    offer(hub, 0, "empty.gguf")
    get(want(hub, tmp_path, "empty.txt"))
    assert names(tmp_path) == ["empty.txt"]
    assert hub.requests == []
    error = failure(want(hub, tmp_path, "empty.gguf"))
    assert (error.code, names(tmp_path)) == ("empty", ["empty.txt"])
    assert str(error) == (
        f"empty.gguf: {hub.url[7:]} has an empty file there; nothing of it was received; choose another file."
    )


def test_a_cut_connection_is_continued(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    hub.misbehave(CDN, cut_after=60_000, times=1)
    hub.misbehave(CDN, cut_after=70_000, skip=1, times=1, reset=False)
    get(want(hub, tmp_path))
    assert (tmp_path / NAME).read_bytes() == data
    assert ranges(hub) == [None, "bytes=60000-", "bytes=130000-"]
    assert hub.sent(CDN) == len(data)
    assert names(tmp_path) == [NAME]


def test_a_reset_is_continued(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    hub.misbehave(CDN, cut_after=60_000, times=1, reset=True)
    get(want(hub, tmp_path))
    assert (tmp_path / NAME).read_bytes() == data
    assert len(hub.seen(CDN)) == 2


def test_progress_resets_the_count_of_failures(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    hub.misbehave(CDN, cut_after=20_000)
    get(want(hub, tmp_path))  # ten connections, and QUICK gives up after three without a byte
    assert (tmp_path / NAME).read_bytes() == data
    assert hub.sent(CDN) == len(data)


def test_a_server_that_sends_a_byte_for_each_connection_is_given_up(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    hub.misbehave(CDN, cut_after=1)
    error = failure(want(hub, tmp_path))
    assert "3 times in a row" in str(error)
    assert len(hub.seen(CDN)) == QUICK.tries


def test_a_stalled_connection_is_made_anew(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    fault = hub.misbehave(CDN, stall_after=50_000, times=1)
    get(want(hub, tmp_path))
    assert fault.reached.is_set()
    assert (tmp_path / NAME).read_bytes() == data
    assert hub.sent(CDN) == len(data)


def test_the_next_run_continues(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    fault = hub.misbehave(CDN, stall_after=90_000)
    running = Running([[want(hub, tmp_path)]], patience=PATIENT)
    running.wait_for(lambda now: now.done == 90_000)
    running.control.cancel()
    assert "90 kB of 200 kB are kept" in str(running.failure())
    assert names(tmp_path) == [f"{NAME}.part", f"{NAME}.part.json"]
    hub.behave()
    get(want(hub, tmp_path))
    assert ranges(hub) == [None, "bytes=90000-"]
    assert (tmp_path / NAME).read_bytes() == data
    assert (names(tmp_path), fault.hits) == ([NAME], 1)


def test_the_sidecar_keeps_no_secret(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    hub.tokens.add("hf_secret")
    hub.misbehave(CDN, status=503)
    hub.misbehave(CDN, cut_after=90_000, times=1)
    url = want(hub, tmp_path).url + "?key=hf_query"
    failure(want(hub, tmp_path, url=url, token="hf_secret"))
    text = (tmp_path / f"{NAME}.part.json").read_text()
    kept = json.loads(text)
    assert (kept["good"], kept["size"], kept["expected"]) == (90_000, 200_000, want(hub, tmp_path).sha256)
    assert not any(secret in text for secret in ("hf_", SIGNATURE, "?"))


def test_a_server_that_ignores_ranges_costs_a_new_start_and_no_harm(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    hub.misbehave(CDN, ignore_range=True)
    hub.misbehave(CDN, cut_after=60_000, times=1)
    running = Running([[want(hub, tmp_path)]])
    running.result()
    assert (tmp_path / NAME).read_bytes() == data
    assert hub.sent(CDN) == len(data) + 60_000
    assert running.seen[-1].files[0].note == "localhost:PORT cannot continue a file: started from zero".replace(
        "PORT", hub.cdn_url.rpartition(":")[2]
    )


def test_a_server_that_ignores_ranges_and_cuts_each_time_is_given_up(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    hub.misbehave(CDN, ignore_range=True, cut_after=60_000)
    error = failure(want(hub, tmp_path))
    assert error.code == "cut"
    assert hub.sent(CDN) <= 4 * 60_000


def test_416_starts_over_once(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    hub.misbehave(CDN, refuse_range=True)
    hub.misbehave(CDN, cut_after=60_000, times=1)
    running = Running([[want(hub, tmp_path)]])
    running.result()
    assert (tmp_path / NAME).read_bytes() == data
    assert ranges(hub) == [None, "bytes=60000-", None]
    assert "cannot continue the file: started from zero" in running.seen[-1].files[0].note


def test_a_wrong_range_starts_over(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    hub.misbehave(CDN, shift_range=100, times=2)
    hub.misbehave(CDN, cut_after=60_000, times=1)
    running = Running([[want(hub, tmp_path)]])
    running.result()
    assert (tmp_path / NAME).read_bytes() == data
    assert "sends another piece of the file than it was asked for" in running.seen[-1].files[0].note
