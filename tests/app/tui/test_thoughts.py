"""Thinking blocks: folded with their count, unfolded on demand, left out of copies."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chats.store import open_chats
from app.tui.thoughts import USUAL, Placed, Thinking, placed, tokens_of
from app.tui.widgets.answer_body import AnswerBody
from app.tui.widgets.thought import TAIL_LINES, Thought, ThoughtRow, end_of
from engine.protocol import Loaded, TemplateInfo, ThoughtMarkers
from engine.text.thinking import MARKERS
from tests.app.tui.fake_client import TEMPLATE, FakeClient, Wait, answer, ends, pair, reads, receipt, says
from tests.app.tui.harness import chat
from tests.app.tui.samples import spelled, streamed
from tests.app.tui.test_xray import tints

PLAIN = TemplateInfo(name="chatml", sha256="0" * 64)
"""A template that names no markers."""
TEXTS = st.lists(st.sampled_from(["<think>", "</think>", "<thi", "a", " ", "\n", "</", "word"]), max_size=12).map(
    "".join
)


def found(text: str) -> list[Placed]:
    return placed(text, Thinking())


def test_a_thought_and_what_is_said() -> None:
    assert found("<think>\nHm, Volga?\n</think>\n\nThe Volga.") == [
        Placed("thought", "Hm, Volga?", 8),
        Placed("said", "The Volga.", 29),
    ]


@pytest.mark.parametrize("text", ["plain", "  indented", "say <think> to think", "<thinner>", "<think", ""])
def test_without_a_block_at_its_beginning_an_answer_is_as_it_was(text: str) -> None:
    assert Thinking().spoken(text) == text
    assert [part.kind for part in found(text)] == ["said"] * bool(text)


def test_an_open_block_is_all_thought() -> None:
    assert found("<think>so far</thi") == [Placed("thought", "so far</thi", 7)]
    assert Thinking().spoken("<think>so far") == ""


def test_blocks_that_follow_each_other_are_one_part() -> None:
    assert [part.text for part in found("<think>a</think>\n<think>b</think>c")] == ["ab", "c"]


def test_a_block_that_the_prompt_has_opened() -> None:
    assert placed("Hm.</think>Yes.", Thinking(starts_inside=True)) == [
        Placed("thought", "Hm.", 0),
        Placed("said", "Yes.", 11),
    ]
    assert Thinking(starts_inside=True).spoken("Hm.</think>Yes.") == "Yes."


@pytest.mark.parametrize("marks", USUAL, ids=lambda marks: str(marks.open))
def test_a_template_without_markers_has_the_usual_ones(marks: ThoughtMarkers) -> None:
    assert marks in MARKERS
    proof = receipt().model_copy(update={"template": PLAIN})
    text = f"\n{marks.open}Hm.{marks.close}\n\nYes, {marks.open} is a word here."
    said = f"Yes, {marks.open} is a word here."
    assert Thinking.of(proof) == Thinking.begun(PLAIN, False)
    assert Thinking.of(proof).spoken(text) == said
    splitter = Thinking.begun(PLAIN, False).splitter()
    parts = [part for letter in text for part in splitter.push(letter)] + splitter.finish()
    assert "".join(part.text for part in parts if part.kind == "thought") == "Hm."
    assert "".join(part.text for part in parts if part.kind == "said") == said


def test_a_template_with_markers_has_no_others() -> None:
    other = TEMPLATE.model_copy(update={"markers": (ThoughtMarkers(open="[THINK]", close="[/THINK]"),)})
    assert Thinking.begun(other, False).spoken("<think>a</think>b") == "<think>a</think>b"


def test_without_markers_all_text_is_as_it_was() -> None:
    assert placed("<think>a</think>b", Thinking(())) == [Placed("said", "<think>a</think>b", 0)]


@given(TEXTS)
def test_every_part_stands_where_it_is_said_to(text: str) -> None:
    parts = found(text)
    one_block = text.count("<think>") < 2
    assert all(text[part.start : part.stop] == part.text for part in parts if one_block or part.kind == "said")
    assert [part.start for part in parts] == sorted(part.start for part in parts)


def test_the_tokens_of_a_block_are_all_that_stand_before_what_is_said() -> None:
    text = "<think>\nabcde</think>\n\nYes."
    lengths = (7, 1, 3, 0, 2, 8, 2, 3, 1)  # one of them completes no character
    assert sum(lengths) == len(text)
    assert tokens_of(found(text), text, lengths) == [7, 2]
    assert tokens_of(found(text), text, ()) == [None, None]
    assert tokens_of(found("Yes."), "Yes.", (3, 1)) == [2]


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("short", 6, "short"),
        ("a long line of words", 6, "…words"),
        ("a long line of words", 10, "…of words"),
        ("Danube: ten countries.", 18, "…ten countries."),
        ("a verylongword", 9, "…longword"),
        ("日本語日本", 9, "…本語日本"),
    ],
)
def test_the_end_of_a_line_fits_and_begins_with_a_whole_word(text: str, width: int, shown: str) -> None:
    assert end_of(text, width) == shown


THOUGHT = (
    ("<think>", "t"),
    ("\n", "t"),
    ("Which river ", "t"),
    ("is the longest? ", "l"),
    ("The Volga.", "t"),
    ("\n", "t"),
)
SAID = (("</think>", "c"), ("\n\n", "t"), ("It is ", "t"), ("the **Volga**.", "l"))


async def test_it_is_counted_while_it_grows_and_folded_when_it_is_done() -> None:
    steps = streamed(spelled(*THOUGHT, *SAID))
    script = [*steps[:5], Wait("think"), *steps[5:9], Wait("say"), *steps[9:]]
    async with chat(FakeClient([script])) as it:
        await it.send("go")
        await it.sees("thinking…    4 tokens", "Which river is the longest?")
        assert "<think>" not in it.shown
        it.client.go("think")
        await it.sees("▸ thought for 8 tokens")
        assert "thinking…" not in it.shown
        it.client.go("say")
        await it.until(lambda: it.idle)
        await it.sees("▸ thought for 8 tokens", "It is the Volga.")
        assert "longest" not in it.shown
        assert "think>" not in it.shown
        assert it.stored[-1][2].startswith("<think>\nWhich river")
        assert it.answers[0].spoken == "It is the **Volga**."


async def test_a_click_unfolds_it_and_another_one_folds_it() -> None:
    async with chat(FakeClient([streamed(spelled(*THOUGHT, *SAID))])) as it:
        await it.ask("go")
        await it.screen.show_chat()
        await it.sees("▸ thought for 8 tokens")
        await it.pilot.click(ThoughtRow)
        await it.sees("▾ thought for 8 tokens", "Which river is the longest? The Volga.")
        await it.pilot.click(ThoughtRow)
        await it.until(lambda: "longest" not in it.shown)


async def test_the_palettes_action_unfolds_the_last_thought_and_says_when_there_is_none() -> None:
    async with chat(FakeClient([streamed(spelled(*THOUGHT, *SAID)), answer("Yes.")])) as it:
        await it.ask("go")
        await it.ask("sure?")
        it.screen.action_thoughts()
        await it.sees("▾ thought for 8 tokens")
        await it.screen.action_new_chat()
        it.screen.action_thoughts()
        await it.sees("No answer on screen has thoughts to unfold.")


async def test_an_answer_that_was_stopped_while_thinking_keeps_the_thought() -> None:
    steps = streamed(spelled(*THOUGHT, *SAID))
    async with chat(FakeClient([[*steps[:5], Wait("never")]])) as it:
        await it.send("go")
        await it.sees("thinking…")
        await it.pilot.press("escape")
        await it.until(lambda: it.idle)
        await it.sees("stopped", "▸ thought for 4 tokens")
        assert it.stored[-1][2] == "<think>\nWhich river is the longest? "


async def test_an_older_answer_counts_characters() -> None:
    async with chat(FakeClient([answer("<think>Hm.</think>Yes.")])) as it:
        await it.ask("go")
        await it.screen.show_chat()
        await it.sees("▸ thought, 3 characters", "Yes.")


async def test_it_is_folded_where_the_template_names_no_markers(tmp_path: Path) -> None:
    spoken = spelled(*THOUGHT, *SAID)
    assert spoken.receipt is not None
    proof = spoken.receipt.model_copy(update={"template": PLAIN})
    script = streamed(spoken.model_copy(update={"receipt": proof}))
    plain = Loaded(id=0, pair=pair().model_copy(update={"template": PLAIN}))
    client = FakeClient([[*script[:4], Wait("think"), *script[4:]]], loads=[[plain]])
    store = open_chats(tmp_path / "chats.sqlite", print)
    async with chat(client, store=store) as it:
        await it.send("go")
        await it.sees("thinking…")
        assert "<think>" not in it.shown
        client.go("think")
        await it.until(lambda: it.idle)
        await it.sees("▸ thought", "It is the Volga.")
        await it.screen.show_chat()
        await it.sees("▸ thought", "It is the Volga.")
        assert it.answers[0].spoken == "It is the **Volga**."
    store.close()


async def test_markers_elsewhere_are_words() -> None:
    async with chat(FakeClient([answer("Say <think> and </think> aloud.")])) as it:
        await it.ask("go")
        await it.sees("Say <think> and </think> aloud.")
        assert it.answers[0].spoken == "Say <think> and </think> aloud."
        assert not it.answers[0].body.thoughts


async def test_an_unfolded_live_thought_shows_its_end_only() -> None:
    lines = "\n".join(f"line {number}" for number in range(40))
    async with chat(FakeClient([[*says(f"<think>{lines}"), Wait("never")]]), size=(100, 60)) as it:
        await it.send("go")
        await it.sees("thinking…", "line 39")
        it.screen.action_thoughts()
        await it.sees("line 38", f"line {40 - TAIL_LINES}")
        assert f"line {39 - TAIL_LINES}\n" not in it.shown
        assert "line 10 " not in it.shown


async def test_thoughts_are_tinted_too() -> None:
    async with chat(FakeClient([streamed(spelled(*THOUGHT, *SAID))])) as it:
        await it.ask("go")
        it.screen.action_thoughts()
        await it.pilot.press("f4")
        await it.until(lambda: tints(it.answers[0]) == {"l": "is the longest? the Volga."})


def test_a_thought_that_is_not_mounted_can_be_fed() -> None:
    thought = Thought(live=True)
    thought.feed("a")
    thought.count(1)
    assert thought.text == "a"


async def test_a_live_answer_may_begin_with_something() -> None:
    async with chat() as it:
        body = AnswerBody("<think>First", live=True)
        await it.transcript.mount(body)
        await body.feed(", then.</think>So ", 3, Thinking())
        await body.feed("it is.", 5, Thinking())
        await it.until(lambda: [type(piece).__name__ for piece in body._pieces] == ["Thought", "LiveMarkdown"])
        await body.complete("<think>First, then.</think>So it is.", (), Thinking())
        assert [thought.text for thought in body.thoughts] == ["First, then."]


async def test_what_was_never_drawn_is_there_at_the_end() -> None:
    async with chat() as it:
        body = AnswerBody("", live=True)
        await it.transcript.mount(body)
        await body.complete("<think>Hm.</think>\n\nYes.", (7, 3, 8, 2, 3, 1), Thinking())
        assert [type(piece).__name__ for piece in body._pieces] == ["Thought", "LiveMarkdown"]
        assert body.toggle_thoughts()
        await it.until(lambda: body.thoughts[0].unfolded)


async def test_the_prompt_may_have_opened_the_block() -> None:
    begun = reads(9, 9).model_copy(update={"starts_in_thought": True})
    proof = receipt().model_copy(update={"starts_in_thought": True})
    text = "Hm, the Volga?</think>\n\nThe Volga."
    client = FakeClient([[begun, *says(text[:9]), Wait("go"), *says(text[9:]), ends(text, proof=proof)]])
    async with chat(client) as it:
        await it.send("go")
        await it.sees("thinking…", "Hm, the V")
        client.go("go")
        await it.until(lambda: it.idle)
        await it.sees("▸ thought", "The Volga.")
        assert "Hm" not in it.shown
        await it.screen.show_chat()
        await it.sees("▸ thought, 14 characters", "The Volga.")
        assert it.answers[0].spoken == "The Volga."
