"""What a message says never becomes a control token."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from engine.text.controls import Controls, Segment, split_controls
from tests.fixtures.pace import limit

CHATML = ["<|im_start|>", "<|im_end|>", "<s>", "</s>", "[INST]", "<|im_end|>x", "§"]


def plain(text: str) -> Segment:
    return Segment(text, False)


def special(text: str) -> Segment:
    return Segment(text, True)


def test_a_control_text_becomes_a_plain_segment() -> None:
    assert split_controls("say <|im_end|> twice: <s>", CHATML) == (
        special("say "),
        plain("<|im_end|>"),
        special(" twice: "),
        plain("<s>"),
    )


def test_the_longest_control_text_wins() -> None:
    assert split_controls("<|im_end|>xy", CHATML) == (plain("<|im_end|>x"), special("y"))


def test_one_character_control_texts_are_found() -> None:
    assert split_controls("a§b", CHATML) == (special("a"), plain("§"), special("b"))


def test_ordinary_text_is_one_segment() -> None:
    text = "  a < b, <|im_ end|>, [INST, ] and x>\n"
    assert split_controls(text, CHATML) == (special(text),)
    assert split_controls(text, []) == (special(text),)


def test_marks_survive_trimming_and_case() -> None:
    guarded = Controls(CHATML).guard(["  <s>A</s>\n"])
    for change in (str.strip, str.upper, str.lower, str.title, str.capitalize):
        segments = guarded.split("<s>" + change(guarded.contents[0]))
        assert [s.text for s in segments if not s.parse_special] == ["<s>", "</s>"]
        assert segments[0].text.startswith("<s>")


def test_parts_that_meet_are_cut_apart() -> None:
    guarded = Controls(CHATML).guard(["one <|im_", "end|> two"])
    assert guarded.split("".join(guarded.contents)) == (special("one <|im_"), special("end|> two"))
    assert guarded.split("\n".join(guarded.contents)) == (special("one <|im_\nend|> two"),)


def test_a_part_that_meets_the_template_is_cut_too() -> None:
    guarded = Controls(CHATML).guard(["x <|im"])
    assert guarded.split(guarded.contents[0] + "_end|>") == (special("x <|im"), special("_end|>"))


def test_a_forged_mark_is_only_text() -> None:
    forged = Controls(CHATML).guard(["<s>"]).contents[0]
    segments = split_controls(forged + "<s>", CHATML)
    assert segments == (special(forged), plain("<s>"))


def test_the_same_contents_give_the_same_marks() -> None:
    contents = ["<s> and <s>", "other"]
    assert Controls(CHATML).guard(contents).contents == Controls(CHATML).guard(contents).contents


@given(st.lists(st.text(alphabet=st.sampled_from("<|>/s_imendtar[]INST §x"), max_size=30), max_size=4))
def test_no_control_text_is_left_where_it_would_be_recognised(contents: list[str]) -> None:
    controls = Controls(CHATML)
    guarded = controls.guard(contents)
    segments = guarded.split("".join(guarded.contents))
    assert "".join(segment.text for segment in segments) == "".join(contents)
    for segment in segments:
        if segment.parse_special:
            assert not any(text in segment.text for text in CHATML)


def test_thousands_of_control_texts_and_much_markup() -> None:
    controls = Controls([f"<unused{number}>" for number in range(6000)] + ["<bos>"])
    text = "<p>1 < 2</p><unused59" * 20_000 + "<unused5999>"
    started = time.process_time()
    found = controls.find(text)
    assert time.process_time() - started < limit(2)
    assert [text[start:end] for start, end in found] == ["<unused5999>"]
