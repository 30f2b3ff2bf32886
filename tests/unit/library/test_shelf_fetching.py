"""Fetching by the shelf: pauses, failures, refusals, and what is there afterwards."""

from __future__ import annotations

import errno
import time
from pathlib import Path

import pytest

from app.library.records import Phase, ShelfError, State
from app.library.shelf import Shelf
from app.library.words import ended_words
from tests.fixtures.homes import ONE_TARGET, SHARED_DRAFT, Home
from tests.fixtures.hub import Hub
from tests.unit.library.shelves import HASTY, SOON, entry, pull, until


def test_a_repository_that_is_in_no_catalogue(home: Home, hub: Hub, shelf: Shelf) -> None:
    hub.repo("some/Model-GGUF").put("Model-Q4_K_M.gguf", home.files[ONE_TARGET])
    getting = pull(shelf, "some/Model-GGUF")
    assert (getting.key, getting.phase) == ("some/Model-GGUF/Model-Q4_K_M.gguf", Phase.DONE)
    here = entry(shelf, "Model-Q4_K_M")
    assert (here.state, here.own) == (State.READY, True)
    for name in ("some/Model-GGUF", "some/model-gguf:q4_k_m", "some/Model-GGUF/Model-Q4_K_M.gguf", "model-q4_k_m"):
        assert shelf.files(name) == [home.models / "some/Model-GGUF/Model-Q4_K_M.gguf"], name


def test_a_pause_keeps_the_bytes_and_a_new_start_goes_on(home: Home, hub: Hub, shelf: Shelf) -> None:
    hub.misbehave("cdn/*", throttle=20_000)
    shelf.start(shelf.plan("one"))
    hub.wait_sent(20_000, "cdn/*")
    shelf.pause("one")
    assert until(shelf, "one", Phase.PAUSED).speed == 0
    shelf.close()
    assert not any(one.running for one in shelf.downloads())
    hub.behave()

    fresh = Shelf(patience=HASTY)
    partly = entry(fresh, "one")
    assert partly.state is State.PARTLY
    assert 0 < partly.here < (partly.size or 0)
    assert not partly.usable
    before = hub.sent("cdn/*")
    assert pull(fresh, "one").phase is Phase.DONE
    total = len(home.files[ONE_TARGET]) + len(home.files[SHARED_DRAFT])
    assert hub.sent("cdn/*") - before <= total - 10_000, "what was there was not fetched again"
    assert (home.models / ONE_TARGET).read_bytes() == home.files[ONE_TARGET]


def test_resume_goes_on_in_the_same_run(home: Home, hub: Hub, shelf: Shelf) -> None:
    fault = hub.misbehave("cdn/*", throttle=30_000)
    shelf.start(shelf.plan("one"))
    hub.wait_sent(10_000, "cdn/*")
    shelf.pause("one")
    until(shelf, "one", Phase.PAUSED)
    hub.behave()
    assert fault.hits
    time.sleep(0.3)  # the connections are closed by then
    shelf.resume("one")
    until(shelf, "one", Phase.DONE)


def test_what_was_told_to_end_has_not_failed(home: Home, hub: Hub, shelf: Shelf) -> None:
    hub.misbehave("cdn/*", throttle=20_000)
    offer = shelf.plan("one")
    shelf.start(offer)
    hub.wait_sent(10_000, "cdn/*")
    shelf.close()
    ended = until(shelf, "one", Phase.PAUSED, Phase.FAILED)
    assert ended.phase is Phase.PAUSED
    assert {file.phase for file in ended.files} <= {Phase.PAUSED, Phase.WAITING}


def test_cancel_deletes_what_has_arrived(home: Home, hub: Hub, shelf: Shelf) -> None:
    hub.misbehave("cdn/*", throttle=20_000)
    shelf.start(shelf.plan("one"))
    hub.wait_sent(10_000, "cdn/*")
    shelf.cancel("one")
    until(shelf, "one", Phase.CANCELLED)
    assert home.names() == []
    assert entry(shelf, "one").state is State.ABSENT


def test_giving_up_says_what_became_of_the_bytes(home: Home, hub: Hub, shelf: Shelf) -> None:
    hub.misbehave("cdn/*", throttle=20_000)
    shelf.start(shelf.plan("one"))
    hub.wait_sent(10_000, "cdn/*")
    shelf.cancel("one")
    ended = until(shelf, "one", Phase.CANCELLED)
    assert ended_words(ended) == "One with draft was given up; what had arrived of it is deleted."


def test_giving_up_what_has_failed_forgets_what_was_kept(home: Home, hub: Hub, shelf: Shelf) -> None:
    hub.misbehave("cdn/org/one-GGUF/*", cut_after=5_000, times=1)
    hub.misbehave("cdn/org/one-GGUF/*", skip=1, status=404)
    assert "kept" in pull(shelf, "one").trouble
    shelf.cancel("one")
    ended = until(shelf, "one", Phase.CANCELLED)
    assert ended_words(ended) == "One with draft was given up; what had arrived of it is deleted."


