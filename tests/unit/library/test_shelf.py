"""The shelf against a hub on loopback and a disk with everything on it that people have."""

from __future__ import annotations

from pathlib import Path

import pytest

from app import paths
from app.chats.store import open_chats
from app.library import entries
from app.library.origins import read_origin
from app.library.records import Phase, ShelfError, State
from app.library.room import Room
from app.library.shelf import Shelf
from app.library.words import state_words
from app.tui.model_choice import uses
from engine.files.fit import ON_EACH_GPU
from engine.protocol import Device
from tests.fixtures.homes import ONE_TARGET, OTHER_TARGET, SHARED_DRAFT, Home
from tests.fixtures.hub import Hub
from tests.unit.history.test_speeds import answered
from tests.unit.library.shelves import entry, pull


def test_looking_asks_no_hub(home: Home, hub: Hub, shelf: Shelf) -> None:
    listing = shelf.listing()
    keys = [one.key for one in listing.entries]
    assert keys[0] == "smollm2-135m"
    assert {"one", "other"} <= set(keys)
    assert listing.free_disk
    assert listing.cores
    one = entry(shelf, "one")
    assert (one.state, one.size, one.here) == (
        State.ABSENT,
        sum(map(len, (home.files[ONE_TARGET], home.files[SHARED_DRAFT]))),
        0,
    )
    assert one.memory == 100_000_000
    assert any("not here" in fact.text for fact in shelf.details("one"))
    with pytest.raises(ShelfError, match="Nothing of One with draft is on this disk"):
        shelf.remove(shelf.removal("one"))
    assert hub.requests == []


def test_a_pair_that_was_fetched_is_ready_and_known_again_after_a_restart(home: Home, hub: Hub, shelf: Shelf) -> None:
    offer = shelf.plan("one")
    assert "Apache-2.0" in offer.text
    assert offer.missing == len(home.files[ONE_TARGET]) + len(home.files[SHARED_DRAFT])
    assert hub.sent("cdn/*") == 0, "a plan fetches nothing"
    assert pull(shelf, "one").phase is Phase.DONE
    again = Shelf()
    one = entry(again, "one")
    assert one.state is State.READY
    assert Path(one.target).read_bytes() == home.files[ONE_TARGET]
    assert one.draft.endswith("draft-Q8_0.gguf")
    assert one.own
    assert entry(again, "other").state is State.PARTLY, "its draft is here"
    verdict = next(fact for fact in again.details("one") if fact.label == "draft")
    assert "same vocabulary" in verdict.text or "too large to pay" in verdict.text
    with pytest.raises(ShelfError, match="One with draft is here already; nothing is to be fetched"):
        again.start(again.plan("one"))
    origin = read_origin(home.models / ONE_TARGET)
    assert origin is not None
    assert origin.repo == "org/one-GGUF"


def test_models_of_other_tools_count_where_they_lie(home: Home, hub: Hub, shelf: Shelf) -> None:
    there = home.studio("one-Q8_0.gguf", home.files[ONE_TARGET])
    one = entry(shelf, "one")
    assert (one.state, one.target, one.draft) == (State.PARTLY, str(there), "")
    offer = shelf.plan("one")
    assert offer.missing == len(home.files[SHARED_DRAFT]), "what lies there is not fetched again"
    assert "read in place, LM Studio" in offer.text
    assert pull(shelf, "one").phase is Phase.DONE
    assert entry(shelf, "one").state is State.IN_PLACE
    removal = shelf.removal("one")
    assert all(".lmstudio" not in file for file in removal.files)
    shelf.remove(removal)
    assert there.exists()
    with pytest.raises(ShelfError, match=r"one-Q8_0.gguf stays \(LM Studio\): Slipstream did not fetch it"):
        shelf.remove(shelf.removal("one"))


def test_what_cannot_be_used_is_listed_with_its_reason(home: Home, shelf: Shelf) -> None:
    whole = home.files[ONE_TARGET]
    home.studio("cut.gguf", whole[: len(whole) - 1000])
    home.studio("page.gguf", b"<html>404</html>" * 50)
    home.studio("big-endian.gguf", b"GGUF" + (3).to_bytes(4, "big") + whole[8:])
    home.studio("later.gguf", b"GGUF" + (99).to_bytes(4, "little") + whole[8:])
    home.studio("empty.gguf", b"")
    states = {name: State.UNREADABLE for name in ("page", "big-endian", "later")}
    for name, state in {"cut": State.BROKEN, "empty": State.BROKEN, **states}.items():
        broken = entry(shelf, name)
        assert (broken.state, broken.usable, broken.place) == (state, False, "on this disk (LM Studio)")
        assert state_words(broken) == ("not readable" if name in states else "not whole")
        assert broken.trouble
        assert any(fact.tone == "warn" for fact in shelf.details(name))


