"""The note beside a fetched file: what makes it ours, and what it is compared with."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from app.library.entries import may_delete
from app.library.origins import Origin, beside, forget_origin, own_origin, read_origin, write_origin

ORIGIN = Origin("org/repo", "c" * 40, "m.gguf", 4, sha256=hashlib.sha256(b"GGUF").hexdigest())


def test_what_is_written_is_read_and_forgotten(tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(b"GGUF")
    assert read_origin(file) is None
    assert not may_delete(file, tmp_path)
    write_origin(file, ORIGIN)
    assert read_origin(file) == own_origin(file) == replace(ORIGIN, changed=file.stat().st_mtime_ns)
    assert may_delete(file, tmp_path)
    assert not may_delete(file, tmp_path / "another")
    assert sorted(one.name for one in tmp_path.iterdir()) == [".m.gguf.origin", "m.gguf"]
    forget_origin(file)
    forget_origin(file)
    assert read_origin(file) is None


@pytest.mark.parametrize(
    "text",
    ["", "[]", "null", '{"version": 1}', '{"version": 2, "repo": "a/b"}', "{" * 5000, '"' + "x" * 100_000,
     '{"version": 1, "repo": 5, "revision": "", "path": "", "size": 1}',
     '{"version": 1, "repo": "a/b", "revision": "", "path": "", "size": "1"}',
     '{"version": 1, "repo": "a/b", "revision": "", "path": "", "size": 1, "sha256": 7}',
     '{"version": 1, "repo": "a/b", "revision": "", "path": "", "size": 1, "damaged": "x"}'],
)  # fmt: skip
def test_a_note_that_makes_no_sense_is_none(tmp_path: Path, text: str) -> None:
    file = tmp_path / "m.gguf"
    beside(file).write_text(text)
    assert read_origin(file) is None


def test_both_kinds_of_hashes() -> None:
    hasher = ORIGIN.hasher()
    hasher.update(b"GGUF")
    assert hasher.hexdigest() == ORIGIN.expected
    small = Origin("org/repo", "c", "m.gguf", 4, git_sha1=hashlib.sha1(b"blob 4\0GGUF").hexdigest())
    hasher = small.hasher()
    hasher.update(b"GGUF")
    assert hasher.hexdigest() == small.expected
    assert Origin("org/repo", "c", "m.gguf", 4).hasher() is None
