"""A model in parts that is named by its path: it gets the look at all parts, and the words, of ``models check``."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.library.lookup import find_model, find_pair_files
from app.library.origins import note_damage
from app.library.records import ShelfError, State
from app.library.resolve import CannotUseError
from app.library.shelf import Shelf
from engine.target_file import PairError, checked_header
from tests.fixtures.disks import write_parts
from tests.fixtures.homes import ONE_TARGET, Home
from tests.fixtures.hub import Hub
from tests.unit.library.shelves import pull


def refused(file: Path) -> str:
    with pytest.raises(CannotUseError) as error:
        find_model(str(file))
    return str(error.value)


def test_a_part_that_is_cut_short(home: Home, folder: Path, shelf: Shelf) -> None:
    paths = write_parts(folder, "Cut", 3)
    assert find_model(str(paths[0])) == paths[0]
    size = paths[1].stat().st_size
    os.truncate(paths[1], size - 500)
    fault = f"part 2 of 3: {paths[1].name} is incomplete: the header promises {size:,} bytes, {size - 500:,} are here"
    assert refused(paths[0]) == f"{paths[0].name} cannot be used: {fault}; get it again from where it came."
    assert fault in shelf.check(str(paths[0])).facts[1].text
    home.put("whole.gguf", home.files[ONE_TARGET])
    files = find_pair_files("whole", str(paths[0]), draft_must_be_there=False)
    assert files.draft_refused == refused(paths[0]).removesuffix(".")


def test_parts_that_were_swapped(home: Home, folder: Path) -> None:
    paths = write_parts(folder, "Cut", 3)
    paths[1].rename(folder / "aside")
    paths[2].rename(paths[1])
    (folder / "aside").rename(paths[2])
    assert "the header of part 2 of 3 does not say that it is that part" in refused(paths[0])


def test_a_part_under_another_name(home: Home, folder: Path) -> None:
    (first, _) = write_parts(folder, "Cut", 2)
    renamed = first.rename(folder / "renamed.gguf")
    with pytest.raises(PairError) as error:
        checked_header(str(renamed))
    assert str(error.value) == (
        "renamed.gguf is part 1 of 2 of a model, and its name does not say so, so the others cannot be found. "
        "Give it the name that it had."
    )


def test_advice_fits_the_place_where_a_file_lies(home: Home, folder: Path) -> None:
    whole = home.files[ONE_TARGET]
    home.studio("page.gguf", b"<html>404</html>" * 50)
    Shelf().add_folder(folder)
    (folder / "half.gguf").write_bytes(whole[:-1000])
    home.put("own/half-GGUF/cut.gguf", whole[:-1000])
    ways = {
        "page": " a GGUF model file; finish its download where it began (LM Studio), or fetch it again.",
        "half": "; get it again from where it came.",
    }
    for name, way in ways.items():
        with pytest.raises(CannotUseError) as error:
            find_model(name)
        assert str(error.value).endswith(way), name
        assert str(error.value).count(f"{name}.gguf") == 1


@pytest.mark.parametrize(
    ("version", "way"),
    [
        (b"\0\0\0\3", "big-endian machines, which is not supported; get the file for little-endian machines"),
        (b"\1\0\0\0", "GGUF version 1; versions 2 and 3 are supported; get a file of version 2 or 3"),
        (b"\4\0\0\0", "versions 2 and 3 are supported; get a file of version 2 or 3, or a newer Slipstream"),
        (b"\x63\0\0\0", "GGUF version 99; versions 2 and 3 are supported; get a file of version 2 or 3, or a newer"),
    ],
    ids=["big-endian", "1", "4", "99"],
)  # fmt: skip
def test_a_file_that_would_come_the_same_again_is_not_to_be_fetched_again(
    home: Home, folder: Path, version: bytes, way: str
) -> None:
    """By its name, by its path, when it is verified, as a part: what it is, and what to do."""
    shelf = Shelf()
    shelf.add_folder(folder)
    other = b"GGUF" + version + home.files[ONE_TARGET][8:]
    (folder / "odd.gguf").write_bytes(other)
    home.put("own/Odd-GGUF/fetched.gguf", other)
    paths = write_parts(folder, "Cut", 2)
    paths[1].write_bytes(b"GGUF" + version + paths[1].read_bytes()[8:])
    said = []
    for name in ("odd", "fetched", "own/Odd-GGUF", str(paths[0])):
        with pytest.raises((CannotUseError, PairError)) as refused:
            checked_header(str(find_model(name)))
        said += [str(refused.value), *(found.words for found in shelf.verify(name, lambda *_: None))]
    for words in said:
        assert way in words
        assert words.endswith(".")
        assert "again" not in words
    assert len(said) == 8


def test_replacing_is_advised_only_where_a_file_of_the_users_is_in_the_way(home: Home, hub: Hub, shelf: Shelf) -> None:
    def refused_by_name(name: str) -> str:
        with pytest.raises(CannotUseError) as error:
            find_model(name)
        return str(error.value)

    again = "; this fetches it again: slipstream models pull"
    (_, short) = write_parts(home.models / "own/Half-GGUF", "Half", 2)
    os.truncate(short, short.stat().st_size - 500)
    assert refused_by_name("own/Half-GGUF").endswith(f"{again} own/Half-GGUF/Half-00001-of-00002.gguf --replace.")
    (_, second) = write_parts(home.models / "own/Cut-GGUF", "Cut", 2)
    second.unlink()
    words = f"part 2 of 2 is missing ({second.name}){again} own/Cut-GGUF/Cut-00001-of-00002.gguf."
    assert refused_by_name("own/Cut-GGUF").endswith(words)
    file, wanted = home.models / "some/Tiny-GGUF/Tiny-Q4_K_M.gguf", "some/Tiny-GGUF/Tiny-Q4_K_M.gguf"
    hub.repo("some/Tiny-GGUF").put(file.name, home.files[ONE_TARGET])
    pull(shelf, wanted)
    note_damage(file, damaged=True)
    damaged = f"{file.name} is damaged: its hash is not the one the hub announced"
    assert refused_by_name("Tiny-Q4_K_M") == f"{damaged}{again} {wanted}."
    offer = shelf.plan(wanted)
    assert (offer.refusal, offer.missing) == ("", len(home.files[ONE_TARGET])), "a plain pull does"
    assert [found.words for found in shelf.verify(wanted, lambda *_: None)] == [f"{damaged}; fetch it again."]


def test_a_part_that_cannot_be_read_is_here_all_the_same(home: Home, folder: Path) -> None:
    Shelf().add_folder(folder)
    paths = write_parts(folder, "Cut", 2)
    paths[1].write_bytes(b"<html>404</html>" * 50)
    row = next(row for row in Shelf().listing().entries if row.trouble.startswith("part 2 of 2: "))
    assert row.state is State.UNREADABLE
    paths[1].unlink()
    assert (
        next(row for row in Shelf().listing().entries if row.trouble.startswith("part 2 of 2 is ")).state
        is State.BROKEN
    )


def test_verify_names_a_file_once(home: Home, folder: Path, shelf: Shelf) -> None:
    shelf.add_folder(folder)
    (folder / "half.gguf").write_bytes(home.files[ONE_TARGET][:-1000])
    (found,) = shelf.verify("half", lambda *_: None)
    assert found.words.startswith("half.gguf is incomplete: ")
    with pytest.raises(ShelfError):
        shelf.find("nothing of that name")
