"""Bytes of a terminal become keys, pastes and reports; nothing that no key means becomes text."""

from __future__ import annotations

import pytest
from textual import constants, events
from textual.message import Message

from app.tui import terminal_input
from app.tui.terminal_input import LINES_PAUSE, PASTE_PATIENCE, TerminalInput

LATER = 100.0


def meaning(message: Message) -> str:
    match message:
        case events.Paste():
            return f"paste:{message.text}"
        case events.Key():
            return message.character if message.is_printable and message.character else message.key
        case _:
            return type(message).__name__


def read(*pieces: bytes, wait: float = LATER) -> list[str]:
    """What these reads mean, one right after the other, and ``wait`` seconds of silence behind them."""
    source = TerminalInput()
    found: list[Message] = []
    now = 1000.0
    for piece in pieces:
        found += source.feed(piece, now)
        now += 0.001
    found += source.tick(now + wait)
    return [meaning(message) for message in found]


@pytest.mark.parametrize(
    ("pasted", "text"),
    [
        (b" first line\x1b[2Jsecond\rthird ", " first line\x1b[2Jsecond\rthird "),
        (b"x\x1bq \x11 y", "x\x1bq \x11 y"),
        (b"\x1b", "\x1b"),
        (b"\x1b[200~again\x1b[20", "\x1b[200~again\x1b[20"),
        ("né 家 👨‍👩‍👧 می‌خواهم\u202e".encode(), "né 家 👨‍👩‍👧 می‌خواهم\u202e"),
        (b"a\xff\xfeb\xc3", "a\ufffd\ufffdb\ufffd"),
        (b"nul\x00", "nul"),
    ],
)
def test_a_bracketed_paste_is_one_text_however_it_is_cut(pasted: bytes, text: str) -> None:
    data = b"a\x1b[200~" + pasted + b"\x1b[201~b"
    expected = ["a", f"paste:{text}", "b"]
    assert read(data) == expected
    assert read(*(data[n : n + 1] for n in range(len(data)))) == expected
    for cut in range(1, len(data)):
        assert read(data[:cut], data[cut:]) == expected, cut


def test_an_empty_paste_is_none_and_two_are_two() -> None:
    assert read(b"\x1b[200~\x1b[201~\x1b[200~a\x1b[201~\x1b[200~b\x1b[201~c") == ["paste:a", "paste:b", "c"]


def test_a_missing_end_mark_does_not_block_input() -> None:
    source = TerminalInput()
    assert not list(source.feed(b"\x1b[200~one\rtwo", 1.0))
    assert not list(source.tick(1.0 + PASTE_PATIENCE / 2))
    assert [meaning(message) for message in source.tick(1.0 + PASTE_PATIENCE)] == ["paste:one\rtwo"]
    assert [meaning(message) for message in source.feed(b"q\x1b[201~\x11", 9.0)] == ["q", "ctrl+q"]
    assert not source.waiting


def test_a_huge_paste_comes_in_whole_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal_input, "PASTE_LIMIT", 100)
    text = "né 家 👨" * 100
    data = b"\x1b[200~" + text.encode() + b"\x1b[201~z"
    for size in (1, 7, 64, 4096):
        found = read(*(data[n : n + size] for n in range(0, len(data), size)))
        assert found.pop() == "z"
        assert "".join(piece.removeprefix("paste:") for piece in found) == text, size


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\x1bHello", ["escape", *"Hello"]),
        (b"\x1b1st", ["escape", *"1st"]),
        (b"\x1bOnly", ["escape", *"Only"]),
        (b"\x1bOK", ["escape", *"OK"]),
        (b"\x1bO", ["escape", "O"]),
        (b"\x1bfoo", ["escape", *"foo"]),
        ("\x1bчто".encode(), ["escape", *"что"]),
        (b"\x1b Please", ["escape", " ", *"Please"]),
        (b"\x1b]x", ["escape", *"]x"]),
        (b"\x1b[", ["escape", "["]),
        ("\x1b[é".encode(), ["escape", "[", "é"]),
        (b"\x1b^", ["escape", "^"]),  # the user's own
        (b"\x1b", ["escape"]),
        (b"\x1b\x1b", ["escape", "escape"]),
        (b"\x1b\x1bhi\r", ["escape", "escape", "h", "i", "enter"]),
        (b"\x1b\x1b[A", ["escape", "up"]),
        (b"\x1b\x11", ["escape", "ctrl+q"]),
    ],
)
def test_escape_before_text_is_the_escape_key(data: bytes, expected: list[str]) -> None:
    assert read(data) == expected
    assert read(data[:1], data[1:]) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\x1b[A", ["up"]),
        (b"\x1bOA", ["up"]),
        (b"\x1bOP", ["f1"]),
        (b"\x1b[[A", ["f1"]),
        (b"\x1b[23$", ["f23"]),
        (b"\x1b[1;5C", ["ctrl+right"]),
        (b"\x1b[5~", ["pageup"]),
        (b"\x1b\r", ["alt+enter"]),
        (b"\x1b[13;3u", ["alt+enter"]),
        (b"\x1b[13;2u", ["shift+enter"]),
        (b"\x1b[27u", ["escape"]),
        (b"\x1b[97;;97u", ["a"]),
        (b"\x1b\x7f", ["ctrl+w"]),
        (b"\x1b\t", ["shift+tab"]),
        (b"\x1b[Z", ["shift+tab"]),
        (b"\x1b[I\x1b[O", ["AppFocus", "AppBlur"]),
        (b"\x1b[<0;5;5M\x1b[<0;5;5m\x1b[<64;5;5M", ["MouseDown", "MouseUp", "MouseScrollUp"]),
        (b"\x1b[?2026;2$y", ["TerminalSupportsSynchronizedOutput"]),
        (b"\x1b[48;30;100;600;800t", ["Resize"]),
    ],
)
def test_sequences_go_on_working_also_cut_in_two(data: bytes, expected: list[str]) -> None:
    assert read(data) == expected
    assert read(b"a" + data + b"\x1b[B") == ["a", *expected, "down"]
    for cut in range(1, len(data)):
        assert read(data[:cut], data[cut:]) == expected, cut


