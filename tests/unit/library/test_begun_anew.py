"""A whole model with a download of the same file beside it: the model is used as ever, and the download is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.library.lookup import find_model
from app.library.origins import read_origin
from app.library.records import Phase, State
from app.library.shelf import Shelf
from app.library.transfer.sidecar import LOCK, PART, SIDECAR, Sidecar, beside
from app.library.walk import LeftOut, walk
from app.library.words import of_words
from engine.files.sizes import size_words
from tests.fixtures.homes import ONE_TARGET, OTHER_TARGET, SHARED_DRAFT, Home, write
from tests.fixtures.hub import Hub
from tests.unit.library.shelves import entry, pull, until

LOOSE = "some/Tiny-GGUF/Tiny-Q4_K_M.gguf"
GIVES_UP = f"slipstream models rm {LOOSE}"


def begin(home: Home, name: str) -> Path:
    """3 of 5 kB of a download."""
    path = home.models / name
    home.put(f"{name}{PART}", bytes(3000))
    Sidecar("http://hub/x", 5000, None).write(beside(path, SIDECAR))
    return path


@pytest.fixture
def loose(home: Home) -> Path:
    """A model that lies whole beside the beginning of its own download."""
    begin(home, LOOSE)
    return home.put(LOOSE, home.files[ONE_TARGET])


def test_the_model_is_listed_and_used_under_every_name(home: Home, loose: Path, shelf: Shelf) -> None:
    model = entry(shelf, "Tiny-Q4_K_M")
    assert (model.state, model.target) == (State.READY, str(loose))
    for name in ("Tiny-Q4_K_M", "some/Tiny-GGUF", LOOSE, str(loose)):
        assert shelf.files(name) == [loose], name
        assert shelf.check(name).usable, name
        assert [found.whole for found in shelf.verify(name, lambda *_: None)] == [None], name
    assert find_model("Tiny-Q4_K_M") == loose


def test_the_download_is_an_entry_of_its_own_that_can_be_given_up(home: Home, loose: Path, shelf: Shelf) -> None:
    begun = entry(shelf, LOOSE)
    assert (begun.title, begun.state, begun.usable) == ("Tiny-Q4_K_M (newer download)", State.PARTLY, False)
    assert [fact.text for fact in shelf.details(LOOSE)][:2] == [
        "a download that has not ended: 3 of 5 kB are here",
        "the file that it would replace is here and stays usable until then",
    ]
    assert shelf.unfinished("Tiny-Q4_K_M") == [
        f"Tiny-Q4_K_M.gguf is here and stays as it is; of a newer download of it 3 of 5 kB are here ({loose}.part); "
        f"this continues it: slipstream models pull {LOOSE}; this gives it up: {GIVES_UP}."
    ]
    removal = shelf.removal(LOOSE)
    assert removal.title == "The newer download of Tiny-Q4_K_M.gguf"
    assert (removal.files, removal.kept) == ((f"{loose}.part",), (f"{loose} stays: it is the file from before.",))
    assert shelf.remove(removal) == 3000
    assert home.names() == [LOOSE]
    assert Shelf().unfinished("Tiny-Q4_K_M") == []


def test_a_download_of_the_version_that_is_here_is_no_newer_one(home: Home, hub: Hub, shelf: Shelf) -> None:
    hub.repo("some/Tiny-GGUF").put("Tiny-Q4_K_M.gguf", home.files[ONE_TARGET])
    pull(shelf, LOOSE)
    loose, origin = home.models / LOOSE, read_origin(home.models / LOOSE)
    assert origin is not None
    home.put(f"{LOOSE}{PART}", bytes(3000))
    Sidecar("http://hub/x", 5000, origin.expected).write(beside(loose, SIDECAR))
    begun = entry(shelf, LOOSE)
    assert (begun.title, begun.state, begun.fetchable) == ("Tiny-Q4_K_M (second download)", State.PARTLY, False)
    assert "the same version of the file is here, whole: nobody needs this any more" in [
        fact.text for fact in shelf.details(LOOSE)
    ]
    assert shelf.unfinished("Tiny-Q4_K_M") == [
        f"Tiny-Q4_K_M.gguf is here, whole; of a second download of the same version 3 of 5 kB are here ({loose}.part); "
        f"this gives it up: {GIVES_UP}."
    ]
    assert shelf.removal(LOOSE).title == "The second download of Tiny-Q4_K_M.gguf"
    Sidecar("http://hub/x", 5000, "0" * 64).write(beside(loose, SIDECAR))
    assert entry(shelf, LOOSE).title == "Tiny-Q4_K_M (newer download)"


def test_pull_of_what_is_here_names_what_is_left_over(home: Home, hub: Hub, loose: Path, shelf: Shelf) -> None:
    hub.repo("some/Tiny-GGUF").put("Tiny-Q4_K_M.gguf", home.files[ONE_TARGET])
    offer = shelf.plan(LOOSE)
    assert offer.refusal == (
        f"{LOOSE} is here already; nothing is to be fetched. 3 kB of a download that is not needed any more lie "
        f"beside it; this deletes them: {GIVES_UP}"
    )
    shelf.remove(shelf.removal(LOOSE))
    assert shelf.plan(LOOSE).refusal == f"{LOOSE} is here already; nothing is to be fetched."


def test_what_a_kill_behind_the_renaming_left_goes_with_a_pull_or_the_file(home: Home, hub: Hub, shelf: Shelf) -> None:
    hub.repo("some/Tiny-GGUF").put("Tiny-Q4_K_M.gguf", home.files[ONE_TARGET])
    pull(shelf, LOOSE)
    whole = home.names()

    def kill() -> None:
        Sidecar("http://hub/x", 5000, None).write(beside(home.models / LOOSE, SIDECAR))
        beside(home.models / LOOSE, LOCK).touch()

    kill()
    assert shelf.plan(LOOSE).refusal == f"{LOOSE} is here already; nothing is to be fetched."
    assert home.names() == whole
    kill()
    shelf.remove(shelf.removal(LOOSE))
    assert home.names() == []


def test_an_update_that_broke_off_leaves_its_pair_ready(home: Home, hub: Hub, shelf: Shelf) -> None:
    pull(shelf, "one")
    begin(home, ONE_TARGET)
    fresh = Shelf()
    one = entry(fresh, "one")
    assert (one.state, one.target, one.fetchable) == (State.READY, str(home.models / ONE_TARGET), False)
    assert entry(fresh, ONE_TARGET).title == "one-Q8_0 (newer download)"
    assert [found.whole for found in fresh.verify(None, lambda *_: None)] == [True, True]
    (words,) = fresh.unfinished("one")
    assert words.startswith("one-Q8_0.gguf is here and stays as it is; of a newer download of it 3 of 5 kB are here")
    assert f"{home.models / ONE_TARGET}.part" in fresh.removal("one").files
    fresh.remove(fresh.removal("one"))
    assert home.names() == []


def test_a_model_that_is_deleted_takes_its_newer_download_along(home: Home, hub: Hub, shelf: Shelf) -> None:
    hub.repo("some/Tiny-GGUF").put("Tiny-Q4_K_M.gguf", home.files[OTHER_TARGET])
    pull(shelf, LOOSE)
    begin(home, LOOSE)
    shelf.remove(shelf.removal("Tiny-Q4_K_M"))
    assert home.names() == []


def test_a_part_that_a_pair_lacks_is_no_entry_of_its_own(home: Home, shelf: Shelf) -> None:
    begin(home, SHARED_DRAFT)
    assert shelf.listing().find(SHARED_DRAFT) is None
    (words,) = shelf.unfinished("one")
    assert words.startswith("draft-Q8_0.gguf is not whole: 3 of ")


def test_what_another_tool_writes_in_place_is_still_left_out(home: Home, folder: Path) -> None:
    file = write(folder / "m.gguf", b"GGUF")
    write(folder / "m.gguf.part", b"")
    assert LeftOut(file, "here", "it is still being written") in list(walk(folder, "here"))
    assert file in list(walk(folder, "here", ours=True)), "in our folder a part is a file of its own"
    Sidecar("http://hub/x", 5000, None).write(folder / "m.gguf.part.json")
    assert file in list(walk(folder, "here")), "with our note beside it, it is one everywhere"


def test_details_of_a_download_are_those_of_now(home: Home, hub: Hub, shelf: Shelf) -> None:
    """The last look at the disk was before its first byte."""
    shelf.listing()
    hub.misbehave("cdn/*", throttle=20_000)
    offers = shelf.plan("one"), shelf.plan("org/other-GGUF")
    for offer in offers:
        shelf.start(offer)
    hub.wait_sent(20_000, "cdn/*")
    for offer in offers:
        shelf.pause(offer.key)
        until(shelf, offer.key, Phase.PAUSED)
    shelf.close()
    pair, other = ({one.key: one for one in shelf.downloads()}[offer.key] for offer in offers)
    (target,) = (file for file in pair.files if file.name == "one-Q8_0.gguf")
    assert target.done
    said = [fact.text for fact in shelf.details("one") if fact.label == "target"]
    assert said == [f"one-Q8_0.gguf, {size_words(target.done)} are here"]
    assert [fact.text for fact in shelf.details(other.key)] == [
        f"a download that has not ended: {of_words(other.done, other.total)} are here"
    ]
