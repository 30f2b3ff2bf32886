"""What has arrived whole and is no model: said plainly, deleted, and never offered."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from app.library.arrived import why_no_model
from app.library.records import Phase
from app.library.shelf import Shelf
from app.library.transfer.wanted import Arrived
from tests.fixtures.disks import write_parts
from tests.fixtures.headers import write_model
from tests.fixtures.homes import Home
from tests.fixtures.hub import Hub
from tests.unit.library.shelves import entry, pull

NOISE = random.Random(1).randbytes(50_000)
REPO = "some/Model-GGUF"
DELETED = "the hub has nothing else under that name, so choose another file."


def test_random_bytes_are_no_model_and_nothing_of_them_stays(home: Home, hub: Hub, shelf: Shelf) -> None:
    hub.repo(REPO).put("Model-Q4_K_M.gguf", NOISE)
    failed = pull(shelf, REPO)
    assert failed.phase is Phase.FAILED
    assert failed.trouble == (
        "Model-Q4_K_M.gguf: all of it arrived, and it is no model that can be used: it is not a GGUF model file; "
        f"it was deleted; {DELETED}"
    )
    assert home.names() == []
    assert not any(one.key.startswith(REPO) or one.key.startswith("Model") for one in shelf.listing().entries)


def test_a_header_that_promises_more_than_the_hub_has(home: Home, hub: Hub, shelf: Shelf, tmp_path: Path) -> None:
    whole = write_model(tmp_path / "m.gguf").read_bytes()
    hub.repo(REPO).put("Model-Q4_K_M.gguf", whole[:-1000])
    trouble = pull(shelf, REPO).trouble
    assert f"it is incomplete: the header promises {len(whole):,} bytes, {len(whole) - 1000:,} are here" in trouble
    assert home.names() == []


def test_parts_whose_headers_do_not_say_that_they_are_parts(home: Home, hub: Hub, shelf: Shelf, tmp_path: Path) -> None:
    for number in (1, 2):
        data = write_model(tmp_path / "m.gguf", size=100_000 + number).read_bytes()
        hub.repo(REPO).put(f"Model-Q4_K_M-0000{number}-of-00002.gguf", data)
    failed = pull(shelf, REPO)
    assert failed.trouble == (
        "Model-Q4_K_M-00001-of-00002.gguf: all of it arrived, and it is no model that can be used: the header of part "
        f"1 of 2 does not say that it is that part; they were deleted; {DELETED}"
    )
    assert home.names() == []


def test_a_model_in_parts_arrives(home: Home, hub: Hub, shelf: Shelf, tmp_path: Path) -> None:
    for path in write_parts(tmp_path / "parts", "Model-Q4_K_M", 2):
        hub.repo(REPO).put(path.name, path.read_bytes())
    assert pull(shelf, REPO).phase is Phase.DONE
    assert entry(shelf, "Model-Q4_K_M-00001-of-00002").usable


def test_a_disk_that_refuses_says_nothing_about_the_file(
    home: Home, hub: Hub, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.repo(REPO).put("Model-Q4_K_M.gguf", NOISE)

    def refuse(path: Path, *, name: str) -> None:
        raise OSError(5, "Input/output error", str(path))

    monkeypatch.setattr("app.library.arrived.read_header", refuse)
    failed = pull(shelf, REPO)
    assert "the disk refused (input/output error); all 50 kB are kept" in failed.trouble
    assert f"{REPO}/Model-Q4_K_M.gguf.part" in home.names()


def test_a_single_file_that_is_a_part_under_another_name(tmp_path: Path) -> None:
    (part, _) = write_parts(tmp_path, "Cut", 2)
    assert why_no_model([Arrived(tmp_path / "whole.gguf", part)]) == (
        "it is part 1 of 2 of a model, and its name does not say so, so the others cannot be found"
    )
