"""An answer piece by piece: what is drawn while it grows is what stands there in the end."""

from __future__ import annotations

import pytest
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Label
from textual.widgets._markdown import MarkdownBullet
from textual.widgets.markdown import MarkdownBlock, MarkdownFence

from app.tui.theme import LIGHT
from app.tui.widgets.live_fence import SETTLING
from app.tui.widgets.live_list import LiveOrderedList
from app.tui.widgets.live_markdown import LiveMarkdown
from tests.app.tui.fake_client import FakeClient, Wait, ends, reads, says
from tests.app.tui.harness import Chat, chat

BEGIN = "Look:\n\n"
LONG = "".join(
    f"def number_{n}():\n    return {n}\n{chr(10) * (n % 3)}" if n % 7 else f"# {'long ' * 30}{n}\n" for n in range(70)
)

TEXTS = {
    "closed": "```python\nx = 1\n\n\ny = 2\n```\nAfter it.\n",
    "open": "```\na\n b\n  c\n\n",
    "tilde": "~~~ sh\necho ```\n~~~\n\nText",
    "four": "````md\n```python\nx\n```\n````\nText",
    "words behind": "```\n```python\nis code\n```\nText",
    "indented": "  ```\n  x\n    y\n  ```\n\nText",
    "indented end": "```\nx\n   ```  \nText",
    "in a list": "- one\n\n  ```sh\n  echo 1\n  echo 2\n  ```\n- two\n",
    "long": f"```python\n{LONG}```\n\nAnd **this**.",
    "long and open": f"```python\n{LONG}",
    "blank lines": f"```\n{'x' * 3}{chr(10) * (3 * SETTLING)}y\n```\n",
    "two": "```\na\n```\n\n```\nb\n```\n",
    "bullets": "- one **bold**\n- two\n  with more\n- three\n\nText",
    "numbers": "".join(f"{n}. item {n}\n" for n in range(1, 13)) + "\nText",
    "nested": "- a\n  - b\n    - c\n  - d\n- e\n  1. f\n  2. g\n",
    "apart": "- one\n\n- two\n\n  more of two\n\n  > quoted\n\n- three\n",
    "a rule behind bullets": "- one\n- two\n- - -\nText\n\n* a\n* b\n* * *\n",
    "no item after all": "- one\n- two\n-three\n\n1. a\n2. b\n3.c\n",
    "a heading behind bullets": "- one\n- two\n---\n\n- three\n- four\n===\n",
    "from seven": "7. a\n8. b\n\n9. c\n\n   more\n10. **d**\n11. `e`\n    - f\n    - g\n12. h\n\nText\n\n1) x\n2) y\n",
    "all ones": "1. a\n1. b\n1. c\n1. d\n",
    "indented bullets": " - a\n  - b\n   - c\n- d\n\t- e\n- f\n",
    "list, then numbers": "- one\n- two\n\n1. first\n2. second\n",
}


def drawn(it: Chat) -> list[str]:
    """The answer's rows on screen."""
    region = it.screen.query_one(LiveMarkdown).region
    return [line[region.x : region.right].rstrip() for line in it.lines[region.y : region.bottom]]


async def fed(it: Chat, text: str, size: int) -> LiveMarkdown:
    """Let the answer begin, and add ``text`` to it in pieces."""
    await it.send("go")
    await it.sees("Look:")
    live = it.screen.query_one(LiveMarkdown)
    for at in range(0, len(text), size):
        await live.append(text[at : at + size])
    await it.settle()
    return live


@pytest.mark.parametrize("size", [1, 3, 50])
@pytest.mark.parametrize("name", TEXTS)
async def test_it_looks_while_it_grows_as_it_does_in_the_end(name: str, size: int) -> None:
    if size == 1 and len(TEXTS[name]) > 1000:
        size = 7
    whole = BEGIN + TEXTS[name]
    client = FakeClient([[reads(1, 1), *says(BEGIN), Wait("end"), ends(whole)]])
    async with chat(client, size=(100, 340)) as it:
        await fed(it, TEXTS[name], size)
        before = drawn(it)
        client.go("end")
        await it.until(lambda: it.idle)
        await it.settle()
        assert "\n".join(before) == "\n".join(drawn(it))


def laid_out_by_another(it: Chat, widget: Widget) -> None:
    """``widget`` waits for its layout; meanwhile another one grows, and all are laid out."""
    assert widget._layout_required
    for around in widget.ancestors_with_self[1:-1]:
        assert isinstance(around, Widget)
        around._clear_arrangement_cache()
        around._layout_updates += 1
    it.screen._refresh_layout()


async def test_a_layout_between_two_pieces_hides_no_line() -> None:
    client = FakeClient([[reads(1, 1), *says(BEGIN), Wait("end"), ends(BEGIN)]])
    async with chat(client, size=(60, 30)) as it:
        live = await fed(it, "A short line.", 40)
        paragraph = live.children[-1]
        assert isinstance(paragraph, MarkdownBlock)
        paragraph.set_content(Content("A short line of text"))
        laid_out_by_another(it, paragraph)
        paragraph.set_content(Content("A line of text that grows until there is no room for it in one row"))
        await it.until(lambda: paragraph.size.height == 2)
        client.go("end")
        await it.until(lambda: it.idle)


