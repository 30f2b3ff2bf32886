"""Walking folders of others: nothing in them is fatal, and nothing of it is changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.library import walk as walk_module
from app.library.walk import LeftOut, half_written, plain_name, walk


def names(folder: Path, **options: int) -> list[str]:
    return [found.name for found in walk(folder, "here", **options) if isinstance(found, Path)]


def reasons(folder: Path) -> dict[str, str]:
    return {found.path.name: found.reason for found in walk(folder, "here") if isinstance(found, LeftOut)}


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_models_at_any_depth_by_name(folder: Path) -> None:
    touch(folder / "b.gguf", folder / "a.GGUF", folder / "org/repo/c.gguf", folder / "notes.txt", folder / ".h/d.gguf")
    assert names(folder) == ["a.GGUF", "b.gguf", "c.gguf"]
    assert names(folder, depth=0) == ["a.GGUF", "b.gguf"]
    assert names(folder / "nowhere") == []
    assert names(folder / "notes.txt") == []


def test_links_are_followed_and_circles_end(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    touch(elsewhere / "x.gguf")
    (folder / "link").symlink_to(elsewhere)
    (elsewhere / "back").symlink_to(folder)
    (folder / "self").symlink_to(folder / "self")
    (folder / "self.gguf").symlink_to(folder / "self.gguf")
    assert names(folder) == ["x.gguf"]
    assert reasons(folder)["self.gguf"].startswith("it cannot be read: ")


def test_a_link_to_nothing(folder: Path) -> None:
    (folder / "gone.gguf").symlink_to(folder / "nowhere")
    assert reasons(folder) == {"gone.gguf": "it is a link to a file that is gone"}


@pytest.mark.parametrize(
    "name",
    ["m.gguf.part", "m.gguf.incomplete", "m.gguf.downloadInProgress", "m.gguf-partial", "m.gguf-partial-3",
     "m.gguf.crdownload", "m.gguf.partial", "downloading_m.gguf.part"],
)  # fmt: skip
def test_downloads_that_have_not_ended(folder: Path, name: str) -> None:
    touch(folder / name)
    assert half_written(name)
    assert names(folder) == []
    assert reasons(folder) == {name: "it is still being written"}


def test_a_file_that_is_written_in_place(folder: Path) -> None:
    touch(folder / "m.gguf", folder / "m.gguf.aria2", folder / "n.gguf")
    assert names(folder) == ["n.gguf"]
    assert reasons(folder)["m.gguf"] == "it is still being written"


def test_unfinished_files_of_other_kinds_are_nobodys_business(folder: Path) -> None:
    touch(folder / "film.mkv.part")
    assert list(walk(folder, "here")) == []


@pytest.mark.parametrize("name", ["a\x1b[2Jb.gguf", "a\nb.gguf", "a\u202eb.gguf", "a\x9bb.gguf"])
def test_names_with_control_codes(folder: Path, name: str) -> None:
    touch(folder / name)
    assert not plain_name(name)
    (found,) = walk(folder, "here")
    assert isinstance(found, LeftOut)
    assert found.reason == "its name holds control codes"
    assert plain_name(found.shown)


def test_names_that_are_no_text(folder: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(str(folder)) + b"/\xff.gguf")).touch()
    except OSError:
        pytest.skip("this file system takes text only")
    (found,) = walk(folder, "here")
    assert isinstance(found, LeftOut)
    assert found.reason == "its name holds control codes"
    found.shown.encode()


def test_a_pipe_is_no_model(folder: Path) -> None:
    os.mkfifo(folder / "p.gguf")
    assert reasons(folder) == {"p.gguf": "it is no regular file"}


def test_a_folder_that_may_not_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Permissions do not hold for root, so the refusal is made up."""
    touch(folder / "closed/a.gguf", folder / "open/b.gguf")
    real = os.scandir

    def scandir(path: Path) -> object:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(walk_module.os, "scandir", scandir)
    assert names(folder) == ["b.gguf"]
    assert reasons(folder) == {"closed": "the folder cannot be read: permission denied"}


def test_a_huge_tree_is_not_walked_for_ever(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk_module, "MOST_FOLDERS", 5)
    for number in range(10):
        touch(folder / str(number) / "m.gguf")
    assert len(names(folder)) == 4
    assert reasons(folder) == {"models": "it holds more than 5 folders; the rest was not looked at"}
