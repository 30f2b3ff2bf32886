"""A link where a transfer writes: nothing is written through it, and that is said."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.library.transfer.leftovers import discard, find_unfinished
from app.library.transfer.plain import plain_size
from app.library.transfer.sidecar import FRESH, LOCK, PART, SIDECAR, beside
from tests.fixtures.hub import Hub
from tests.fixtures.transfers import NAME, Running, failure, offer, want

MINE = b"my own words"


def words(path: Path) -> str:
    return (
        f"{NAME}: there can be no file at {path} (it is a link, and nothing is written through links); nothing of it "
        "was received; move away what is there, or choose another folder."
    )


@pytest.mark.parametrize("suffix", [PART, LOCK, FRESH])
@pytest.mark.parametrize("there", [True, False])
def test_nothing_is_written_through_a_link(hub: Hub, tmp_path: Path, suffix: str, there: bool) -> None:
    offer(hub)
    folder, elsewhere = tmp_path / "models", tmp_path / "elsewhere"
    folder.mkdir()
    if there:
        elsewhere.write_bytes(MINE)
    link = beside(folder / NAME, suffix)
    link.symlink_to(elsewhere)
    error = failure(want(hub, folder))
    assert (error.code, str(error)) == ("bad_path", words(link))
    assert elsewhere.exists() == there
    if there:
        assert elsewhere.read_bytes() == MINE
    assert hub.seen("cdn/*") == []


def test_a_link_in_the_place_of_the_notes_is_replaced_and_not_followed(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    folder, elsewhere = tmp_path / "models", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.write_bytes(MINE)
    beside(folder / NAME, SIDECAR).symlink_to(elsewhere)
    (path,) = Running([[want(hub, folder)]]).result()
    assert path.read_bytes() == data
    assert elsewhere.read_bytes() == MINE


def test_a_link_is_no_beginning(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(MINE)
    beside(tmp_path / NAME, PART).symlink_to(elsewhere)
    assert find_unfinished(tmp_path) == []
    assert plain_size(beside(tmp_path / NAME, PART)) is None
    assert discard(tmp_path / NAME)
    assert elsewhere.read_bytes() == MINE
    assert os.listdir(tmp_path) == ["elsewhere"]


def test_a_pipe_holds_nobody_up(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    os.mkfifo(beside(tmp_path / NAME, PART))
    error = failure(want(hub, tmp_path))
    assert f"there can be no file at {beside(tmp_path / NAME, PART)} (it is no plain file)" in str(error)


def test_a_folder_that_is_a_link_to_nowhere(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    link = tmp_path / "models"
    link.symlink_to(tmp_path / "unplugged")
    error = failure(want(hub, link))
    assert (error.code, str(error)) == (
        "bad_path",
        f"{NAME}: there can be no file at {link} (it is a link that leads nowhere); nothing of it was received; "
        "move away what is there, or choose another folder.",
    )
    assert not (tmp_path / "unplugged").exists()
