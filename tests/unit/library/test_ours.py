"""Which files Slipstream may delete and replace: those it fetched, as it left them, and no other."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from app.library.lookup import find_model
from app.library.origins import Origin, beside, own_origin, read_origin, write_origin
from app.library.records import Phase, ShelfError, State
from app.library.shelf import Shelf
from app.tui.model_choice import uses
from engine.files.fingerprint import SPAN
from tests.fixtures.headers import write_model
from tests.fixtures.homes import ONE_TARGET, SHARED_DRAFT, Home
from tests.fixtures.hub import Hub
from tests.unit.library.shelves import SOON, entry, pull, until


def damage(file: Path) -> None:
    """A bit that has turned in the middle, as a bad disk does it: the time of change stays."""
    before = file.stat()
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def verify(shelf: Shelf, name: str) -> list[bool | None]:
    return [one.whole for one in shelf.verify(name, lambda *step: None)]


# ---------------------------------------------------------------------------------------------------------- deleting


def test_a_pull_that_fails_leaves_no_note_and_a_file_put_there_is_not_ours(home: Home, hub: Hub, shelf: Shelf) -> None:
    hub.misbehave("cdn/org/one-GGUF/*", status=403)
    assert pull(shelf, "one").phase is Phase.FAILED
    target = home.models / ONE_TARGET
    assert not beside(target).exists()
    assert own_origin(home.models / SHARED_DRAFT) is not None, "what was fetched before is ours"
    home.put(ONE_TARGET)
    removal = shelf.removal("one")
    assert [Path(file).name for file in removal.files] == ["draft-Q8_0.gguf"]
    shelf.remove(removal)
    assert target.exists()


@pytest.mark.parametrize("change", ["longer", "later"])
def test_a_note_beside_another_file_makes_nothing_ours(home: Home, hub: Hub, shelf: Shelf, change: str) -> None:
    assert pull(shelf, "one").phase is Phase.DONE
    target = home.models / ONE_TARGET
    status = target.stat()
    target.unlink()
    mine = home.put(ONE_TARGET, home.files[ONE_TARGET] + (b"mine" if change == "longer" else b""))
    os.utime(mine, ns=(status.st_atime_ns, status.st_mtime_ns + (change == "later")))
    assert read_origin(target) is not None
    assert [Path(file).name for file in shelf.removal("one").files] == ["draft-Q8_0.gguf"]
    assert any("not the file that Slipstream fetched any more" in words for words in shelf.removal("one").kept)


def test_a_fetched_file_that_was_cut_off_is_not_said_to_be_somebody_elses(home: Home, hub: Hub, shelf: Shelf) -> None:
    assert pull(shelf, "one").phase is Phase.DONE
    target = home.models / ONE_TARGET
    os.truncate(target, target.stat().st_size - 5)
    other = f"{target} is another file than the hub's, and it was changed since Slipstream fetched it"
    assert shelf.plan("one").refusal == f"{other}; nothing was changed. Move or delete it, then start again."
    (found, *_) = shelf.verify("one", lambda *step: None)
    assert not found.whole
    assert found.words.lower().endswith("delete it and fetch it again.")


def test_a_pull_never_overwrites_a_file_of_the_users(home: Home, hub: Hub, shelf: Shelf) -> None:
    mine = home.put(ONE_TARGET, b"my own notes")
    offer = shelf.plan("one")
    assert offer.refusal == (
        f"{mine} is another file than the hub's, and Slipstream did not fetch it; nothing was changed. "
        "Move or delete it, then start again."
    )
    assert "another file of that name is here" in offer.text
    with pytest.raises(ShelfError, match="nothing was changed"):
        shelf.start(offer)
    assert mine.read_bytes() == b"my own notes"
    assert hub.sent("cdn/*") == 0


# ---------------------------------------------------------------------------------------------- damaged and changed


def test_what_verify_found_damaged_stays_known_and_is_fetched_again(home: Home, hub: Hub, shelf: Shelf) -> None:
    assert pull(shelf, "one").phase is Phase.DONE
    target = home.models / ONE_TARGET
    damage(target)
    assert entry(shelf, "one").state is State.READY, "nobody has looked yet"
    assert verify(shelf, "one") == [False, True]
    one = entry(Shelf(), "one")
    assert (one.state, one.target) == (State.BROKEN, "")
    assert one.trouble.startswith("one-Q8_0.gguf is damaged: its hash is not the one the hub announced")
    assert str(target) in Shelf().removal("one-Q8_0.gguf").files, "as verify advises: delete it"
    offer = shelf.plan("one")
    assert (offer.refusal, offer.missing) == ("", len(home.files[ONE_TARGET]))
    assert "to fetch, the one here is damaged" in offer.text
    shelf.start(offer)
    assert until(shelf, "one", Phase.DONE, Phase.FAILED).phase is Phase.DONE
    assert target.read_bytes() == home.files[ONE_TARGET]
    assert entry(shelf, "one").state is State.READY
    assert verify(shelf, "one") == [True, True]


def test_a_damaged_copy_does_not_hide_a_healthy_one(home: Home, hub: Hub, shelf: Shelf) -> None:
    assert pull(shelf, "one").phase is Phase.DONE
    healthy = home.studio("one-Q8_0.gguf", home.files[ONE_TARGET])
    damage(home.models / ONE_TARGET)
    assert False in verify(shelf, "one")
    one = entry(shelf, "one")
    assert one.target == str(healthy)
    assert any(e.state is State.BROKEN and e.title.startswith("one") for e in shelf.listing().entries)


def test_a_new_version_on_the_hub_is_seen(home: Home, hub: Hub, shelf: Shelf) -> None:
    assert pull(shelf, "one").phase is Phase.DONE
    newer = bytearray(home.files[ONE_TARGET])
    newer[-1] ^= 1
    hub.repo("org/one-GGUF").put("one-Q8_0.gguf", bytes(newer))
    offer = shelf.plan("one")
    assert "to fetch, changed on the hub since" in offer.text
    assert (offer.refusal, offer.missing) == ("", len(newer))
    shelf.start(offer)
    assert until(shelf, "one", Phase.DONE, Phase.FAILED).phase is Phase.DONE
    assert (home.models / ONE_TARGET).read_bytes() == bytes(newer)
    assert shelf.plan("one").refusal == "One with draft is here already; nothing is to be fetched."


def test_what_a_person_puts_there_after_the_plan_is_not_overwritten(home: Home, hub: Hub, shelf: Shelf) -> None:
    assert pull(shelf, "one").phase is Phase.DONE
    damage(home.models / ONE_TARGET)
    assert False in verify(shelf, "one")
    offer = shelf.plan("one")
    mine = home.put(ONE_TARGET, b"my own notes")
    shelf.start(offer)
    failed = until(shelf, "one", Phase.DONE, Phase.FAILED)
    assert failed.phase is Phase.FAILED
    assert "is not the hub's file" in failed.trouble
    assert mine.read_bytes() == b"my own notes"


def test_what_is_here_is_here_also_without_the_hub(home: Home, shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pull(shelf, "one").phase is Phase.DONE
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert shelf.plan("one").refusal == "One with draft is here already; nothing is to be fetched."


# -------------------------------------------------------------------------------------------------------- copies


def test_a_copy_under_another_name_takes_nothing_away(home: Home, shelf: Shelf) -> None:
    starter = Path(entry(shelf, "smollm2-135m").target)
    copy = home.put("another-name.gguf", starter.read_bytes())
    link = home.models / "link.gguf"
    link.symlink_to(starter)
    here = entry(shelf, "smollm2-135m")
    assert (here.state, Path(here.target)) == (State.READY, starter), "the one in use is marked by its path"
    assert entry(shelf, "another-name").target == str(copy)
    assert uses(shelf.listing(), str(starter), "") == {"smollm2-135m": "in use"}
    assert uses(shelf.listing(), str(copy), "") == {"another-name": "in use"}
    assert shelf.files(str(starter)) == [starter], "a path means the file that lies there"


def test_a_catalogue_file_of_another_tool_counts_also_where_a_copy_was_seen_first(home: Home, shelf: Shelf) -> None:
    home.put("renamed.gguf", home.files[ONE_TARGET])
    there = home.studio("one-Q8_0.gguf", home.files[ONE_TARGET])
    home.put(SHARED_DRAFT)
    one = entry(shelf, "one")
    assert (one.state, one.target) == (State.IN_PLACE, str(there))
    assert entry(shelf, "renamed").usable


def test_a_copy_is_found_by_its_own_name(home: Home, shelf: Shelf) -> None:
    home.put("mine.gguf", home.files[ONE_TARGET])
    copy = home.studio("another-name.gguf", home.files[ONE_TARGET])
    for name in ("another-name", "Another-Name.gguf", str(copy)):
        assert shelf.files(name) == [copy], name
        assert find_model(name) == copy, name
    assert shelf.check("another-name").usable
    with pytest.raises(ShelfError, match="Slipstream did not fetch it"):
        shelf.remove(shelf.removal("another-name"))


def test_large_files_of_one_name_and_size_are_two_and_the_name_means_ours(home: Home, shelf: Shelf) -> None:
    ours, theirs = (home.models / "big.gguf", home.user / ".lmstudio/models/pub/model/big.gguf")
    for path in (ours, theirs):
        write_model(path, size=3 * SPAN)
    keys = [one.key for one in shelf.listing().entries]
    assert {"big", str(theirs)} <= {*keys}, "they may be the same and may not: nobody has read them whole"
    assert shelf.files("big") == [ours]
    assert find_model("big") == ours
    for path, known in ((ours, "0" * 64), (theirs, "1" * 64)):
        write_origin(path, Origin("o/r", "c" * 40, path.name, path.stat().st_size, sha256=known))
    with pytest.raises(ShelfError, match="big is 2 models on this disk"):
        Shelf().files("big")


def test_a_copy_is_never_a_draft_of_itself(home: Home, shelf: Shelf) -> None:
    home.put("mine.gguf", home.files[ONE_TARGET])
    home.studio("copy.gguf", home.files[ONE_TARGET])
    words = "the model itself: a draft that is as slow as its target cannot pay"
    for target, draft in (("mine", "copy"), ("copy", "mine")):
        assert words in [fact.text for fact in shelf.check(target, draft).facts], (target, draft)


# ------------------------------------------------------------------------------------------------------- giving up


def test_what_giving_up_deletes_is_counted_without_what_is_whole(home: Home, hub: Hub, shelf: Shelf) -> None:
    hub.misbehave("cdn/org/one-GGUF/*", stall_after=5_000)
    shelf.start(shelf.plan("one"))
    hub.wait_sent(5_000, "cdn/org/one-GGUF/*")
    deadline = time.monotonic() + SOON
    whole = len(home.files[SHARED_DRAFT])
    while (getting := shelf.downloads()[0]).done <= whole or getting.unfinished != getting.done - whole:
        assert time.monotonic() < deadline
    assert 0 < getting.unfinished <= len(home.files[ONE_TARGET])
    shelf.close()
