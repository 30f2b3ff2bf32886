"""What is thought and what is said, however the text comes in pieces."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.protocol import ThoughtMarkers
from engine.text.thinking import MARKERS
from engine.text.thoughts import Part, ThoughtSplitter, ends_open, split_thoughts, spoken

THINK = (ThoughtMarkers(open="<think>", close="</think>"),)
HARMONY = tuple(pair for pair in MARKERS if "channel|>" in pair.open)
GEMMA = tuple(pair for pair in MARKERS if pair.close == "<channel|>")


def thought(text: str) -> Part:
    return Part("thought", text)


def said(text: str) -> Part:
    return Part("said", text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Hello.", [said("Hello.")]),
        ("", []),
        ("  two spaces", [said("  two spaces")]),
        ("<think>\nHm. Well.\n</think>\n\nHello.\n", [thought("Hm. Well."), said("Hello.\n")]),
        ("\n<think>a</think>b", [thought("a"), said("b")]),
        ("<think>\n\n</think>\n\nHello.", [said("Hello.")]),
        ("<think>a</think>\n<think>b</think> c", [thought("ab"), said("c")]),
        ("<think>not yet done", [thought("not yet done")]),
        ("<think>a\n\n  b</thin", [thought("a\n\n  b</thin")]),
        ("<think>", []),
        ("<thin", [said("<thin")]),
        ("<thinly> veiled", [said("<thinly> veiled")]),
        ("Write <think> and </think>.", [said("Write <think> and </think>.")]),
        ("<think>a</think>Write <think>b</think>.", [thought("a"), said("Write <think>b</think>.")]),
        ("a</think>b", [said("a</think>b")]),
    ],
)
def test_a_block_stands_at_the_beginning(text: str, parts: list[Part]) -> None:
    assert split_thoughts(text, THINK) == parts


def test_a_prompt_may_have_opened_the_block() -> None:
    assert split_thoughts("\nHm.\n</think>\n\nHello.", THINK, True) == [thought("Hm."), said("Hello.")]
    assert split_thoughts("Hm.", THINK, True) == [thought("Hm.")]
    assert split_thoughts("</think>Hello.", THINK, True) == [said("Hello.")]


def test_without_markers_everything_is_said() -> None:
    text = "<think>a</think>"
    assert split_thoughts(text, ()) == split_thoughts(text, (), True) == [said(text)]


def test_other_markers() -> None:
    assert split_thoughts("[THINK]a[/THINK]b", MARKERS) == [thought("a"), said("b")]
    assert split_thoughts("<thinking>a</thinking>b", MARKERS) == [thought("a"), said("b")]
    assert split_thoughts("<|channel>thought\na\n<channel|>b", GEMMA) == [thought("a"), said("b")]


def test_the_channels_of_gpt_oss() -> None:
    final = "<|start|>assistant<|channel|>final<|message|>"
    usual = f"<|channel|>analysis<|message|>We think.<|end|>{final}Hello."
    assert split_thoughts(usual, HARMONY) == [thought("We think."), said("Hello.")]
    assert split_thoughts("<|channel|>final<|message|>Hello.", HARMONY) == [said("Hello.")]
    assert split_thoughts("<|channel|>analysis<|message|>We th", HARMONY) == [thought("We th")]


PIECES = st.lists(
    st.sampled_from(
        [
            "<think>",
            "</think>",
            "<thi",
            "nk>",
            "</",
            "think>",
            "a",
            " b",
            "\n",
            " ",
            "<",
            "<thinking>",
            "[THINK]",
            "[/THINK]",
        ]
    ),
    max_size=12,
).map("".join)


@given(PIECES, st.booleans(), st.lists(st.integers(0, 80), max_size=8))
def test_pieces_give_what_the_whole_gives(text: str, inside: bool, cuts: list[int]) -> None:
    markers = MARKERS[:3]
    splitter = ThoughtSplitter(markers, inside)
    edges = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    parts = [part for a, b in itertools.pairwise(edges) for part in splitter.push(text[a:b])]
    parts += splitter.finish()
    assert all(part.text for part in parts)
    whole = split_thoughts(text, markers, inside)
    for kind in ("thought", "said"):
        assert "".join(p.text for p in parts if p.kind == kind) == "".join(p.text for p in whole if p.kind == kind)
    assert [kind for kind, _ in itertools.groupby(parts, key=lambda part: part.kind)] == [part.kind for part in whole]


@given(st.text(alphabet="ab \n<>/", max_size=30))
def test_text_without_markers_loses_nothing(text: str) -> None:
    assert "".join(part.text for part in split_thoughts(text, THINK)) == text


def test_what_may_become_a_marker_is_held_back_and_nothing_else() -> None:
    splitter = ThoughtSplitter(THINK)
    assert splitter.push("<th") == []
    assert not splitter.inside
    assert splitter.push("ink>\nHm") == [thought("Hm")]
    assert splitter.inside
    assert splitter.push("m. <b> </th") == [thought("m. <b>")]
    assert splitter.push("e> end") == [thought(" </the> end")]
    assert splitter.push("\n</think>\n\nHel") == [said("Hel")]
    assert not splitter.inside
    assert splitter.push("lo <think>") == [said("lo <think>")]
    assert splitter.finish() == []


def test_what_an_earlier_answer_said() -> None:
    assert spoken("<think>a</think>\n\nb", THINK) == "b"
    assert spoken("a</think>\n\nb", THINK) == "b", "the prompt had opened it"
    assert spoken("b", THINK) == "b"
    assert spoken("<think>a", THINK) == ""


def test_whether_a_prompt_ends_with_an_open_block() -> None:
    assert ends_open("<|assistant|><think>\n", THINK)
    assert not ends_open("<|assistant|><think>\n\n</think>\n\n", THINK)
    assert not ends_open("<|assistant|>", THINK)
    assert not ends_open("<think>", ())
