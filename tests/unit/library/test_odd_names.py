"""Names that name nothing, and things that are there and are no files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app import paths
from app.library.added_folders import added_folders
from app.library.facts import FactStore
from app.library.lookup import find_model, find_pair_files
from app.library.origins import beside, read_origin
from app.library.records import ShelfError
from app.library.resolve import CannotUseError
from app.library.shelf import Shelf
from tests.fixtures.homes import ONE_TARGET, Home

EMPTY = "No model was named: the name is empty."


@pytest.mark.parametrize("name", ["", " "])
def test_an_empty_name_is_no_folder(home: Home, shelf: Shelf, name: str) -> None:
    for asked in (shelf.find, shelf.files, shelf.check, shelf.removal, lambda it: list(shelf.verify(it, print))):
        with pytest.raises(ShelfError) as refused:
            asked(name)
        assert str(refused.value) == EMPTY
    with pytest.raises(CannotUseError) as error:
        find_model(name)
    assert str(error.value) == EMPTY
    home.put("whole.gguf", home.files[ONE_TARGET])
    files = find_pair_files("whole", name, draft_must_be_there=False)
    assert files.notes == (f"{EMPTY} Lookup proposes instead.",)
    assert files.draft_refused == "no model was named: the name is empty"


def test_a_pipe_or_a_device_is_no_regular_file(home: Home, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.gguf"
    os.mkfifo(pipe)
    for path, name in ((pipe, "pipe.gguf"), (Path(os.devnull), "null")):
        with pytest.raises(CannotUseError) as error:
            find_model(str(path))
        assert str(error.value) == f"{name} is no regular file, not a GGUF model file."
    check = Shelf().check(str(pipe))
    assert "pipe.gguf is no regular file, not a GGUF model file" in check.facts[1].text


@pytest.mark.parametrize("kind", ["pipe", "endless", "folder"])
def test_what_is_kept_may_be_no_file(home: Home, kind: str) -> None:
    model = home.put("org/m-GGUF/m.gguf", home.files[ONE_TARGET])
    for kept in (paths.model_facts_file(), paths.model_folders_file(), beside(model)):
        kept.parent.mkdir(parents=True, exist_ok=True)
        if kind == "pipe":
            os.mkfifo(kept)
        elif kind == "endless" and kept != paths.model_folders_file():
            kept.symlink_to("/dev/zero")
        else:
            kept.mkdir()
    assert FactStore(paths.model_facts_file()).facts(model, model.stat()).fault is None
    assert added_folders(paths.model_folders_file()) == []
    assert read_origin(model) is None
