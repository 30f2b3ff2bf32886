"""Every kind of block in pieces: behind each blank line, and at the end, the same is shown as for the whole text."""

from __future__ import annotations

import pytest

from app.tui.widgets.live_markdown import LiveMarkdown
from app.tui.widgets.live_table import Cells
from app.tui.widgets.live_tail import LiveTail
from tests.app.tui.fake_client import FakeClient, Wait, ends, reads, says
from tests.app.tui.harness import Chat, chat

TEXTS = {
    "table": "Text:\n\n"
    "| Name | Long header | Q |\n|--|:--:|--:|\n| a | b | 1 |\n| some longer cell | **bold** | 22222 |\n"
    "| x | `code` and more |\n|  |  | 3 | 4 |\n\nText\n| a | b |\n|--|--|\n\nText\n",
    "table of long lines": "a | b\n--|--\n" + "".join(f"row {n} | {'word ' * n * 5}\n" for n in range(6)) + "\nText\n",
    "tables in others": "- x\n\n  | a | b |\n  |--|--|\n  | 11111111 | 2 |\n- y\n\n"
    "> | a |\n> |--|\n> | 22222222222 |\n",
    "no table after all": "Text\n| a |\n|---|x\n\n| a |\n|---|\n| 1 |\n#x\n\nText\n",
    "quotes": "> one\n> two **bold**\n>\n> - a\n> - b\n>\n> > deep\nlazy\n\nText\n\n"
    "> ```py\n> x = 1\n> ```\n\n> again\n",
    "headings": "# One\nText\n## Two `x`\n\nText\n===\nmore\n---\n###### Six\n####### seven\n#\n\nText\n#tag\n",
    "rules": "a\n\n---\n\n***\nb\n___\nc\n***bold***\n\n- a\n***b*** c\n\n- a\n- b\n- - -\n\nText\n--- x\n",
    "rules in others": "- a\n\n  ---\n\n  b\n- c\n\n> x\n>\n> ---\n> y\n\nText\n",
    "tags": "<div>\n<b>x</b>\n</div>\n\nText <br> more\n<!-- c\n\nd -->\n\n<details>\n\n- a\n\n</details>\n",
    "definitions later": "See [one] and [two][t], ![pic][p].\n\n- item [one]\n- item\n\n| a |\n|--|\n| [one] |\n\n"
    "[one]: http://x.y\n[t]: <http://t> 'Title'\n[p]: http://p\n\nAnd [one] again.\n",
    "definitions first": "[one]: http://x.y\n\nSee [one].\n\nThen [one].\n\n- a [one]\n- b [one]\n- c [one]\n\n"
    "> [one]\n",
    "definitions within": "- see [x]\n\n  more\n\n  [x]: http://y\n- then [x]\n- and [y]\n- then\n\n> [y]: http://z\n",
    "titles": 'See [a] or [b].\n\n[a]: http://x\n"title"\n\nText\n\n[b]: http://y\n"no title\n\nmore\n',
    "indented code": "Text\n\n    code\n    more\n\n      deep\n\nText\n\n\tx\n\n- a\n\n      c\n",
    "code": "```\na\n b\n  c\n\nd\n```\n\n```\nxxx\n\n\n" + "\n" * 40 + "y\n```\n\nText\n```x``` y\n",
    "lists": "1. a\n   - b\n     1. c\n        > d\n   - e\n\n   more\n\n   ```py\n   x = 1\n   ```\n2. f\n\n"
    "10. g\n- [ ] h\n-\n- i\n",
    "breaks": "a  \nb\\\nc\nd\n\n*x*  \ny &amp; &#65; \\# ~~s~~ http://a.b\n\n\n\n1\\. no\n",
}


def drawn(it: Chat, shown: LiveMarkdown) -> list[str]:
    """Its rows on screen."""
    region = shown.region
    return [line[region.x : region.right].rstrip() for line in it.lines[region.y : region.bottom]]


async def behind(it: Chat, *shown: LiveMarkdown) -> None:
    body = it.screen.query_one(LiveMarkdown).parent
    assert body is not None
    await body.mount(*shown)  # type: ignore[attr-defined]


async def same(it: Chat, one: LiveMarkdown, other: LiveMarkdown) -> bool:
    await it.pilot.pause()
    if drawn(it, one) != drawn(it, other):
        await it.settle()
    return drawn(it, one) == drawn(it, other)


@pytest.mark.parametrize("size", [5, 23])
async def test_pieces_are_shown_as_the_whole_is(size: int) -> None:
    client = FakeClient([[reads(1, 1), *says("Look:"), Wait("end"), ends("Look:")]])
    async with chat(client, size=(70, 160)) as it:
        await it.send("go")
        await it.sees("Look:")
        for name, text in TEXTS.items():
            live, whole = LiveMarkdown(live=True), LiveMarkdown()
            await behind(it, live, whole)
            for end in range(size, len(text) + size, size):
                await live.append(text[end - size : end])
                if end >= len(text) or text[:end].endswith("\n\n"):
                    await whole.update(text[:end])
                    assert await same(it, live, whole), (name, text[:end], drawn(it, live), drawn(it, whole))
            await live.remove()
            await whole.remove()
        client.go("end")
        await it.until(lambda: it.idle)


async def test_an_answer_that_begins_with_text_goes_on_in_its_last_block() -> None:
    begin, more = "Text of\ntwo lines, and\n\n- one\n- two [x]\n- th", "ree\n\n[x]: http://y\n\nText\n"
    client = FakeClient([[reads(1, 1), *says("Look:"), Wait("end"), ends("Look:")]])
    async with chat(client, size=(70, 60)) as it:
        await it.send("go")
        await it.sees("Look:")
        live, whole = LiveMarkdown(begin, live=True), LiveMarkdown(begin + more)
        await behind(it, live, whole)
        for letter in more:
            await live.append(letter)
        assert await same(it, live, whole), (drawn(it, live), drawn(it, whole))
        client.go("end")
        await it.until(lambda: it.idle)


async def test_cells_of_a_table_stay_while_it_grows() -> None:
    client = FakeClient([[reads(1, 1), *says("Look:\n\n"), Wait("end"), ends("Look:")]])
    async with chat(client, size=(70, 60)) as it:
        await it.send("go")
        await it.sees("Look:")
        live = it.screen.query_one(LiveMarkdown)
        await live.append("| a | b |\n|--|--|\n| one | tw")
        cells = list(live.query_one(Cells).children)
        await live.append("o |\n| three | four |\n")
        grown = list(live.query_one(Cells).children)
        assert grown[: len(cells)] == cells
        assert {type(cell) for cell in grown} == {type(cells[0])}
        assert not any(cell.tooltip for cell in grown), "Textual would take the text in them for markup"
        await it.sees("│ one   │ two  │", "│ three │ four │")
        client.go("end")
        await it.until(lambda: it.idle)


def test_only_the_end_is_parsed_again() -> None:
    tail, source = LiveTail(), "".join(f"Paragraph {n} [a].\n\n" for n in range(50))
    tail.parse(source)
    assert (tail.settled, tail.lines) == (49, ["Paragraph 49 [a].", "", ""])
    assert not tail.redefines(source)
    tail.parse(source + "[a]: http://x\n")
    assert tail.redefines(source + "[a]: http://x\n")
    assert not tail.redefines(source + "[a]: http://x\n"), "told of once"
