"""The line under an answer: what fits, what stands still, what a figure means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.receipt import Part
from app.tui.screens.receipt import ReceiptScreen
from app.tui.widgets.receipt_line import SPARK_CELLS, SPARK_LEAST, Layout, ReceiptLine, fitted
from engine.stats import FIGURES, DrafterStats, Stats
from tests.app.tui.fake_client import FakeClient, Wait, answer, counts, ends, reads, receipt, says, stats
from tests.app.tui.harness import chat
from tests.app.tui.samples import PACE, full_receipt, full_stats

PROPOSED = {"lookup": DrafterStats(drafted=9, drafts=3)}


def figures(tokens: int, accepted: int, rejected: int, rate: float, *, factor: float | None = None) -> Stats:
    return stats(
        tokens, accepted=accepted, rejected=rejected, prompt=900, decode_tokens_per_second=rate, speedup=factor,
        drafters=PROPOSED if accepted + rejected else {}, time_to_first_token=0.4,
    )  # fmt: skip


def columns(layout: Layout) -> dict[str, int]:
    """Where each figure begins."""
    places, at = {}, 0
    for part in layout.parts:
        places[part.figure] = at
        at += len(part.text) + len(layout.gap)
    return places


@given(
    width=st.integers(40, 124),
    allowed=st.sampled_from(["none", "lookup", "draft", "lookup+draft"]),
    context=st.sampled_from([0, 8192, 131072]),
)
def test_nothing_moves_while_it_counts(width: int, allowed: str, context: int) -> None:
    states = [
        Stats(prompt_tokens=900),
        figures(1, 0, 0, 3.0),
        figures(40, 18, 10, 38.7),
        figures(512, 214, 87, 42.1, factor=1.31),
        figures(999, 700, 99, 142.7, factor=0.82),
    ]
    layouts = [fitted(state, allowed, context, width) for state in states]
    assert len({str(columns(layout)) for layout in layouts}) == 1
    assert len({(layout.spark, layout.narrow) for layout in layouts}) == 1
    if not layouts[0].narrow:
        assert all(layout.width + (layout.spark + 2 if layout.spark else 0) <= width for layout in layouts)
        assert layouts[0].spark == 0 or SPARK_LEAST <= layouts[0].spark <= SPARK_CELLS


def test_shorter_and_shorter() -> None:
    state = full_stats(drafters=PROPOSED)
    words = {width: fitted(state, "lookup", 8192, width) for width in (125, 115, 105, 95, 75)}
    assert [layout.spark for layout in words.values()] == [15, 12, 0, 0, 0]
    figures_at = {width: [part.text.strip() for part in layout.parts] for width, layout in words.items()}
    assert figures_at[125] == [
        "42.1 tok/s", "1.31x", "accepted  71 % (214/301)", "2.9 tok/pass", "0.4 s to first", "512 tok", "ctx 1.9k/8k",
        "lookup",
    ]  # fmt: skip
    assert figures_at[115][3:5] == figures_at[105][3:5] == ["2.9/pass", "first 0.4 s"]
    assert not any("ctx" in text for text in figures_at[95])
    assert figures_at[75] == ["42 tok/s", "71 %", "2.9/pass", "lookup"]


@pytest.mark.parametrize("width", range(72, 126))
def test_no_word_is_cut_for_what_is_slower(width: int) -> None:
    line = ReceiptLine()
    for state in (figures(93, 1, 2, 15.2, factor=0.98), figures(512, 214, 87, 42.1, factor=0.82)):
        line.show(state, "lookup", 8192)
        left, right = (part.plain for part in line.parts(width))
        assert len(left) + (2 + len(right) if right else 0) <= width
        if not fitted(state, "lookup", 8192, width).narrow:
            assert left.endswith("  lookup")
            assert right.split("  ")[0] in ("slower here", "slower", "")


def test_blanks_go_before_words_do() -> None:
    line = ReceiptLine()
    line.show(figures(93, 1, 2, 15.2, factor=0.98), "lookup", 8192)
    left, right = line.parts(94)
    assert left.plain == "15.2 tok/s  0.98x  accepted 33 % (1/3)  1.0/pass  first 0.4 s  93 tok  lookup"
    assert right.plain == "slower here"
    explained = line._layout(figures(93, 1, 2, 15.2, factor=0.98), 94).part_at(left.plain.index("(1/3)"))
    assert explained is not None
    assert explained.figure == "acceptance"
    line.show(figures(512, 214, 87, 42.1, factor=1.31), "lookup", 8192)
    assert "accepted  71 % (214/301)" in line.parts(94)[0].plain, "it stands still as long as nothing is cut"


def test_each_column_knows_its_figure() -> None:
    layout = Layout((Part("speedup", "1.31x"), Part("acceptance", "accepted 7 %")), "  ")
    assert [layout.part_at(at) for at in (0, 4, 5, 7)] == [layout.parts[0], layout.parts[0], None, layout.parts[1]]
    assert layout.part_at(99) is None


async def test_the_context_the_sparkline_and_the_drafter_live_and_when_done() -> None:
    live = full_stats(drafters=PROPOSED, pace=PACE[:4], output_tokens=40)
    done = full_stats(drafters=PROPOSED)
    proof = full_receipt(drafter="lookup")
    client = FakeClient([[reads(9, 9), *says("x"), counts(live), Wait("end"), ends("x", figures=done, proof=proof)]])
    async with chat(client, size=(140, 30)) as it:
        await it.send("go")
        await it.sees("ctx 1.4k/8k", "lookup", "▅▆▇█")
        client.go("end")
        await it.until(lambda: it.idle)
        await it.sees("ctx 1.9k/8k", "▄▅▆▇▇▇▆███▆▅▇▇█"[-3:])
        line = next(line for line in it.lines if "tok/s" in line)
        assert line.rstrip().endswith(("▇", "█"))


async def test_a_stored_answer_shows_its_sparkline_and_an_older_one_none() -> None:
    client = FakeClient([answer("new", figures=full_stats(), proof=full_receipt()), answer("old", figures=stats())])
    async with chat(client, size=(140, 40)) as it:
        await it.ask("one")
        await it.ask("two")
        await it.screen.show_chat()
        await it.sees("lookup+draft")
        new, old = [line for line in it.lines if "tok/s" in line]
        assert "█" in new
        assert not set(old) & set("▁▂▃▄▅▆▇█")


async def test_hovering_a_figure_says_what_it_means() -> None:
    client = FakeClient([answer("ok", figures=full_stats(), proof=full_receipt())])
    async with chat(client, size=(140, 30)) as it:
        await it.ask("go")
        line = it.screen.query_one(ReceiptLine)
        text = next(shown for shown in it.lines if "tok/s" in shown)
        explained = {}
        for word in ("tok/s", "1.31x", "accepted", "/pass", "ctx", "lookup+draft", "█"):
            await it.pilot.hover(offset=(text.index(word) + 1, line.region.y))
            await it.pilot.pause()
            explained[word] = str(line.tooltip)
        names = "decode_tokens_per_second speedup acceptance tokens_per_pass context_used proposed_by pace".split()
        for words, name in zip(explained.values(), names, strict=True):
            assert FIGURES[name] in words
            assert words.endswith("click: the whole receipt")


async def test_a_click_opens_the_whole_receipt_of_that_answer() -> None:
    client = FakeClient([answer("one", figures=full_stats(), proof=full_receipt()), answer("two")])
    async with chat(client, size=(140, 40)) as it:
        await it.ask("go")
        await it.ask("on")
        await it.pilot.click(it.screen.query(ReceiptLine).first())
        await it.until(lambda: isinstance(it.app.screen, ReceiptScreen))
        await it.sees("42.1")


@pytest.mark.parametrize(("width", "words"), [(80, "0.93x slower"), (130, "slower here")])
async def test_a_loss_is_said_at_every_width(width: int, words: str) -> None:
    client = FakeClient([answer("ok", figures=full_stats(speedup=0.93), proof=full_receipt())])
    async with chat(client, size=(width, 30)) as it:
        await it.ask("go")
        await it.sees("0.93x", words)


async def test_nothing_was_proposed_although_somebody_could() -> None:
    client = FakeClient([answer("ok", figures=stats(20, accepted=0, rejected=0), proof=receipt("lookup+draft"))])
    async with chat(client) as it:
        await it.ask("go")
        await it.sees("no drafts")
