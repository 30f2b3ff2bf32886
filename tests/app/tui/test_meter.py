"""How full the context is: the meter's colours, while it is written and for what waits in the composer."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.content import Content
from textual.theme import Theme

from app.tui.theme import DARK, LIGHT
from app.tui.widgets.header import METER_CELLS, Header, context_meter
from engine.protocol import Loaded
from tests.app.tui.fake_client import FakeClient, Step, Wait, answer, counts, ends, pair, reads, says, stats
from tests.app.tui.harness import Chat, chat


@pytest.mark.parametrize(
    ("used", "colour"), [(0, "$accent"), (749, "$accent"), (750, "$warning"), (899, "$warning"), (900, "$error")]
)
def test_warm_from_three_quarters_and_hot_from_nine_tenths(used: int, colour: str) -> None:
    found = styles(context_meter(used, 1000))
    assert found <= {colour, "$muted", "$rule"}
    assert (colour in found) == (used > 0)
    assert ("$muted" in found) == (colour == "$accent")


def test_the_bar_is_as_long_as_the_share() -> None:
    assert [cells(used) for used in (0, 1, 500, 999, 5000)] == [(0, 0), (1, 0), (4, 0), (8, 0), (8, 0)]
    assert context_meter(500, 1000).plain == "ctx 500/1k ━━━━━━━━"


def test_what_waits_in_the_composer_shows_where_it_brings_the_meter_to_amber() -> None:
    assert cells(500, 100) == (4, 0), "calm: nobody need know"
    assert cells(500, 260) == (4, 2)
    assert cells(500, 450) == (4, 4)
    assert cells(500, 9000) == (4, 4)
    assert styles(context_meter(500, 1000, written=260)) == {"$warning", "$warning 45%", "$rule"}
    assert styles(context_meter(500, 1000, written=450)) == {"$error", "$error 45%"}
    assert context_meter(500, 1000, written=450, bar=False).spans[0].style == "$error"


def styles(content: Content) -> set[object]:
    return {span.style for span in content.spans if span.end > span.start}


def cells(used: int, written: int = 0) -> tuple[int, int]:
    """Cells of the bar that are full, and that will be."""
    content = context_meter(used, 1000, written=written)
    found = {
        str(span.style): span.end - span.start
        for span in content.spans
        if span.end > span.start and set(content.plain[span.start : span.end]) == {"━"}
    }
    assert sum(found.values()) == METER_CELLS
    full = sum(count for style, count in found.items() if style in ("$accent", "$warning", "$error"))
    return full, sum(count for style, count in found.items() if style.endswith("%"))


def colour_of_meter(it: Chat) -> str:
    """The colour of the meter's words on screen, as the theme names it."""
    strip = it.app.screen._compositor.render_strips()[0]
    segment = next(segment for segment in strip if "ctx" in segment.text)
    assert segment.style is not None
    assert segment.style.color is not None
    shown = segment.style.color.name
    names = ("muted", "warning", "error")
    return next((name for name in names if it.app.theme_variables[name].lower() == shown), shown)


def narrow(*scripts: list[Step]) -> FakeClient:
    return FakeClient(list(scripts), loads=[[Loaded(id=0, pair=pair(context=1000))]])


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
async def test_the_colours_are_the_themes_and_follow_while_it_is_written(theme: Theme) -> None:
    script = [
        reads(600, 600), *says("One"), counts(stats(50, prompt=600)), Wait("more"),
        *says(" two"), counts(stats(160, prompt=600)), Wait("end"),
        *says(" three"), ends("One two three", figures=stats(310, prompt=600)),
    ]  # fmt: skip
    async with chat(narrow(script), theme=theme.name) as it:
        await it.send("go")
        await it.sees("ctx 650/1k")
        assert colour_of_meter(it) == "muted"
        it.client.go("more")
        await it.sees("ctx 760/1k")
        assert colour_of_meter(it) == "warning"
        it.client.go("end")
        await it.until(lambda: it.idle)
        await it.sees("ctx 910/1k")
        assert colour_of_meter(it) == "error"


async def test_what_is_typed_and_attached_counts_before_it_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("bread " * 600)
    async with chat(narrow(answer("ok", figures=stats(50, prompt=500)), answer("ok"))) as it:
        header = it.screen.query_one(Header)
        await it.ask("go")
        assert (header.used, header.written) == (550, 0)
        assert colour_of_meter(it) == "muted"
        it.composer.text = "word " * 180
        await it.until(lambda: header.written == 225)
        await it.until(lambda: colour_of_meter(it) == "warning")
        it.composer.text = ""
        await it.until(lambda: header.written == 0)
        await it.until(lambda: colour_of_meter(it) == "muted")
        await it.pilot.press(*"@notes.txt ")
        await it.until(lambda: header.written > 600, "600 words of the file")
        assert colour_of_meter(it) == "error"
        await it.pilot.press("enter")
        await it.until(lambda: it.idle and len(it.answers) == 2)
        assert header.written == 0


async def test_a_large_paste_counts_though_it_is_folded() -> None:
    async with chat() as it:
        it.composer.insert_text("0123456789 " * 4000)
        await it.until(lambda: it.screen.query_one(Header).written >= 11_000)
        assert it.screen.query_one(Header).written < 11_100