def test_a_file_that_was_put_there_by_hand_is_used_and_never_deleted(home: Home, shelf: Shelf) -> None:
    home.put("mine.gguf", home.files[OTHER_TARGET])
    mine = entry(shelf, "mine")
    assert (mine.state, mine.own) == (State.READY, False)
    removal = shelf.removal("mine")
    assert "Slipstream did not fetch it" in removal.refusal
    with pytest.raises(ShelfError):
        shelf.remove(removal)
    assert (home.models / "mine.gguf").exists()


def test_two_files_of_one_name_are_told_apart_by_their_paths(home: Home, shelf: Shelf) -> None:
    first = home.studio("twin.gguf", home.files[ONE_TARGET])
    second = home.put("twin.gguf", home.files[OTHER_TARGET])
    assert {str(first), str(second)} <= {one.key for one in shelf.listing().entries}
    with pytest.raises(ShelfError, match=r"twin is 2 models on this disk: .* Name one by its path"):
        shelf.find("twin")
    assert shelf.files(str(second)) == [second]


def test_what_does_not_fit_is_said(monkeypatch: pytest.MonkeyPatch, home: Home, shelf: Shelf) -> None:
    small = Room(disk=10**9, memory=50_000_000, free_memory=50_000_000, cores=1)
    assert [one.fits for one in entries.all_entries(shelf._look(), small, {}) if one.key == "one"] == [False]
    unknown = Room(disk=None, memory=None, free_memory=None, cores=1)
    assert [one.fits for one in entries.all_entries(shelf._look(), unknown, {}) if one.key == "one"] == [None]


def test_what_there_is_to_begin_with(monkeypatch: pytest.MonkeyPatch, home: Home, hub: Hub, shelf: Shelf) -> None:
    laptop = Room(disk=10**12, memory=24 * 10**9, free_memory=22 * 10**9, cores=8)
    monkeypatch.setattr("app.library.looking.look", lambda *what: laptop)
    nothing = shelf.suggestion()
    assert (nothing.starter.key, nothing.found) == ("smollm2-135m", ())
    assert nothing.best is not None
    assert nothing.best.key == "qwen3-8b"
    assert nothing.missing == nothing.best.size
    home.studio("one-Q8_0.gguf", home.files[ONE_TARGET])
    home.studio("cut.gguf", home.files[ONE_TARGET][:-1000])
    home.put("mine.gguf", home.files[OTHER_TARGET])
    assert dict(shelf.suggestion().found) == {"LM Studio": 1, "models folder": 1}
    assert hub.requests == []


def test_gpus_count_once_an_engine_has_said_so(home: Home, shelf: Shelf) -> None:
    assert shelf.listing().free_gpu_memory is None
    card = Device(name="CUDA0", description="a card", kind="gpu", memory_total=24 * 10**9, memory_free=20 * 10**9)
    shelf.see_gpus((card,))
    assert shelf.listing().free_gpu_memory == 20 * 10**9 - ON_EACH_GPU
    assert any("on the GPU" in fact.text for fact in shelf.details("one"))


def test_details_say_how_fast_a_model_was_here(home: Home, shelf: Shelf) -> None:
    home.put("mine.gguf", home.files[OTHER_TARGET])
    mine = entry(shelf, "mine")
    store = open_chats(paths.chats_file(), lambda notice: None)
    for rate in (40.0, 42.0, 41.0, 40.0, 43.0, 20.0):
        answered(store, mine.target, rate)
    store.close()
    assert entry(shelf, "mine").speed == 40.5
    facts = [(fact.label, fact.text, fact.tone) for fact in shelf.details("mine")]
    assert [label for label, _, _ in facts[:3]] == ["about", "speed here", ""]
    assert facts[1][1] == "auto, exact  ▇██▇█▄  40 tok/s, 20 to 43 in 6 answers"
    assert facts[2][1:] == ("The last answer: 20 tok/s, usually 41 here: the cause was not measured.", "warn")


