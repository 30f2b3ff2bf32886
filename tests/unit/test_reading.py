"""Small files that are read without waiting and without end."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from app.reading import NotReadable, read_small


def test_a_file_of_at_most_so_many_bytes(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    assert read_small(file, 5) == b"12345"
    with pytest.raises(NotReadable, match="It holds more than 4 bytes"):
        read_small(file, 4)


def test_a_missing_file_is_another_matter(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_small(tmp_path / "nowhere", 5)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError):
        read_small(tmp_path / "dangling", 5)


def test_what_is_no_file_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket has to be short
    os.mkfifo("pipe")
    (tmp_path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        for name, reason in (("pipe", "It is a pipe"), ("folder", "Is a directory"), ("socket", "It is a device or a")):
            with pytest.raises(NotReadable, match=reason):
                read_small(tmp_path / name, 5)


def test_a_pipe_that_takes_the_place_of_the_file_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, pipe = tmp_path / "file", tmp_path / "pipe"
    file.write_bytes(b"1")
    os.mkfifo(pipe)
    really = os.open
    monkeypatch.setattr(os, "open", lambda path, flags: really(pipe, flags))
    with pytest.raises(NotReadable, match="It is a pipe"):
        read_small(file, 5)
