"""What is missing from the list is said where it would be missed: by name, or counted where there is much of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.library.found import ADDED, HUB, OLLAMA, OURS
from app.library.left_out import SINGLY, left_out_words
from app.library.places import Folder, HubCache
from app.library.shelf import Shelf
from app.library.walk import BEING_WRITTEN, DEAD_LINK, LeftOut
from app.links import NOWHERE
from tests.fixtures.disks import write_ollama
from tests.fixtures.homes import Home


@pytest.fixture
def store(home: Home) -> Path:
    """Ollama's."""
    return home.user / ".ollama" / "models"


@pytest.fixture
def cache(home: Home) -> Path:
    """The hub's."""
    return home.user / ".cache" / "huggingface" / "hub"


def complaints(shelf: Shelf) -> Sequence[str]:
    return shelf.listing().complaints


def dead_link(cache: Path, number: int) -> Path:
    link = cache / "models--org--Model-GGUF" / "snapshots" / "c0ffee" / f"part-{number}.gguf"
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(cache / "models--org--Model-GGUF" / "blobs" / "gone")
    return link


def test_a_manifest_that_is_none_and_a_model_without_its_blob(home: Home, shelf: Shelf, store: Path) -> None:
    broken = write_ollama(store, "registry.ollama.ai/library/broken/latest", {})
    broken.write_text("{")
    write_ollama(store, "registry.ollama.ai/library/half/1b", {"model": b""})
    assert complaints(shelf) == (
        f"{broken}: its manifest cannot be understood.",
        "Ollama: half:1b is not here in full.",
    )


def test_a_link_of_the_hubs_cache_whose_file_is_gone(home: Home, shelf: Shelf, cache: Path) -> None:
    link = dead_link(cache, 1)
    assert complaints(shelf) == (f"{link}: it is a link to a file that is gone.",)


def test_hundreds_are_counted(home: Home, shelf: Shelf, cache: Path, store: Path) -> None:
    links = [dead_link(cache, number) for number in range(300)]
    for number in range(200):
        write_ollama(store, f"registry.ollama.ai/library/half/{number}b", {"model": b""})
        write_ollama(store, f"registry.ollama.ai/library/none/{number}b", {}).write_text("none")
    first = store / "manifests" / "registry.ollama.ai" / "library" / "none" / "0b"
    assert complaints(shelf) == (
        f"hub cache: 300 links to files that are gone: {links[0]} and 299 more.",
        "Ollama: 200 models that are not here in full: half:0b and 199 more.",
        f"Ollama: 200 manifests that cannot be understood: {first} and 199 more.",
    )


def test_a_download_of_another_tool_and_another_format_are_no_news(
    home: Home, shelf: Shelf, cache: Path, store: Path, tmp_path: Path
) -> None:
    blobs = cache / "models--org--Model-GGUF" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / "1234.incomplete").touch()
    write_ollama(store, "registry.ollama.ai/library/mlx/latest", {"model": b"safetensors"})
    home.studio("half.gguf.part", b"x")
    assert complaints(shelf) == ()


def test_in_a_folder_of_the_users_a_download_is_told(home: Home, shelf: Shelf, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "half.gguf.part").touch()
    shelf.add_folder(folder)
    assert complaints(shelf) == (f"{folder / 'half.gguf.part'}: it is still being written.",)


@pytest.mark.parametrize("where", [".cache", ".lmstudio", ".ollama"])
def test_a_place_behind_a_link_that_leads_nowhere(home: Home, shelf: Shelf, tmp_path: Path, where: str) -> None:
    link = home.user / where
    link.symlink_to(tmp_path / "unplugged")
    assert complaints(shelf) == (f"{link}: it is a link that leads nowhere.",)


def test_a_repository_moved_to_a_disk_that_is_not_there(tmp_path: Path) -> None:
    for name in ("models--org--Model-GGUF", "models--org--bert"):
        (tmp_path / name).symlink_to(tmp_path / "unplugged" / name)
    found = list(HubCache(tmp_path).find())
    assert found == [LeftOut(tmp_path / "models--org--Model-GGUF", HUB, NOWHERE)]


def test_an_added_folder_that_became_a_dead_link_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "mine").symlink_to(tmp_path / "unplugged")
    assert list(Folder(tmp_path / "mine", ADDED, must_exist=True).find()) == [
        LeftOut(tmp_path / "mine", ADDED, NOWHERE)
    ]


def test_other_reasons_are_counted_in_their_own_words() -> None:
    many = [LeftOut(Path(f"/m/{number}.gguf"), OURS, "it is no regular file") for number in range(SINGLY + 1)]
    assert left_out_words(many[:2]) == [
        "/m/0.gguf: it is no regular file.",
        "/m/1.gguf: it is no regular file.",
    ]
    assert left_out_words(many) == [
        "models folder: 4 files are left out (it is no regular file): /m/0.gguf and 3 more."
    ]


def test_a_hostile_name_is_shown_as_text() -> None:
    one = LeftOut(Path("/m/a\x1b[2J.gguf"), HUB, DEAD_LINK)
    named = LeftOut(Path("/m/b"), OLLAMA, "x\x1b[2J:1b is not here in full", "x\x1b[2J:1b")
    many = [LeftOut(Path(f"/m/{n}"), OLLAMA, f"x\x1b{n} is not here in full", f"x\x1b{n}") for n in range(SINGLY + 1)]
    words = left_out_words([one, named, *many, LeftOut(Path("/m/c"), HUB, BEING_WRITTEN, expected=True)])
    assert len(words) == 2
    assert "\x1b" not in "".join(words)
    assert words[0] == "/m/a␛[2J.gguf: it is a link to a file that is gone."
    assert words[1].startswith("Ollama: 5 models that are not here in full: x␛[2J:1b and 4 more")


def test_a_link_in_our_own_folder_too(home: Home, shelf: Shelf) -> None:
    home.models.mkdir(parents=True)
    os.symlink("gone", home.models / "m.gguf")
    assert complaints(shelf) == (f"{home.models / 'm.gguf'}: it is a link to a file that is gone.",)
