"""Which names a few letters mean, and which files are known."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.tui.ranking import rank, rank_paths
from app.tui.working_folder import WorkingFolder, scan

NAMES = ["help", "new", "model", "models", "draft", "spec", "draft-max", "temp", "top-p", "max-tokens", "export"]
PATHS = ["README.md", "app/readme_row.py", "docs/read.md", "app/tui/screens/chat.py", "app/chats/store.py", "chat.py"]


def paths(typed: str) -> list[str]:
    return rank_paths(typed, [(path, path.casefold()) for path in PATHS])


def test_what_begins_with_it_then_its_words_then_anywhere_then_its_letters() -> None:
    assert rank("mod", NAMES) == ["model", "models"]
    assert rank("model", NAMES)[0] == "model"
    assert rank("MAX", NAMES) == ["max-tokens", "draft-max"]
    assert rank("p", NAMES)[:4] == ["top-p", "help", "spec", "temp"]
    assert rank("tk", NAMES) == ["max-tokens"]
    assert rank("zz", NAMES) == []
    assert rank("", NAMES) == NAMES
    assert rank("", NAMES, most=2) == ["help", "new"]


def test_a_files_own_name_goes_first() -> None:
    assert paths("read") == ["README.md", "docs/read.md", "app/readme_row.py"]
    assert paths("chat") == ["chat.py", "app/tui/screens/chat.py", "app/chats/store.py"]
    assert paths("tui/chat") == ["app/tui/screens/chat.py"]
    assert paths("app/ch") == ["app/chats/store.py", "app/tui/screens/chat.py"]
    assert paths("")[:2] == ["chat.py", "README.md"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (
        "README.md",
        "src/main.py",
        "src/deep/er/x.txt",
        ".git/config",
        ".hidden",
        "node_modules/a/index.js",
        "__pycache__/main.pyc",
        ".venv/lib/x.py",
        "picture.png",
        'quo"te.txt',
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    os.symlink(tmp_path, tmp_path / "src" / "loop")
    return tmp_path


def test_hidden_installed_and_binary_files_are_left_out(folder: Path) -> None:
    assert [path for path, _ in scan(folder)] == ["README.md", "src/loop", "src/main.py", "src/deep/er/x.txt"]


def test_the_search_is_bounded_and_nearest_first(folder: Path) -> None:
    assert [path for path, _ in scan(folder, most=8)] == ["README.md"]
    assert scan(folder / "missing") == []


async def test_a_folder_is_looked_at_once_and_then_known(folder: Path) -> None:
    known = WorkingFolder(folder)
    told: list[int] = []
    assert known.due
    assert not known.has("README.md")
    await known.look(lambda: told.append(1))
    assert told == [1]
    assert known.has("README.md")
    assert not known.due, "a moment ago"
