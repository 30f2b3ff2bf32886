"""How lines make a message, and what is written between them."""

from __future__ import annotations

import io

import pytest

from app.plain.lines import Lines, OutputGone, writer
from app.plain.prompt import MORE, YOU, GivenUp, PlainPrompt, read_message
from app.plain.words import in_lines
from app.tui import continuing


def messages(text: str) -> list[str]:
    """Every message that a stream of lines holds."""
    prompt = PlainPrompt(io.TextIOWrapper(io.BytesIO(text.encode())))
    found = []
    while (message := read_message(prompt.line)) is not None:
        found.append(message)
    return found


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("one\ntwo\n", ["one", "two"]),
        ("one\r\nno line end", ["one", "no line end"]),
        ("", []),
        ("first \\\nsecond\\\nthird\nnext\n", ["first \nsecond\nthird", "next"]),
        ("two backslashes \\\\\nnext\n", ["two backslashes \\\\", "next"]),
        ("goes on \\\n", ["goes on "]),
        ('"""\ndef f():\n\n    return 1 \\\n"""\nnext\n', ["def f():\n\n    return 1 \\", "next"]),
        ('"""\nno end\n', ["no end"]),
        ('say """ twice\n', ['say """ twice']),
        ("\ufeffhello\n", ["hello"]),
        ("/temp 0.3\n\nhi\n", ["/temp 0.3", "", "hi"]),
    ],
)
def test_lines_make_messages(text: str, wanted: list[str]) -> None:
    assert messages(text) == wanted


def test_bytes_that_are_no_text_are_survived() -> None:
    prompt = PlainPrompt(io.TextIOWrapper(io.BytesIO(b"a\xffb\n")))
    assert prompt.line(YOU) == "a\ufffdb"


def test_the_prompt_says_when_more_is_expected() -> None:
    asked: list[str] = []
    prompt = PlainPrompt(io.TextIOWrapper(io.BytesIO(b"one\\\ntwo\n")), asked.append)
    assert read_message(prompt.line) == "one\ntwo"
    assert asked == [YOU, MORE]


@pytest.mark.parametrize(
    ("typed", "text"), [(["one \\", "two \\"], "one \ntwo "), (['"""', "one", ""], "one\n"), (['"""'], "")]
)
def test_ctrl_c_in_the_middle_of_a_message_gives_it_up(typed: list[str], text: str) -> None:
    lines = iter(typed)

    def next_line(prompt: str, prefilled: str) -> str:
        try:
            return next(lines)
        except StopIteration:
            raise KeyboardInterrupt from None

    with pytest.raises(GivenUp) as given_up:
        read_message(next_line)
    assert given_up.value.text == text


def test_whole_words_and_whole_lines() -> None:
    out: list[str] = []
    lines = Lines(out.append)
    lines.write("One tw")
    assert out == ["One "]
    lines.write("o")
    lines.note("A notice.")
    assert "".join(out) == "One two\nA notice.\n"
    lines.write("x" * 100)
    assert out[-1] == "x" * 100, "a script without spaces does not wait for one"
    lines.say("Said.")
    assert "".join(out).endswith("x\nSaid.\n")


def test_what_is_said_beside_a_pipe_does_not_cut_an_answer() -> None:
    out: list[str] = []
    beside: list[str] = []
    lines = Lines(out.append, beside.append)
    lines.write("One ")
    lines.note("not saved: \x1b[2J")
    lines.write("two")
    lines.end_line()
    assert ("".join(out), "".join(beside)) == ("One two\n", "not saved: ␛[2J\n")


def test_a_reader_that_is_gone_is_said_once() -> None:
    class Closed(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, data: object) -> int:
            raise BrokenPipeError(32, "Broken pipe")

    write = writer(io.TextIOWrapper(io.BufferedWriter(Closed()), encoding="ascii"))
    with pytest.raises(OutputGone, match="broken pipe") as gone:
        write("hello")
    assert gone.value.broken_pipe


@pytest.mark.parametrize("sentence", [continuing.COMPLETE, continuing.EMPTY])
def test_keys_are_named_as_commands(sentence: str) -> None:
    assert " r asks" in sentence
    assert "/regenerate asks" in in_lines(sentence)
