"""The hash of a whole file is found once, and never believed of another one."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from engine.files import whole_hash
from engine.files.fingerprint import fingerprint
from engine.files.header import read_header
from engine.files.whole_hash import BLOCK, WholeHash
from tests.fixtures.random_models import write_random


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(bytes(range(256)) * (BLOCK // 128))
    return path


def hash_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def overwrite_the_middle(file: Path) -> None:
    """And give the file back the time that it had."""
    before = file.stat()
    with open(file, "r+b") as opened:
        opened.seek(before.st_size // 2)
        opened.write(b"something else")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    while file.stat().st_ctime_ns == before.st_ctime_ns:  # within a tick of the clock it is the same moment
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_mtime_ns == before.st_mtime_ns


def test_it_is_read_once(file: Path, tmp_path: Path) -> None:
    found = WholeHash(file, tmp_path / "kept")
    assert (found.value, found.unread) == (None, True)
    assert [*found.read()] == [BLOCK, 2 * BLOCK]
    assert (found.value, found.unread) == (hash_of(file), False)
    again = WholeHash(file, tmp_path / "kept")
    assert (again.value, again.unread) == (hash_of(file), False)


def test_what_was_overwritten_in_the_middle_is_read_anew(file: Path, tmp_path: Path) -> None:
    """Its time of change and its fingerprint are the same."""
    found, mark = WholeHash(file, tmp_path / "kept"), fingerprint(file)
    [*found.read()]
    overwrite_the_middle(file)
    assert fingerprint(file) == mark
    again = WholeHash(file, tmp_path / "kept")
    assert again.value is None
    [*again.read()]
    assert again.value == hash_of(file) != found.value


def test_what_changes_while_it_is_read_has_no_hash(file: Path, tmp_path: Path) -> None:
    found = WholeHash(file, tmp_path / "kept")
    for _ in found.read():
        file.write_bytes(file.read_bytes() + b"x")
    assert (found.value, found.unread) == (None, False)
    gone = WholeHash(file, tmp_path / "kept")
    file.unlink()
    assert ([*gone.read()], gone.value, gone.unread) == ([], None, False)


def test_what_is_kept_and_makes_no_sense_is_not_believed(file: Path, tmp_path: Path) -> None:
    [*WholeHash(file, tmp_path / "kept").read()]
    (kept,) = (tmp_path / "kept").iterdir()
    kept.write_text("no hash")
    assert WholeHash(file, tmp_path / "kept").unread


def test_a_small_file_is_read_when_it_is_loaded_and_a_large_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = write_random(tmp_path / "tiny.gguf")
    header = read_header(model)
    assert WholeHash.at_load(header, tmp_path / "kept").value == hash_of(model)
    assert not WholeHash.at_load(header, None).unread, "nothing could be kept of it"
    monkeypatch.setattr(whole_hash, "SOON", 10)
    found = WholeHash.at_load(header, tmp_path / "other")
    assert (found.value, found.unread) == (None, True)
