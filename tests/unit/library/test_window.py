"""What a larger context would take: sizes that are proposed, and whether training and memory allow them."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.library import window
from app.library.window import Window, Windows, proposals
from engine.protocol import Device, PairInfo
from tests.app.tui.fake_client import model, pair
from tests.fixtures.headers import write_model

A_TOKEN = 2 * 2 * (16 + 16) * 2 + 512 * 2
"""Bytes: keys and values of two layers with two heads of 16, and a row of the mask over 512 tokens."""
GPU = Device(name="CUDA0", description="RTX", kind="gpu", memory_total=24 * 10**9, memory_free=20 * 10**9)


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """Free and whole memory of the machine."""
    memory: list[int | None] = [8 * 10**9, 16 * 10**9]
    monkeypatch.setattr(window, "available_memory", lambda: memory[0])
    monkeypatch.setattr(window, "total_memory", lambda: memory[1])
    return memory


def loaded(file: Path, *, context: int = 4096, trained: int = 65_536, draft: Path | None = None) -> PairInfo:
    target = model(str(file)).model_copy(update={"context_trained": trained})
    proposing = model(str(draft)) if draft is not None else None
    return pair(context=context, draft=proposing).model_copy(update={"target": target})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_model(tmp_path / "m.gguf", context=65_536)


@pytest.mark.parametrize(
    ("tokens", "now", "trained", "sizes"),
    [
        (9_120, 8192, 131_072, [16_384, 10_240]),  # with room for an answer
        (16_000, 8192, 131_072, [32_768, 17_152]),
        (300, 256, 8192, [512]),
        (9_120, 8192, 12_000, [12_000, 10_240]),  # no power of two, but all there is
        (9_120, 8192, 10_000, [10_000]),
        (9_120, 8192, 9_000, []),
        (9_120, 8192, 8192, []),
        (9_120, 16_384, 8192, []),
        (9_120, 8192, 0, [16_384, 10_240]),  # the file does not say
        (8192, 8192, 0, [16_384, 9216]),
    ],
)
def test_what_is_proposed(tokens: int, now: int, trained: int, sizes: list[int]) -> None:
    assert proposals(tokens, now, trained) == sizes


def test_a_power_of_two_is_proposed_with_what_it_takes_and_what_is_free(file: Path, free: list[int | None]) -> None:
    assert Windows(loaded(file)).larger(4500) == Window(8192, 4096 * A_TOKEN, 8 * 10**9)


def test_less_is_proposed_where_memory_does_not_hold_it(file: Path, free: list[int | None]) -> None:
    free[0] = 2_500_000
    found = Windows(loaded(file)).larger(4500)
    assert (found.size, found.why_not) == (5632, "")
    assert found.extra == (5632 - 4096) * A_TOKEN


def test_what_memory_does_not_hold_says_what_is_lacking(file: Path, free: list[int | None]) -> None:
    free[0] = 100_000
    found = Windows(loaded(file)).larger(4500)
    assert (found.size, found.why_not) == (5632, "5,632 tokens need 2.2 MB more than is free")


def test_what_the_model_was_not_trained_for_is_not_proposed(file: Path, free: list[int | None]) -> None:
    windows = Windows(loaded(file, trained=4096))
    assert windows.larger(4500).why_not == "the model was trained for 4,096 tokens"
    assert windows.judge(4097).why_not == "the model was trained for 4,096 tokens"
    assert windows.judge(2048).why_not == ""


def test_the_draft_is_counted_up_to_its_own_training(tmp_path: Path, file: Path, free: list[int | None]) -> None:
    draft = write_model(tmp_path / "d.gguf", context=4096)
    assert Windows(loaded(file, draft=draft)).judge(8192).extra == 4096 * A_TOKEN
    longer = write_model(tmp_path / "e.gguf", context=65_536)
    assert Windows(loaded(file, draft=longer)).judge(8192).extra == 2 * 4096 * A_TOKEN


def test_a_smaller_context_is_never_refused_for_memory(file: Path, free: list[int | None]) -> None:
    free[0] = 0
    found = Windows(loaded(file)).judge(1024)
    assert (found.why_not, found.extra) == ("", -3072 * A_TOKEN)


def test_where_only_the_whole_memory_is_known_the_pair_leaves_the_rest(file: Path, free: list[int | None]) -> None:
    free[:] = [None, 16 * 10**9]
    found = Windows(loaded(file)).judge(8192)
    assert found.free is not None
    assert 15 * 10**9 < found.free < 16 * 10**9
    free[:] = [None, 1]
    assert Windows(loaded(file)).judge(8192).why_not.startswith("8,192 tokens need ")
    free[:] = [None, None]
    assert Windows(loaded(file)).judge(8192) == Window(8192, 4096 * A_TOKEN, None)


def test_a_file_that_cannot_be_read_leaves_the_memory_unknown(tmp_path: Path, free: list[int | None]) -> None:
    (tmp_path / "broken.gguf").write_bytes(b"GGUF")
    for name in ("broken.gguf", "gone.gguf"):
        assert Windows(loaded(tmp_path / name)).judge(8192) == Window(8192, None, 8 * 10**9)


def test_what_goes_to_a_gpu_takes_no_main_memory(file: Path, free: list[int | None]) -> None:
    extra = Windows(loaded(file), [GPU]).judge(8192).extra
    assert extra is not None
    assert 0 <= extra < 4096 * A_TOKEN
