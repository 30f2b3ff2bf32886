"""Several files: sets, progress, files that are there already, and what other programs make of the result."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path

import pytest
from huggingface_hub import hf_hub_download

from app.library.resolve import gguf_files
from app.library.transfer.download import Download, fetch_one
from app.library.transfer.progress import Meter, Overall, Progress, overall
from tests.fixtures.hub import SIGNATURE, Hub
from tests.fixtures.transfers import CDN, NAME, PATIENT, QUICK, REPO, Running, get, names, offer, want

PARTS = [f"model-0000{number}-of-00003.gguf" for number in (1, 2, 3)]


def test_a_split_model_is_seen_when_all_of_it_is_whole(hub: Hub, tmp_path: Path) -> None:
    parts = [offer(hub, name=name, seed=seed) for seed, name in enumerate(PARTS)]
    fault = hub.misbehave(f"cdn/{REPO}/{PARTS[1]}", stall_after=50_000)
    running = Running([[want(hub, tmp_path, name) for name in PARTS]], patience=PATIENT)
    running.wait_for(lambda now: [file.state for file in now.files] == ["ready", "receiving", "ready"])
    assert gguf_files(tmp_path) == []
    assert not any(name.endswith(".gguf") for name in names(tmp_path))
    fault.release.set()
    assert running.result() == [tmp_path / name for name in PARTS]
    assert [(tmp_path / name).read_bytes() for name in PARTS] == parts
    assert names(tmp_path) == PARTS
    assert running.seen[-1].total == 600_000


def test_the_first_part_gets_its_name_last(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    order: list[str] = []
    usual = os.replace

    def note(source: Path, target: Path) -> None:
        usual(source, target)
        if str(target).endswith(".gguf"):
            order.append(Path(target).name)

    monkeypatch.setattr(os, "replace", note)
    for name in PARTS:
        offer(hub, name=name)
    Running([[want(hub, tmp_path, name) for name in PARTS]]).result()
    assert order == PARTS[::-1]


def test_a_set_that_misses_a_part_stays_unseen_and_is_continued(hub: Hub, tmp_path: Path) -> None:
    for seed, name in enumerate(PARTS):
        offer(hub, name=name, seed=seed)
    other = offer(hub, name="draft.gguf", seed=9)
    hub.misbehave(f"resolve/{REPO}/{PARTS[2]}", status=404)
    sets = [[want(hub, tmp_path, name) for name in PARTS], [want(hub, tmp_path, "draft.gguf")]]
    error = Running(sets).failure()
    assert (error.code, error.path) == ("no_file", tmp_path / PARTS[2])
    assert [name for name in names(tmp_path) if name.endswith(".gguf")] == ["draft.gguf"]
    assert (tmp_path / "draft.gguf").read_bytes() == other
    hub.behave()
    sent = hub.sent(CDN)
    Running(sets).result()
    assert names(tmp_path) == sorted([*PARTS, "draft.gguf"])
    assert hub.sent(CDN) - sent == 200_000, "only the part that was missing"


def test_a_file_that_is_there_needs_no_request(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    (tmp_path / NAME).write_bytes(data)
    assert get(want(hub, tmp_path)) == [tmp_path / NAME]
    assert hub.requests == []
    assert names(tmp_path) == [NAME]


def test_a_file_that_is_there_counts_for_its_set(hub: Hub, tmp_path: Path) -> None:
    parts = [offer(hub, name=name, seed=seed) for seed, name in enumerate(PARTS)]
    (tmp_path / PARTS[0]).write_bytes(parts[0])
    Running([[want(hub, tmp_path, name) for name in PARTS]]).result()
    assert names(tmp_path) == PARTS
    assert hub.sent(CDN) == 400_000


def test_two_at_once_by_default(hub: Hub, tmp_path: Path) -> None:
    several = [f"{letter}.gguf" for letter in "abcd"]
    for name in several:
        offer(hub, name=name)
    fault = hub.misbehave(CDN, stall_after=50_000)
    running = Running([[want(hub, tmp_path, name)] for name in several], patience=PATIENT)
    hub.wait_sent(100_000, CDN)
    now = running.wait_for(lambda now: now.done == 100_000)
    assert [file.state for file in now.files] == ["receiving", "receiving", "queued", "queued"]
    assert len(hub.seen(CDN)) == 2
    fault.release.set()
    running.result()
    assert names(tmp_path) == several


def test_two_files_for_one_place_are_a_mistake(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    with pytest.raises(ValueError, match="two files are wanted at the same place"):
        Download([[want(hub, tmp_path)], [want(hub, tmp_path, revision="main")]])


def test_nothing_wanted_is_nothing_done() -> None:
    assert Download([]).run() == []


def test_a_fault_of_our_own_comes_out_and_stops_the_rest(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(hub)

    def break_down(self: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr("app.library.transfer.fetch.Fetch._make_whole", break_down)
    running = Running([[want(hub, tmp_path)]])
    with pytest.raises(RuntimeError, match="a fault"):
        running.result()
    assert names(tmp_path) == []


def test_progress_is_steady_and_not_too_frequent(hub: Hub, tmp_path: Path) -> None:
    offer(hub, 2_000_000)
    hub.misbehave(CDN, throttle=1_000_000)
    seen: list[tuple[float, Overall]] = []
    fetch_one(want(hub, tmp_path), lambda now: seen.append((time.monotonic(), now)), patience=QUICK)
    times = [at for at, _ in seen]
    assert all(sum(at <= other < at + 1 for other in times) <= 10 for at in times)
    done = [now.done for _, now in seen]
    assert done == sorted(done)
    assert len({count for count in done if 0 < count < 2_000_000}) >= 5
    rates = [now.rate for _, now in seen if now.state == "receiving" and now.done > 1_000_000]
    assert all(500_000 < rate < 1_500_000 for rate in rates), rates
    lefts = [now.left for _, now in seen if now.state == "receiving" and now.done > 1_000_000]
    assert all(left is not None and left < 3 for left in lefts), lefts
    assert (seen[-1][1].state, seen[-1][1].done, seen[-1][1].rate) == ("done", 2_000_000, 0)


def test_states_in_their_order(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    silent = hub.misbehave("resolve/*", silent=True)
    running = Running([[want(hub, tmp_path)]], patience=PATIENT)
    running.wait_state("connecting")
    assert silent.reached.wait(10)
    hub.behave()
    stalled = hub.misbehave(CDN, stall_after=50_000)
    running.control.pause()
    running.wait_state("paused")
    running.control.resume()
    running.wait_state("receiving")
    stalled.release.set()
    running.result()
    assert running.seen[-1].state == "done"


def test_nothing_secret_is_logged(hub: Hub, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    offer(hub)
    hub.tokens.add("hf_secret")
    get(want(hub, tmp_path, token="hf_secret"))
    assert "hf_secret" not in caplog.text
    assert SIGNATURE not in caplog.text


def test_the_token_goes_to_the_hub_and_to_nobody_else(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    repo = hub.repo(REPO)
    repo.gated = "manual"
    hub.tokens.add("hf_secret")
    repo.readers.add("hf_secret")
    get(want(hub, tmp_path, token="hf_secret"))
    assert [seen.headers.get("authorization") for seen in hub.seen("resolve/*")] == ["Bearer hf_secret"]
    assert [seen.headers.get("authorization") for seen in hub.seen("cdn/*")] == [None]
    assert not any("hf_secret" in str(seen.headers) + str(seen.query) for seen in hub.seen("cdn/*"))


def test_the_token_stays_away_even_when_a_redirect_leads_back(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    hub.tokens.add("hf_secret")
    back = hub.link(REPO, NAME).removeprefix(hub.url)
    hub.misbehave("resolve/*", redirect=hub.cdn_url + "/away", times=1)
    hub.misbehave("cdn/away", redirect=hub.url + back)
    get(want(hub, tmp_path, token="hf_secret"))
    assert (tmp_path / NAME).read_bytes() == data
    tokens = [seen.headers.get("authorization") for seen in hub.requests]
    assert tokens == ["Bearer hf_secret", None, None, None]


def test_a_moved_repository_is_followed_with_the_token(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    repo = hub.repo(REPO)
    repo.private = True
    hub.tokens.add("hf_secret")
    repo.readers.add("hf_secret")
    hub.moved["owner/old-name"] = REPO
    wanted = want(hub, tmp_path, token="hf_secret")
    get(want(hub, tmp_path, url=wanted.url.replace(REPO, "owner/old-name"), token="hf_secret"))


def test_a_proxy_is_used_as_the_hub_client_would(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = offer(hub)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("NO_PROXY", "localhost")  # the CDN
    monkeypatch.setenv("HTTP_PROXY", hub.url)
    url = want(hub, tmp_path).url.replace(hub.url, "http://hub.example")
    get(want(hub, tmp_path, url=url))
    assert (tmp_path / NAME).read_bytes() == data
    assert [seen.headers["host"] for seen in hub.seen("resolve/*")] == ["hub.example"]


def test_the_hub_client_adopts_the_file(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    place = tmp_path / "models" / REPO
    get(want(hub, place))
    sent = hub.sent(CDN)
    found = hf_hub_download(REPO, NAME, local_dir=place, cache_dir=tmp_path / "cache", endpoint=hub.url, token=False)
    assert Path(found) == place / NAME
    assert Path(found).read_bytes() == data
    assert hub.sent(CDN) == sent == len(data)


def test_a_meter_tells_the_rate_of_the_last_seconds_and_falls_to_zero() -> None:
    now = 0.0
    meter = Meter(Path("a"), 10_000, clock=lambda: now)
    meter.enter("receiving", 0)
    for step in range(1, 41):  # 100 bytes every 0.1 s
        now = step / 10
        meter.advance(step * 100)
        assert not meter.progress.silent
    assert meter.progress.rate == pytest.approx(1000, rel=0.05)
    assert meter.progress.left == pytest.approx(6, rel=0.05)
    while now < 8:
        now += 0.1
        meter.tick()
    assert 0 < meter.progress.rate < 500
    while now < 10:
        now += 0.1
        meter.tick()
    assert (meter.progress.rate, meter.progress.left, meter.progress.silent) == (0, None, True)
    meter.enter("waiting", 4000, wait=3, reason="why")
    assert (meter.progress.rate, meter.progress.wait, meter.progress.reason) == (0, 3, "why")
    meter.enter("receiving", 4000)
    now += 0.1
    meter.advance(4100)
    assert meter.progress.rate == 0, "too short to tell"


def test_a_download_is_silent_when_nothing_comes_of_any_file_that_is_connected() -> None:
    quiet = Progress(Path("a"), "receiving", 1, 2, silent=True)
    assert overall([quiet, Progress(Path("b"), "queued", 0, 2)]).silent
    assert not overall([quiet, Progress(Path("b"), "receiving", 1, 2)]).silent
    assert not overall([Progress(Path("b"), "connecting", 1, 2)]).silent


@pytest.mark.parametrize(
    ("states", "whole"),
    [
        (["done", "receiving"], "receiving"),
        (["connecting", "paused"], "connecting"),
        (["paused", "done"], "paused"),
        (["failed", "done"], "failed"),
        (["failed", "receiving"], "receiving"),
        (["ready", "done"], "ready"),
        (["done", "done"], "done"),
    ],
)
def test_the_state_of_several_is_the_liveliest(states: list[str], whole: str) -> None:
    files = [Progress(Path(state), state, 1, 10, rate=2) for state in states]  # type: ignore[arg-type]
    assert overall(files).state == whole
    assert (overall(files).done, overall(files).total, overall(files).rate, overall(files).left) == (2, 20, 4, 4.5)
