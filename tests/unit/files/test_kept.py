"""Small files of our own, and what may lie in their place: nothing is waited for, and nothing is read without end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.last_choice import LastChoice, Memory
from engine.files.kept import read_kept
from engine.profile import Profile, ProfileStore


def test_a_file_is_read_whole_up_to_its_bound(tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    file.write_bytes(b"12345")
    assert read_kept(file, 5) == b"12345"
    with pytest.raises(OSError, match="it is larger than 4 bytes"):
        read_kept(file, 4)


def test_a_link_is_followed_only_where_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "file")
    assert read_kept(link, 5, links=True) == b"12345"
    with pytest.raises(OSError, match=str(link)):
        read_kept(link, 5)


def test_a_pipe_a_device_and_a_folder_are_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    zero = tmp_path / "zero"
    zero.symlink_to("/dev/zero")
    for path in (pipe, zero, tmp_path):
        with pytest.raises(OSError, match="it is no regular file"):
            read_kept(path, 5, links=True)


def test_a_pipe_in_the_place_of_what_was_learned_is_as_good_as_nothing(tmp_path: Path) -> None:
    store = ProfileStore(tmp_path)
    store.save(Profile(target="t"), "key")
    (kept,) = tmp_path.glob("*.json")
    assert store.load("key").target == "t"
    kept.unlink()
    os.mkfifo(kept)
    assert store.load("key") == Profile()
    os.mkfifo(tmp_path / "choice")
    assert Memory(tmp_path / "choice").read() == LastChoice()
