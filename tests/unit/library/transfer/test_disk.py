"""What the disk can refuse."""

from __future__ import annotations

import errno
import os
import sys
from io import FileIO
from pathlib import Path
from typing import Any

import pytest

from app.library.transfer import disk, part
from tests.fixtures.hub import Hub
from tests.fixtures.transfers import CDN, NAME, Running, failure, get, names, offer, want


def no_more_after(limit: int, number: int = errno.ENOSPC) -> type[FileIO]:
    """A file that takes so many bytes and no more."""

    class Full(FileIO):
        def write(self, data: Any, /) -> int:
            room = limit - self.tell()
            if room <= 0:
                raise OSError(number, os.strerror(number))
            return super().write(memoryview(data)[:room])

    return Full


def test_the_disk_is_full_in_the_middle(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = offer(hub)
    with monkeypatch.context() as patch:
        patch.setattr(part, "FileIO", no_more_after(70_000))
        patch.setattr(disk, "free_bytes", lambda folder: 10_000)
        patch.setattr("app.library.transfer.download.check_room", lambda files: None)
        error = failure(want(hub, tmp_path))
    assert (error.code, str(error)) == (
        "disk_full",
        f"{NAME}: the disk is full: 130 kB more are needed in {tmp_path}, 10 kB are free; 70 kB of 200 kB are kept; "
        "make room and start it again to continue.",
    )
    assert names(tmp_path) == [f"{NAME}.part", f"{NAME}.part.json"]
    get(want(hub, tmp_path))
    assert (tmp_path / NAME).read_bytes() == data
    assert hub.seen(CDN)[-1].headers["range"] == "bytes=70000-"


def test_the_disk_fails(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(hub)
    monkeypatch.setattr(part, "FileIO", no_more_after(70_000, errno.EIO))
    error = failure(want(hub, tmp_path))
    assert (error.code, str(error)) == (
        "disk",
        f"{NAME}: the disk refused (input/output error); 70 kB of 200 kB are kept; start it again once the disk works.",
    )


def test_the_disk_fails_at_the_very_end(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(hub)

    def fail(descriptor: int) -> None:
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    monkeypatch.setattr(os, "fsync", fail)
    error = failure(want(hub, tmp_path))
    assert (error.code, str(error)) == (
        "disk_full",
        f"{NAME}: your quota on the disk is used up: a little more is needed in {tmp_path}; all 200 kB are kept; "
        "delete files of yours there, or have the quota raised, and start it again to continue.",
    )
    assert not (tmp_path / NAME).exists()


def test_too_little_room_is_said_before_anything_is_asked_for(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(hub)
    offer(hub, 300_000, "two.gguf")
    monkeypatch.setattr(disk, "free_bytes", lambda folder: 250_000)
    place = tmp_path / "not" / "yet"
    running = Running([[want(hub, place)], [want(hub, place, "two.gguf")]])
    error = running.failure()
    assert (error.code, str(error)) == (
        "disk_full",
        f"2 files: 500 kB more are needed in {place}, and 250 kB are free; nothing was changed; "
        "free at least 250 kB and start it again.",
    )
    assert hub.requests == []
    assert not place.exists()
    get(want(hub, place))


def test_what_is_kept_needs_no_room(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = offer(hub)
    (tmp_path / f"{NAME}.part").write_bytes(data[:150_000])
    monkeypatch.setattr(disk, "free_bytes", lambda folder: 60_000)
    get(want(hub, tmp_path))


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="folder permissions of POSIX, not for root")
def test_a_folder_that_cannot_be_written_to(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    error = failure(want(hub, folder))
    folder.chmod(0o700)
    assert error.code == "no_permission"


def test_no_permission_in_words(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(hub)
    for number, more in ((errno.EACCES, ""), (errno.EROFS, " (it is read-only)")):
        monkeypatch.setattr(part, "FileIO", no_more_after(0, number))
        error = failure(want(hub, tmp_path))
        assert (error.code, str(error)) == (
            "no_permission",
            f"{NAME}: no permission to read or write in {tmp_path}{more}; nothing of it was received; "
            "choose another folder, or change its permissions.",
        )


def test_a_folder_has_the_name_of_the_file(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    (tmp_path / NAME).mkdir()
    error = failure(want(hub, tmp_path))
    assert (error.code, str(error)) == (
        "bad_path",
        f"{NAME}: there can be no file at {tmp_path / NAME} (is a folder); nothing of it was received; "
        "move away what is there, or choose another folder.",
    )


def test_a_file_has_the_name_of_the_folder(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    (tmp_path / "owner").write_text("a file")
    error = failure(want(hub, tmp_path / "owner" / "model-GGUF"))
    assert error.code == "bad_path"
    assert "move away what is there, or choose another folder" in str(error)
    assert hub.requests == []


def test_a_name_that_is_too_long(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    error = failure(want(hub, tmp_path, path=tmp_path / ("n" * 250 + ".gguf")))
    assert error.code == "bad_path"
    assert "(file name too long)" in str(error)