def test_a_failure_says_what_was_kept_and_can_be_tried_again(home: Home, hub: Hub, shelf: Shelf) -> None:
    hub.misbehave("cdn/*", cut_after=5_000)
    offer = shelf.plan("one")
    shelf.start(offer)
    failed = until(shelf, "one", Phase.FAILED, Phase.DONE)
    if failed.phase is Phase.FAILED:
        assert "kept" in failed.trouble
    hub.behave()
    shelf.resume("one")
    until(shelf, "one", Phase.DONE)


def test_a_pair_is_not_offered_while_it_is_incomplete(home: Home, hub: Hub, shelf: Shelf) -> None:
    hub.misbehave("cdn/org/one-GGUF/*", stall_after=5_000)
    shelf.start(shelf.plan("one"))
    hub.wait_sent(5_000, "cdn/org/one-GGUF/*")
    deadline = time.monotonic() + SOON
    while (one := entry(shelf, "one")).state is not State.PARTLY:
        assert time.monotonic() < deadline
    assert one.target == ""
    with pytest.raises(ShelfError, match="is being fetched now; pause or cancel it first"):
        shelf.removal("one")
    shelf.close()


def test_a_file_that_a_running_download_needs_is_not_deleted(home: Home, hub: Hub, shelf: Shelf) -> None:
    assert pull(shelf, "one").phase is Phase.DONE
    hub.misbehave("cdn/org/other-GGUF/*", stall_after=5_000)
    shelf.start(shelf.plan("other"))
    hub.wait_sent(5_000, "cdn/org/other-GGUF/*")
    with pytest.raises(ShelfError, match="Other with draft is being fetched now and needs this; pause or cancel it"):
        shelf.removal("draft-Q8_0")
    assert shelf.removal("one-Q8_0").files, "what it does not need can go"
    shelf.pause("other")
    until(shelf, "other", Phase.PAUSED)
    assert shelf.removal("draft-Q8_0").files
    shelf.close()


def test_the_disk_is_looked_at_before_the_first_byte(
    monkeypatch: pytest.MonkeyPatch, home: Home, hub: Hub, shelf: Shelf
) -> None:
    monkeypatch.setattr("app.library.plan.free_bytes", lambda folder: 1_000)
    offer = shelf.plan("one")
    assert "1 kB free" in offer.refusal
    assert "nothing was fetched" in offer.refusal
    assert offer.refusal not in offer.text
    with pytest.raises(ShelfError, match="nothing was fetched"):
        shelf.start(offer)
    assert hub.sent("cdn/*") == 0


def test_wishes_that_make_no_sense_are_refused_in_words(home: Home, hub: Hub, shelf: Shelf) -> None:
    for wanted, words in (
        ("nobody", "No pair is named nobody; there are smollm2-135m"),
        ("../../evil", "is a path on this disk, not a model of the hub"),
        ("a/../../b", "names no repository"),
        ("org/nothing-GGUF", "org/nothing-GGUF"),
    ):
        with pytest.raises(ShelfError) as error:
            shelf.plan(wanted)
        assert words in str(error.value)
    assert home.names() == []


def test_a_hub_that_is_away_is_said_and_the_disk_still_works(
    monkeypatch: pytest.MonkeyPatch, home: Home, shelf: Shelf
) -> None:
    home.put(ONE_TARGET)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ShelfError, match="HF_HUB_OFFLINE"):
        shelf.plan("one")
    assert entry(shelf, "one").target


def test_a_disk_that_is_full_at_the_very_end_keeps_all_and_loses_no_note(
    monkeypatch: pytest.MonkeyPatch, home: Home, hub: Hub, shelf: Shelf
) -> None:
    def full(path: Path, data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("app.library.origins.write_whole", full)
        failed = pull(shelf, "one")
    assert failed.phase is Phase.FAILED
    assert "one-Q8_0.gguf: the disk is full: a little more is needed in " in failed.trouble
    assert failed.trouble.endswith("are kept; make room and start it again to continue.")
    assert f"{ONE_TARGET}.part" in home.names()
    before = hub.sent("cdn/*")
    shelf.resume("one")
    until(shelf, "one", Phase.DONE)
    assert hub.sent("cdn/*") == before, "nothing is fetched again"
    assert entry(shelf, "one").own


def test_a_repository_whose_folder_is_a_link_to_nowhere(home: Home, hub: Hub, shelf: Shelf) -> None:
    hub.repo("some/Model-GGUF").put("Model-Q4_K_M.gguf", home.files[ONE_TARGET])
    link = home.models / "some" / "Model-GGUF"
    link.parent.mkdir(parents=True)
    link.symlink_to(home.user / "unplugged")
    failed = pull(shelf, "some/Model-GGUF")
    assert (failed.phase, failed.trouble) == (
        Phase.FAILED,
        f"Model-Q4_K_M.gguf: there can be no file at {link} (it is a link that leads nowhere); nothing of it was "
        "received; move away what is there, or choose another folder.",
    )
