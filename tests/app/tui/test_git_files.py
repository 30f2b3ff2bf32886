"""The files that @ offers in a repository: those that git does not ignore."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.tui import git_files as git_files_module
from app.tui.git_files import git_files
from app.tui.working_folder import scan

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")


def git(folder: Path, *words: str) -> None:
    quiet = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, env=quiet)


def put(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("text")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q")
    put(folder, "README.md", "src/main.py", "src/deep/er.py", "out/log.txt", "notes.tmp", ".env", "build/kept.txt")
    (folder / ".gitignore").write_text("out/\n*.tmp\n")
    return folder


def offered(folder: Path) -> list[str]:
    return [path for path, _ in scan(folder)]


def test_what_is_ignored_is_not_offered(repository: Path) -> None:
    expected = ["README.md", "build/kept.txt", "src/main.py", "src/deep/er.py"]
    assert offered(repository) == expected, "nearest first, hidden ones left out"
    git(repository, "add", ".")
    assert offered(repository) == expected, "the same once they are tracked"


def test_a_tracked_file_counts_though_its_name_is_ignored(repository: Path) -> None:
    git(repository, "add", "-f", "notes.tmp")
    assert "notes.tmp" in offered(repository)


def test_what_was_deleted_is_not_offered_and_what_no_text_is_neither(repository: Path) -> None:
    put(repository, "picture.png", 'odd"name.txt', "line\nbreak.txt")
    git(repository, "add", ".")
    (repository / "README.md").unlink()
    assert offered(repository) == ["build/kept.txt", "src/main.py", "src/deep/er.py"]


def test_a_folder_inside_a_repository_offers_what_is_below_it(repository: Path) -> None:
    assert offered(repository / "src") == ["main.py", "deep/er.py"]


def test_a_repository_within_is_not_offered_as_a_file(repository: Path) -> None:
    inner = repository / "vendored"
    inner.mkdir()
    git(inner, "init", "-q")
    put(inner, "lib.py")
    assert "vendored/" not in offered(repository)
    assert "vendored" not in offered(repository)


def test_a_folder_that_is_ignored_itself_is_walked(repository: Path) -> None:
    assert offered(repository / "out") == ["log.txt"]


def test_at_most_so_many(repository: Path) -> None:
    assert git_files(repository, 2) == ["README.md", "build/kept.txt"]


def test_outside_a_repository_there_is_no_answer(tmp_path: Path) -> None:
    put(tmp_path, "a.txt")
    assert git_files(tmp_path, 10) is None
    assert offered(tmp_path) == ["a.txt"]


def test_without_git_the_folder_is_walked(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_files_module.shutil, "which", lambda name: None)
    assert git_files(repository, 10) is None
    assert "out/log.txt" in offered(repository)


@pytest.mark.skipif(sys.platform == "win32", reason="a script stands in for git")
def test_a_git_that_does_not_answer_is_not_waited_for(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "git"
    slow.write_text(f"#!{sys.executable}\nimport signal\nsignal.pause()\n")
    slow.chmod(0o755)
    monkeypatch.setattr(git_files_module.shutil, "which", lambda name: str(slow))
    monkeypatch.setattr(git_files_module, "SECONDS", 0.05)
    assert git_files(repository, 10) is None


@pytest.mark.skipif(sys.platform == "win32", reason="a script stands in for git")
def test_of_an_answer_without_end_the_beginning_counts(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = tmp_path / "git"
    endless.write_text("#!/bin/sh\nwhile :; do printf 'README.md\\0src/main.py\\0'; done\n")
    endless.chmod(0o755)
    monkeypatch.setattr(git_files_module.shutil, "which", lambda name: str(endless))
    monkeypatch.setattr(git_files_module, "MOST_BYTES", 1000)
    assert git_files(repository, 10) == ["README.md", "src/main.py"]


def test_a_repository_cannot_have_a_program_of_its_own_started(repository: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path / 'sprung'}\n")
    trap.chmod(0o755)
    git(repository, "add", ".")
    git(repository, "config", "core.fsmonitor", str(trap))
    assert "README.md" in offered(repository)
    assert not (tmp_path / "sprung").exists()
