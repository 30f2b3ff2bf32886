"""A file that a running program has in its memory is told before it is deleted."""

from __future__ import annotations

import mmap
import sys
from pathlib import Path

import pytest

from app.library.mapped import mapped
from app.library.records import Removal


@pytest.mark.skipif(sys.platform != "linux", reason="Linux only")
def test_a_file_that_is_mapped_is_found(tmp_path: Path) -> None:
    used, unused, link = tmp_path / "a model of (mine).gguf", tmp_path / "b.gguf", tmp_path / "link.gguf"
    for file in (used, unused):
        file.write_bytes(bytes(10_000))
    link.symlink_to(used)
    with used.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ):
        assert mapped([used, unused]) == (used,)
        assert mapped([link]) == (link,)
    assert mapped([used, unused]) == ()


def test_processes_that_tell_nothing_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "12").mkdir()
    (tmp_path / "13").mkdir()
    (tmp_path / "13" / "maps").write_text("7f00-7f01 r--p 00000000 fe:00 7 /m/x.gguf\n7f02-7f03 rw-p 0 00:00 0\n\n")
    assert mapped([Path("/m/x.gguf"), Path("/m/y.gguf")], tmp_path) == (Path("/m/x.gguf"),)
    assert mapped([Path("/m/x.gguf")], tmp_path / "nowhere") == ()


def test_the_words_of_a_deletion() -> None:
    assert Removal("x", "X", ("/m/x",), 5).done(639_000_000) == "X is deleted; 639 MB are free again."
    held = Removal("x", "X", ("/m/x",), 5, held=True).done(639_000_000)
    assert held == "X is deleted; 639 MB are free as soon as the program that uses it now ends."
