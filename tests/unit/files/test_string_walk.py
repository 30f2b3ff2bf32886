"""Stepping over many strings at a time: the places that walking finds, whatever the strings hold, at a bounded cost."""

from __future__ import annotations

import random
import struct
import sys
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.files import scan as scan_module
from engine.files.header import HeaderError, SeenArrays, read_header
from engine.files.string_walk import LEAST, PAID, USUAL, stride, strides_pay
from tests.fixtures.headers import strings, write_model

FRONT = b"GGUF" * 3
"""Before the first string, as in a file."""

ODD = [
    b"",
    b"\0",
    b"\0" * 7,
    b"ab\0\0\0\0\0\0\0\0c",
    b"\1\0\0\0\0\0\0\0",
    b"\xff" * 9,
    b"x" * 255,
    b"x" * 256,
    b"x" * 70_000,
]


def places(items: Sequence[bytes]) -> list[int]:
    """Where each string's length stands, and the end behind the last one."""
    return list(accumulate((8 + len(item) for item in items), initial=len(FRONT)))


def together(items: Sequence[bytes]) -> bytes:
    return FRONT + b"".join(struct.pack("<Q", len(item)) + item for item in items)


def test_usual_strings_are_stepped_over_at_once() -> None:
    items = [b"piece %d" % number for number in range(5000)]
    data, where = together(items), places(items)
    assert stride(memoryview(data), where[0], len(items)) == (4999, where[4999])
    assert stride(memoryview(data), where[17], 100) == (100, where[117])
    assert stride(memoryview(data)[: where[300] + 3], where[0], len(items)) == (299, where[299])


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.one_of(st.binary(max_size=12), st.text(max_size=20).map(str.encode), st.sampled_from(ODD))), st.data()
)
def test_no_place_is_ever_wrong(items: list[bytes], data: st.DataObject) -> None:
    whole, where = together(items), places(items)
    first = data.draw(st.integers(0, len(items)))
    count = data.draw(st.integers(0, len(items) - first))
    end = data.draw(st.integers(where[first], len(whole)))
    stepped, place = stride(memoryview(whole)[:end], where[first], count)
    assert stepped <= count
    assert place == where[first + stepped]


@settings(max_examples=300, deadline=None)
@given(
    st.binary(min_size=4, max_size=200).map(lambda data: data.translate(bytes(256 // 2) + bytes(range(128)))), st.data()
)
def test_of_noise_nothing_is_stepped_over_that_is_no_string(noise: bytes, data: st.DataObject) -> None:
    """Half of its bytes are zero."""
    start = data.draw(st.integers(4, len(noise)))
    stepped, place = stride(memoryview(noise), start, 50)
    walked = start
    for _ in range(stepped):
        walked += 8 + struct.unpack_from("<Q", noise, walked)[0]
    assert place == walked <= len(noise)


@pytest.fixture(params=[True, False], ids=["strides", "one by one"])
def quick(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    chosen = bool(request.param)
    monkeypatch.setattr(scan_module, "strides_pay", lambda walked: chosen)
    monkeypatch.setattr(scan_module, "LEAST", 4)
    return chosen


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), share=st.sampled_from([0, 0.001, 0.1, 1]))
def test_headers_read_alike_both_ways(tmp_path: Path, quick: bool, seed: int, share: float) -> None:
    draw = random.Random(seed)
    items = [draw.choice(ODD) if draw.random() < share else b"piece %d" % number for number in range(3000)]
    tokens = read_header(write_model(tmp_path / "m.gguf", tokens=strings(items)), seen=SeenArrays()).tokens
    assert tokens is not None
    assert (tokens.count, tokens.length) == (3000, places(items)[-1] - len(FRONT))


def test_a_header_that_ends_in_its_strings(tmp_path: Path, quick: bool) -> None:
    path = write_model(tmp_path / "m.gguf", tokens=[f"piece {number}" for number in range(3000)])
    whole = path.read_bytes()
    start = whole.index(b"piece 0") - 8
    for length in (start + 24_000, start + 30_001, start + 40_500):
        path.write_bytes(whole[:length])
        with pytest.raises(HeaderError, match="it ends inside its header"):
            read_header(path)


@pytest.mark.parametrize(
    "item",
    [lambda at: b"", lambda at: b"" if at % 17 == 0 else b"abc", lambda at: b"\0" * 9, lambda at: b"x" * 300],
    ids=["empty", "now and then an empty one", "zeros", "long"],
)  # fmt: skip
def test_strings_that_strides_do_not_pay_for_are_walked(
    tmp_path: Path, item: Callable[[int], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is looked at in vain stays a small part of the whole."""
    looked: list[int] = []

    def counting(data: memoryview, start: int, count: int) -> tuple[int, int]:
        looked.append(len(data) - start)
        return stride(data, start, count)

    monkeypatch.setattr(scan_module, "strides_pay", lambda walked: True)
    monkeypatch.setattr(scan_module, "stride", counting)
    items = [item(at) for at in range(100_000)]
    read_header(write_model(tmp_path / "m.gguf", tokens=strings(items)))
    assert 0 < sum(looked) < 2 * USUAL * len(items)
    assert len(looked) < len(items) / 500


def test_numpy_is_loaded_when_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    assert strides_pay(0) == ("numpy" in sys.modules)
    monkeypatch.delitem(sys.modules, "numpy", raising=False)
    assert not strides_pay(0)
    assert not strides_pay(PAID)
    assert strides_pay(PAID + 1)
    monkeypatch.setitem(sys.modules, "numpy", object())
    assert strides_pay(0)
    assert LEAST > 500, "a stride takes as long as walking over so many"