def test_option_and_an_arrow_go_by_words() -> None:
    assert read(b"\x1bb") == ["ctrl+left"]
    assert read(b"\x1b", b"b") == ["escape", "b"]


@pytest.mark.parametrize(
    "data",
    [
        b"\x1b[M\xf0\xf0\xf0",
        b"\x1b[M !!",
        b"\x1b[M\xc3\xa9\xc3",
        b"\x1b[32;10;10M",
        b"\x1b[99999999999;1u",
        b"\x1b[1;2;3;4;5X",
        b"\x1b[?1;2c",
        b"\x1b[201~",
    ],
)
def test_what_no_key_means_is_swallowed_whole(data: bytes) -> None:
    for cut in range(len(data)):
        assert [found for found in read(data[:cut], data[cut:], b"ok") if found in ("o", "k", "^", "[", "\ufffd")] == [
            "o",
            "k",
        ], cut


def test_half_a_mouse_report_is_swallowed() -> None:
    assert read(b"\x1b[M\xf0") == []
    assert read(b"\x1b[<1;2") == []


def test_the_parser_is_told_again_what_it_knew() -> None:
    source = TerminalInput()
    list(source.feed(b"\x1b[48;30;100;600;800t", 1.0))
    list(source.feed(b"\x1b[1;2;3;4;5X", 1.0))
    (press,) = source.feed(b"\x1b[<0;81;41M", 1.0)
    assert isinstance(press, events.MouseDown)
    assert (press.x, press.y) == (10, 2)


def test_the_escape_key_comes_after_a_pause_only() -> None:
    source = TerminalInput()
    assert not list(source.feed(b"\x1b", 1.0))
    assert source.waiting
    assert not list(source.tick(1.0 + constants.ESCAPE_DELAY / 2))
    assert [meaning(message) for message in source.tick(1.0 + constants.ESCAPE_DELAY)] == ["escape"]


def test_typed_characters_of_every_kind_are_keys() -> None:
    text = "می‌خواهم 👨‍👩‍👧 a\u00a0b\u00ad"
    data = text.encode()
    source = TerminalInput()
    found: list[Message] = []
    for n in range(len(data)):
        found += source.feed(data[n : n + 1], 1.0)
    assert "".join(message.character or "?" for message in found if isinstance(message, events.Key)) == text


def test_unbracketed_lines_are_one_paste_over_several_reads() -> None:
    assert read(b"one\rtwo\rth", b"ree\rfour", b"\rfive\r") == ["paste:one\rtwo\rthree\rfour\rfive\r"]
    source = TerminalInput()
    assert not list(source.feed(b"one\rtwo", 1.0))
    assert [meaning(found) for found in source.feed(b"x", 1.0 + LINES_PAUSE)] == ["paste:one\rtwo", "x"]
    assert read(b"one\rtwo\r", b"\x1b[A") == ["paste:one\rtwo\r", "up"]


def test_the_keys_that_select_a_turn() -> None:
    assert read(b"\x1b[1;3A", b"\x1b[1;3Br") == ["alt+up", "alt+down", "r"]  # xterm, kitty, iTerm2, foot, WezTerm
    assert read(b"\x1b[1;5Ar") == ["ctrl+up", "r"]
