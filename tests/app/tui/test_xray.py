"""The X-ray: every character has its proposer's tint, and the text does not move."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content
from textual.widgets import Static
from textual.widgets.markdown import MarkdownBlock

from app.clean import clean
from app.tui import xray
from app.tui.widgets.legend import Legend
from app.tui.widgets.live_tail import parser
from app.tui.widgets.turns import NO_XRAY, AnswerTurn
from tests.app.tui.fake_client import FakeClient, Wait, answer, receipt
from tests.app.tui.harness import Chat, chat
from tests.app.tui.samples import spelled, streamed

KINDS = {style: letter for letter, style in xray.STYLES.items()}

TEXT = """# A *short* list

Two **rivers**, `code` and a [link](http://a.b/c.d "t"). Done &amp; \\*dusted\\*.

1. The **Danube** is 1. of all
   and goes on
2. The Rhine
   - inner 1

> quoted words
> in two lines

```python
if x:
    return 1  # one
```

| river | km |
|---|---|
| Danube | 2,850 |
| Rhine | 1,233 |
"""


def test_one_letter_a_character() -> None:
    assert xray.letters("Hi you", "tl", (2, 4)) == "ttllll"
    assert xray.letters("Hi you", "tlc", (2, 0, 4)) == "ttcccc"


@pytest.mark.parametrize(
    ("sources", "lengths"), [("tl", ()), ("t", (2, 4)), ("tl", (2, 3)), ("", ())], ids=["none", "few", "short", "empty"]
)
def test_what_does_not_fit_together_is_not_known(sources: str, lengths: tuple[int, ...]) -> None:
    assert xray.letters("Hi you", sources, lengths) is None


@given(st.text(alphabet="a\r\n\x1b\u2028é", max_size=30), st.data())
def test_cleaning_keeps_letters_and_characters_together(text: str, data: st.DataObject) -> None:
    letters = data.draw(st.text(alphabet="tldcb", min_size=len(text), max_size=len(text)))
    assert len(xray.cleaned(text, letters)) == len(clean(text))


def test_runs_become_spans_and_the_targets_own_choices_none() -> None:
    assert [(start, end, KINDS[str(style)]) for start, end, style in xray.spans("ttllbcdd")] == [
        (2, 4, "l"),
        (5, 6, "c"),
        (6, 8, "d"),
    ]


def test_each_inline_character_finds_its_own_letter() -> None:
    """Letters are the characters themselves here, so what is found can be read."""
    source = xray.Source.of(TEXT, TEXT)
    tokens = [token for token in parser().parse(TEXT) if token.type == "inline"]
    table = [token for token in tokens if "|" in TEXT.split("\n")[token.map[0]]]  # type: ignore[index]
    assert [source.of_inline(token) for token in tokens if token not in table] == [
        "A short list",
        "Two rivers, code and a link. Done & *dusted*.",
        "The Danube is 1. of all and goes on",
        "The Rhine",
        "inner 1",
        "quoted words in two lines",
    ]
    assert source.of_cells(table) == ["river", "km", "Danube", "2,850", "Rhine", "1,233"]


def test_code_finds_its_lines() -> None:
    source = xray.Source.of(TEXT, TEXT)
    fence = next(token for token in parser().parse(TEXT) if token.type == "fence")
    assert source.of_code(fence, fence.content.rstrip()) == "if x:     return 1  # one"


@given(
    st.lists(st.sampled_from([*"ab*_`[]()!|#>-\n \\&;", "http://x.y", "**", "```\n", "| a |\n|---|\n"]), max_size=40)
)
def test_any_markdown_gets_letters_of_the_length_that_is_shown(pieces: list[str]) -> None:
    text = "".join(pieces)
    source = xray.Source.of(text, text)
    for token in parser().parse(text):
        if token.type == "inline":
            found = source.of_inline(token)
            assert len(found) == len(shown(token)), (text, token.content)
            assert all(a == b or a == xray.UNKNOWN or b in " ()🖼" for a, b in zip(found, shown(token), strict=True))


def shown(token: object) -> str:
    block = MarkdownBlock.__new__(MarkdownBlock)
    return MarkdownBlock._token_to_content(block, token).plain  # type: ignore[arg-type]


def tints(view: AnswerTurn) -> dict[str, str]:
    """Letter -> all text that is tinted so, in the order of the screen."""
    found: dict[str, str] = {}
    for widget in view.query(Static):
        content = widget.content
        if isinstance(content, Content):
            for start, end, style in content.spans:
                if letter := KINDS.get(str(style)):
                    found[letter] = found.get(letter, "") + content.plain[start:end]
    return found


ANSWER = (
    ("Three ", "t"), ("**riv", "l"), ("ers** in", "l"), (" Europe", "d"), (":\n\n", "c"), ("- Danube", "t"),
    ("\n- Rh", "l"), ("ine\n\n```", "b"), ("\nx = ", "d"), ("1\n```\n\n", "t"),
    ("| a | b |\n|---|---|\n", "t"), ("| 1 |", "t"), (" 22 ", "l"), ("|\n", "t"),
)  # fmt: skip


async def with_xray(it: Chat) -> AnswerTurn:
    await it.ask("go")
    await it.sees("x = 1", "22")
    before = it.lines
    await it.pilot.press("f4")
    await it.until(lambda: tints(it.answers[0]))
    legend = next(at for at, line in enumerate(it.lines) if "draft model" in line)
    moved = [(a, b) for at, (a, b) in enumerate(zip(before, it.lines, strict=True)) if a != b and at < legend - 3]
    assert moved == [], "the text does not move"
    return it.answers[0]


async def test_tokens_are_tinted_by_who_proposed_them() -> None:
    async with chat(FakeClient([streamed(spelled(*ANSWER))]), size=(100, 44)) as it:
        view = await with_xray(it)
        assert tints(view) == {"l": "rivers inRh22", "d": " Europex = ", "c": ":"}
        await it.sees("x-ray", "lookup", "draft model", "corrected", "f4 ends it", "plain: the model alone")
        await it.pilot.press("f4")
        await it.until(lambda: not tints(view))
        assert not it.screen.query_one(Legend).display


async def test_it_stays_on_for_stored_answers_for_new_ones_and_for_other_colours() -> None:
    client = FakeClient([streamed(spelled(*ANSWER)), streamed(spelled(("It is ", "t"), ("the Volga.", "l")))])
    async with chat(client, size=(100, 44)) as it:
        await with_xray(it)
        await it.ask("And the longest one?")
        await it.until(lambda: tints(it.answers[1]) == {"l": "the Volga."})
        it.app.action_switch_colours()
        await it.pilot.pause()
        assert tints(it.answers[0])["d"] == " Europex = "
        await it.screen.show_chat()
        await it.until(lambda: tints(it.answers[0]) == {"l": "rivers inRh22", "d": " Europex = ", "c": ":"})


async def test_a_running_answer_is_tinted_at_its_end() -> None:
    steps = streamed(spelled(("It is ", "t"), ("the Volga.", "l")))
    async with chat(FakeClient([[*steps[:-1], Wait("end"), steps[-1]]])) as it:
        await it.pilot.press("f4")
        await it.send("go")
        await it.sees("It is the Volga.")
        assert not tints(it.answers[0])
        it.client.go("end")
        await it.until(lambda: tints(it.answers[0]) == {"l": "the Volga."})


async def test_an_older_answer_says_that_it_has_none() -> None:
    async with chat(FakeClient([answer("old", proof=receipt())])) as it:
        await it.ask("go")
        await it.pilot.press("f4")
        await it.sees(NO_XRAY)
        assert not tints(it.answers[0])
        await it.pilot.press("f4")
        await it.until(lambda: NO_XRAY not in it.shown)


async def test_html_is_text() -> None:
    text = "Use <b>bold</b> here.\n\n<div>\nblock\n</div>\n\nDone."
    async with chat(FakeClient([answer(text)])) as it:
        await it.ask("go")
        await it.sees("Use <b>bold</b> here.", "<div> block </div>", "Done.")
