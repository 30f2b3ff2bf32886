"""Replacing a file of the user's own: never without being told, never another than the one that was shown."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

import pytest

from app.library.origins import own_origin
from app.library.records import Offer, Phase, ShelfError
from app.library.replacing import look_at, why_it_stays
from app.library.shelf import Shelf
from tests.fixtures.homes import ONE_TARGET, Home
from tests.fixtures.hub import Hub
from tests.unit.library.shelves import until

MINE = b"my own notes"


def agreed(shelf: Shelf) -> Offer:
    """The offer of somebody who has seen what would be lost."""
    return shelf.replacing(shelf.plan("one"))


def test_the_offer_says_what_would_be_lost_and_changes_nothing(home: Home, hub: Hub, shelf: Shelf) -> None:
    mine = home.put(ONE_TARGET, MINE)
    first = shelf.plan("one")
    assert first.replaceable == (str(mine),)
    seen: list[tuple[Path, int, int]] = []
    offer = shelf.replacing(first, lambda *step: seen.append(step))
    assert (offer.refusal, offer.replaceable, offer.replaced) == ("", (), (str(mine),))
    short = hashlib.sha256(MINE).hexdigest()[:8]
    when = r"\d{4}-\d\d-\d\d \d\d:\d\d"
    told = rf"replaces {re.escape(str(mine))}, 12 bytes, changed {when}, SHA-256 {short}: lost for good"
    assert re.search(told, offer.text)
    assert seen == [(mine, len(MINE), len(MINE))]
    assert mine.read_bytes() == MINE
    assert hub.sent("cdn/*") == 0


def test_with_consent_the_hubs_file_takes_its_place_and_is_ours(home: Home, shelf: Shelf) -> None:
    mine = home.put(ONE_TARGET, MINE)
    shelf.start(agreed(shelf))
    assert until(shelf, "one", Phase.DONE, Phase.FAILED).phase is Phase.DONE
    assert mine.read_bytes() == home.files[ONE_TARGET]
    assert own_origin(mine) is not None


def test_it_stays_until_the_new_one_is_whole(home: Home, hub: Hub, shelf: Shelf) -> None:
    mine = home.put(ONE_TARGET, MINE)
    hub.misbehave("cdn/org/one-GGUF/*", status=403)
    hub.misbehave("cdn/org/one-GGUF/*", cut_after=5_000, times=1)
    shelf.start(agreed(shelf))
    assert until(shelf, "one", Phase.DONE, Phase.FAILED).phase is Phase.FAILED
    assert mine.read_bytes() == MINE


def test_a_file_that_was_changed_after_the_question_is_kept(home: Home, hub: Hub, shelf: Shelf) -> None:
    mine = home.put(ONE_TARGET, MINE)
    offer = agreed(shelf)
    mine.write_bytes(b"other notes, written since")
    shelf.start(offer)
    failed = until(shelf, "one", Phase.DONE, Phase.FAILED)
    assert "is not the hub's file" in failed.trouble
    assert mine.read_bytes() == b"other notes, written since"


@pytest.mark.parametrize("consent", [True, False])
def test_what_is_put_there_while_bytes_come_is_kept(home: Home, hub: Hub, shelf: Shelf, consent: bool) -> None:
    if consent:
        home.put(ONE_TARGET, MINE)
    hub.misbehave("cdn/org/one-GGUF/*", stall_after=5_000, times=1)
    shelf.start(agreed(shelf) if consent else shelf.plan("one"))
    hub.wait_sent(5_000, "cdn/org/one-GGUF/*")
    mine = home.put(ONE_TARGET, b"put here meanwhile")
    failed = until(shelf, "one", Phase.DONE, Phase.FAILED)
    assert failed.phase is Phase.FAILED
    assert failed.trouble.startswith(
        f"one-Q8_0.gguf: it is whole, but another file of that name lies in {mine.parent} now; all "
    )
    assert failed.trouble.endswith("are kept; move or delete that one, then start again.")
    assert mine.read_bytes() == b"put here meanwhile"
    mine.unlink()
    sent = hub.sent("cdn/org/one-GGUF/*")
    shelf.start(shelf.plan("one"))
    assert until(shelf, "one", Phase.DONE, Phase.FAILED).phase is Phase.DONE
    assert hub.sent("cdn/org/one-GGUF/*") == sent, "the bytes that were kept are used"


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_never_replaced_nor_followed(home: Home, hub: Hub, shelf: Shelf, there: bool) -> None:
    elsewhere = home.user / "elsewhere.gguf"
    if there:
        elsewhere.write_bytes(MINE)
    link = home.models / ONE_TARGET
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere)
    offer = shelf.plan("one")
    assert offer.refusal == (
        f"{link} is another file than the hub's, and it is a link to {elsewhere}, and links are never replaced; "
        "nothing was changed. Move or delete it, then start again."
    )
    assert offer.replaceable == ()
    assert shelf.replacing(offer) is offer
    with pytest.raises(ShelfError, match="links are never replaced"):
        shelf.start(offer)
    assert link.is_symlink()
    assert not there or elsewhere.read_bytes() == MINE
    assert hub.sent("cdn/*") == 0


def test_a_file_behind_a_linked_folder_is_outside(home: Home, shelf: Shelf) -> None:
    outside = home.user / "outside"
    outside.mkdir()
    folder = (home.models / ONE_TARGET).parent
    folder.parent.mkdir(parents=True)
    folder.symlink_to(outside)
    mine = home.put(ONE_TARGET, MINE)
    offer = shelf.plan("one")
    assert f"it lies outside {home.models}, behind a link; nothing was changed." in offer.refusal
    assert offer.replaceable == ()
    assert mine.read_bytes() == MINE


def test_a_models_folder_that_is_a_link_itself_is_the_users_choice(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    models = tmp_path / "models"
    models.symlink_to(tmp_path / "disk")
    (models / "a.gguf").write_bytes(MINE)
    assert why_it_stays(models / "a.gguf", models) == ""
    assert why_it_stays(tmp_path / "disk", models) == "it is no plain file"


def test_a_file_that_cannot_be_read_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(ShelfError, match="could not be read, so what would be lost cannot be shown"):
        look_at(tmp_path / "gone.gguf", lambda *step: None)


def test_a_file_is_known_by_its_size_and_its_time_of_change(tmp_path: Path) -> None:
    file = tmp_path / "a.gguf"
    file.write_bytes(MINE)
    standing = look_at(file, lambda *step: None)
    assert standing.is_there
    status = file.stat()
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert not standing.is_there
    file.unlink()
    assert not standing.is_there
