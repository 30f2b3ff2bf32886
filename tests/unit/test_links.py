"""A link that leads nowhere is called one: of what stands in a folder's place, the system says only that it exists."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.chats.export_file import ExportError, write_new
from app.library.added_folders import AddedFolderError, add_folder
from app.links import NOWHERE, dead_link, no_folder_words
from app.paths import FolderError, ensure
from app.saving import NotSaved, save_text


@pytest.fixture
def link(tmp_path: Path) -> Path:
    """A link to a disk that is not there."""
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "unplugged")
    return link


def test_dead_links_are_told_from_others(tmp_path: Path, link: Path) -> None:
    there, circle = tmp_path / "there", tmp_path / "circle"
    there.symlink_to(tmp_path)
    circle.symlink_to(circle)
    assert dead_link(link) == link
    assert dead_link(link / "models" / "x.gguf") == link
    assert dead_link(circle) == circle
    assert dead_link(there / "none") is None
    assert dead_link(tmp_path / "none") is None
    assert no_folder_words(PermissionError(13, "Permission denied"), tmp_path) == "permission denied"
    assert no_folder_words(FileExistsError(17, "File exists"), link / "x") == f"{link} is a link that leads nowhere"


def test_a_folder_of_models(tmp_path: Path, link: Path) -> None:
    with pytest.raises(AddedFolderError) as refused:
        add_folder(tmp_path / "f.txt", link)
    assert str(refused.value) == f"{link} is a link that leads nowhere; a folder with model files is wanted."
    with pytest.raises(AddedFolderError) as refused:
        add_folder(tmp_path / "f.txt", link / "models")
    assert str(refused.value) == (
        f"{link / 'models'} does not exist: {link} is a link that leads nowhere; a folder with model files is wanted."
    )


def test_a_folder_of_our_own(tmp_path: Path, link: Path) -> None:
    with pytest.raises(FolderError) as refused:
        ensure(link)
    assert str(refused.value).startswith(f"The folder {link} cannot be created: {NOWHERE}. ")
    with pytest.raises(AddedFolderError) as kept:  # the list of folders is kept behind it
        add_folder(link / "f.txt", tmp_path)
    assert NOWHERE in str(kept.value)


def test_where_answers_and_chats_are_saved(link: Path) -> None:
    with pytest.raises(NotSaved) as refused:
        save_text("words", "title", str(link))
    assert str(refused.value).startswith(f"Not saved: {link} cannot be written to ({NOWHERE}). ")
    with pytest.raises(ExportError) as failed:
        write_new([link], "chat.md", "words")
    assert f"Nothing was exported ({link}: {NOWHERE})." in str(failed.value)