def test_a_pair_that_was_put_together_by_hand_has_a_row_with_its_own_speed(
    home: Home, shelf: Shelf, tmp_path: Path
) -> None:
    home.put("mine.gguf", home.files[OTHER_TARGET])
    mine, draft = entry(shelf, "mine"), tmp_path / "elsewhere-Q8_0.gguf"
    draft.write_bytes(home.files[ONE_TARGET])
    store = open_chats(paths.chats_file(), lambda notice: None)
    for rate in (40.0, 42.0, 41.0):
        answered(store, mine.target, rate, draft=str(draft))
    store.close()
    assert entry(shelf, "mine").speed is None, "with a draft it is another pair"
    assert "speed here" not in [fact.label for fact in shelf.details("mine")]
    used = (mine.target, str(draft))
    listing = shelf.listing(used)
    row = listing.entries[0]
    assert (row.target, row.draft, row.speed) == (*used, 41.0)
    assert row.title == f"{mine.title} + elsewhere F32"
    assert uses(listing, *used) == {row.key: "in use"}
    facts = {fact.label: fact.text for fact in shelf.details(row.key)}
    assert facts["speed here"] == "auto, exact  ███  41 tok/s, 40 to 42 in 3 answers"
    assert facts["draft"] == f"elsewhere F32, {draft}"
    for without in ((mine.target, ""), (mine.target, str(tmp_path / "gone.gguf"))):
        assert shelf.listing(without).find(row.key) is None


def test_a_folder_of_the_users_is_read_in_place(home: Home, shelf: Shelf, tmp_path: Path) -> None:
    folder = tmp_path / "my models"
    folder.mkdir()
    (folder / "own.gguf").write_bytes(home.files[ONE_TARGET])
    assert shelf.add_folder(folder) == (folder, 1)
    assert entry(shelf, "own").place == "on this disk (added folder)"
    assert ("added folder", folder) in shelf.folders()
    assert shelf.remove_folder(folder)
    assert not shelf.remove_folder(folder)
    assert shelf.listing().find("own") is None
    with pytest.raises(ShelfError, match="does not exist; a folder with model files is wanted"):
        shelf.add_folder(tmp_path / "nowhere")


def test_an_added_folder_that_is_gone_is_said(home: Home, shelf: Shelf, tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    shelf.add_folder(folder)
    folder.rmdir()
    assert any("there is no such folder" in words for words in shelf.listing().complaints)


def test_a_pair_is_judged_by_its_files(home: Home, shelf: Shelf, random_model: Path) -> None:
    one, draft = home.put(ONE_TARGET), home.put(SHARED_DRAFT)
    other = home.put("random.gguf", random_model.read_bytes())
    fits, words = shelf.judge(str(one), str(draft))
    assert fits, words
    fits, words = shelf.judge(str(one), str(other))
    assert not fits
    assert "vocabulary" in words
    check = shelf.check("one")
    assert check.usable
    assert {"target", "draft", "memory"} <= {fact.label for fact in check.facts}
    assert not shelf.check("one", "random").usable
    with pytest.raises(ShelfError, match="Get it with: slipstream models pull other"):
        shelf.check("other")


def test_a_path_outside_of_every_known_folder(home: Home, shelf: Shelf, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    target, draft = elsewhere / "t.gguf", elsewhere / "d.bin"
    target.write_bytes(home.files[ONE_TARGET])
    draft.write_bytes(home.files[SHARED_DRAFT])
    check = shelf.check(str(target), str(draft))
    assert any(str(draft) in fact.text for fact in check.facts)
    assert any("same vocabulary" in fact.text or "too large to pay" in fact.text for fact in check.facts)
    assert [one.whole for one in shelf.verify(str(target), lambda *step: None)] == [None]
    assert "Slipstream did not fetch it" in shelf.removal(str(target)).refusal
    with pytest.raises(ShelfError, match=rf"^There is no file {elsewhere}/x.gguf\.$"):
        shelf.check(f"{elsewhere}/x.gguf")
    with pytest.raises(ShelfError, match="is a folder, and a model is a file"):
        next(iter(shelf.verify(str(elsewhere), lambda *step: None)))
    assert shelf.judge(str(target), str(draft))[0], "a chat was given them by their paths"
    assert shelf.judge(str(target), str(elsewhere)) == (False, f"{elsewhere} was not found on this disk")
    part = elsewhere / "Cut-00001-of-00002.gguf"
    part.write_bytes(home.files[ONE_TARGET])
    assert not shelf.check(str(part)).usable
    assert any("Cut-00002-of-00002.gguf" in fact.text for fact in shelf.check(str(part)).facts)
