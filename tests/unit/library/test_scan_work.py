"""What a look at two hundred model files costs, in work that can be counted: files opened, bytes read, strings walked.

Two hundred headers are read in well under a second because of three things: each is read once and then known by path,
size and time of change; of each no more is read than its header and one block ahead; and a vocabulary that an earlier
file had is compared, not walked over.
"""

from __future__ import annotations

import builtins
import io
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from app.library.facts import FactStore
from app.library.local import LocalScan, scan
from app.library.places import Folder
from engine.files import tensor_infos
from engine.files.header import read_header
from engine.files.scan import CHUNK, Scanner
from tests.fixtures.headers import WORDS, strings, write_model

FILES, LARGE_EVERY, LARGE = 200, 5, 150_000


class Work:
    """Counts what is done to model files from now on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened: Counter[str] = Counter()
        self.read: Counter[str] = Counter()
        self.walked = 0
        work, really_open, really_skip = self, builtins.open, Scanner._skip_strings

        class Counted(io.FileIO):
            def readinto(self, buffer: Any) -> int | None:
                count = super().readinto(buffer)
                work.read[Path(str(self.name)).name] += count or 0
                return count

        def counting_open(file: Any, mode: str = "r", *more: Any, **named: Any) -> Any:
            if not str(file).endswith(".gguf"):
                return really_open(file, mode, *more, **named)
            assert mode == "rb", "what lies on the disk is only read"
            work.opened[Path(file).name] += 1
            return io.BufferedReader(Counted(os.fspath(file)))

        def counting_skip(scanner: Scanner, key: str, count: int) -> None:
            work.walked += count
            really_skip(scanner, key, count)

        monkeypatch.setattr(builtins, "open", counting_open)
        monkeypatch.setattr(Scanner, "_skip_strings", counting_skip)

    def clear(self) -> None:
        self.opened.clear()
        self.read.clear()
        self.walked = 0


@pytest.fixture
def two_hundred(folder: Path) -> Path:
    """Files of which every fifth has one of two vocabularies as large as Qwen's. No two are of one size."""
    families = [strings([f"{family} piece {number}" for number in range(LARGE)]) for family in "ab"]
    for number in range(FILES):
        large = number % LARGE_EVERY == 0
        write_model(
            folder / f"{number}.gguf", name=f"model {number}", size=3_000_000 + 64 * number,
            tokens=families[number % 2] if large else WORDS,
        )  # fmt: skip
    return folder


def test_a_look_at_two_hundred_files(two_hundred: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    headers = {path.name: read_header(path).data_offset for path in two_hundred.iterdir()}
    work = Work(monkeypatch)

    def look() -> LocalScan:
        return scan([Folder(two_hundred, "here")], FactStore(tmp_path / "facts.json"))

    first = look()
    assert len(first.models) == FILES
    assert work.opened == Counter(headers.keys()), "each is opened once"
    ahead = {name: work.read[name] - header for name, header in headers.items()}
    assert max(ahead.values()) <= CHUNK + io.DEFAULT_BUFFER_SIZE, "a header and one block of 1,024 KiB ahead"
    assert work.walked == 2 * LARGE + len(WORDS), "each vocabulary is walked over once, not once a file"
    work.clear()
    assert look() == first
    assert (work.opened, work.read, work.walked) == (Counter(), Counter(), 0), "headers are known from the first look"


def test_of_two_hundred_files_only_those_that_changed_are_read_again(
    two_hundred: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan([Folder(two_hundred, "here")], FactStore(tmp_path / "facts.json"))
    os.utime(two_hundred / "7.gguf", ns=(1, 1))
    write_model(two_hundred / "new.gguf", size=5_000_000)
    (two_hundred / "8.gguf").unlink()
    work = Work(monkeypatch)
    found = scan([Folder(two_hundred, "here")], FactStore(tmp_path / "facts.json"))
    assert len(found.models) == FILES
    assert sorted(work.opened) == ["7.gguf", "new.gguf"]


def test_tensor_infos_are_read_in_one_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They were a dozen calls each, in a file that has hundreds."""
    path = write_model(tmp_path / "model.gguf", size=3_000_000)
    slowly = tensor_infos._any
    one_by_one: list[str] = []

    def counting(*given: Any) -> tensor_infos.Tensor:
        tensor = slowly(*given)
        one_by_one.append(tensor.name)
        return tensor

    monkeypatch.setattr(tensor_infos, "_any", counting)
    quick = read_header(path).tensors
    assert quick
    assert one_by_one == []
    monkeypatch.setattr(tensor_infos, "_usual", lambda *given: [])
    assert read_header(path).tensors == quick
    assert one_by_one == [tensor.name for tensor in quick]