async def test_a_layout_before_the_tenth_item_cuts_none() -> None:
    client = FakeClient([[reads(1, 1), *says(BEGIN), Wait("end"), ends(BEGIN)]])
    async with chat(client, size=(60, 30)) as it:
        live = await fed(it, "".join(f"{n}. item {n}\n" for n in range(1, 10)), 40)
        (numbers,) = live.query(LiveOrderedList)
        bullet = numbers.query(MarkdownBullet).last()
        bullet.refresh(layout=True)
        laid_out_by_another(it, bullet)
        numbers._renumber(numbers.rows, 10)
        await it.settle()
        assert drawn(it)[10].endswith("9. item 9")
        client.go("end")
        await it.until(lambda: it.idle)


async def test_the_screen_is_asked_again_behind_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    async with chat() as it:
        asked: list[int] = []
        monkeypatch.setattr(it.screen, "check_idle", lambda: asked.append(it.app._batch_count))
        with it.app.batch_update(), it.app.batch_update():
            asked.clear()
        assert asked == [0], "once, behind the outermost"


async def test_a_long_block_is_drawn_anew_only_at_its_end() -> None:
    client = FakeClient([[reads(1, 1), *says(BEGIN), Wait("end"), ends(BEGIN + TEXTS["long and open"])]])
    async with chat(client, size=(100, 340)) as it:
        live = await fed(it, TEXTS["long and open"], 40)
        (fence,) = live.query(MarkdownFence)
        assert fence.code == LONG.rstrip()
        assert live.source == BEGIN + TEXTS["long and open"]
        settled = list(fence.query(".settled").results(Label))
        assert len(settled) >= 2
        assert len(str(fence.query_one("#code-content", Label).content).splitlines()) <= 2 * SETTLING
        contents = [label.content for label in settled]
        await live.append("x = 1\ny = 2\n")
        assert all(label.content is content for label, content in zip(settled, contents, strict=True))
        client.go("end")
        await it.until(lambda: it.idle)


async def test_a_long_block_survives_another_theme_and_is_copied_whole() -> None:
    client = FakeClient([[reads(1, 1), *says(BEGIN), Wait("end"), ends(BEGIN)]])
    async with chat(client, size=(100, 340)) as it:
        await fed(it, TEXTS["long and open"], 40)
        before = drawn(it)
        it.app.theme = LIGHT.name
        await it.settle()
        assert drawn(it) == before
        await it.pilot.press("alt+up", "b")
        await it.until(lambda: it.app.clipboard == LONG.rstrip())
        client.go("end")
        await it.until(lambda: it.idle)


async def test_items_of_a_list_stay_while_it_grows() -> None:
    client = FakeClient([[reads(1, 1), *says(BEGIN), Wait("end"), ends(BEGIN)]])
    async with chat(client) as it:
        live = await fed(it, "1. one\n2. two", 4)
        (grown,) = live.query(LiveOrderedList)
        rows = grown.rows
        await live.append(" and more\n3. three\n")
        assert list(live.query(LiveOrderedList)) == [grown]
        assert grown.rows[:2] == rows
        await it.sees("1. one", "2. two and more", "3. three")
        client.go("end")
        await it.until(lambda: it.idle)


async def test_of_a_long_list_only_the_last_item_is_parsed_again() -> None:
    client = FakeClient([[reads(1, 1), *says(BEGIN), Wait("end"), ends(BEGIN)]])
    async with chat(client, size=(100, 340)) as it:
        live = await fed(it, "".join(f"{n}. item {n}\n" for n in range(1, 200)), 50)
        (numbers,) = live.query(LiveOrderedList)
        assert len(numbers._parsed) <= 8, "the items of a piece, and the one before"
        assert len(numbers.rows) == 199
        rows = numbers.rows
        await live.append("200. item **200**\n201. item")
        await it.settle()
        assert numbers.rows[:199] == rows
        assert [line.strip() for line in drawn(it) if line.strip()][1:] == [f"{n}. item {n}" for n in range(1, 200)] + [
            "200. item 200",
            "201. item",
        ]
        client.go("end")
        await it.until(lambda: it.idle)


async def test_an_answer_that_is_taken_away_leaves_no_task_behind() -> None:
    client = FakeClient([[reads(1, 1), *says(BEGIN), Wait("end"), ends(BEGIN)]])
    async with chat(client) as it:
        live = await fed(it, "some words", 4)
        await live.feed(" and more")
        stream = live._stream
        assert stream is not None
        assert stream._task is not None
        await live.remove()
        await it.until(stream._task.done, "the end of the task")
        client.go("end")
        await it.until(lambda: it.idle)
