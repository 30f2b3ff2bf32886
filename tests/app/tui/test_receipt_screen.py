"""The whole receipt: every figure with its one definition, and the JSON to copy."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from app import receipt_sheet
from app.chats.proof import NO_PROOF
from app.plain import sheet
from app.tui.screens.receipt import ReceiptScreen
from app.tui.widgets.sheet import Sheet, time_bar
from engine.protocol import GenerateSettings, Sampling
from engine.stats import FIGURES, Stats
from tests.app.tui.fake_client import FakeClient, Wait, answer, counts, reads, receipt, says, stats
from tests.app.tui.harness import Chat, chat
from tests.app.tui.samples import full_receipt, full_stats


@asynccontextmanager
async def opened(client: FakeClient | None = None, size: tuple[int, int] = (120, 120)) -> AsyncIterator[Chat]:
    client = client or FakeClient([answer("The Volga.", figures=full_stats(), proof=full_receipt())])
    async with chat(client, size=size) as it:
        await it.ask("Which river is longest?")
        it.screen.action_receipt()
        await it.until(lambda: isinstance(it.app.screen, ReceiptScreen) and it.app.screen.query(Sheet))
        yield it


WHERE_THERE_WAS_SOME = ("queue_seconds", "other_cores", "prompt_tokens_unread")
"""Here nothing was waited for, nobody else worked, and the prompt was read to its end."""


def test_what_was_not_read_of_a_prompt_stands_there_with_its_definition() -> None:
    rows = receipt_sheet.tokens(Stats(prompt_tokens=3_000, prompt_tokens_unread=1_952), None)
    assert [(row.value, row.meaning) for row in rows if row.label == "of it not read"] == [
        ("1,952", FIGURES["prompt_tokens_unread"])
    ]
    assert all(row.label != "of it not read" for row in receipt_sheet.tokens(full_stats(), None))


@pytest.mark.parametrize("size", [(120, 160), (80, 200)])
async def test_every_figure_stands_there_with_its_definition(size: tuple[int, int]) -> None:
    async with opened(size=size) as it:
        await it.sees("speed", "where the time went", "tokens", "drafts", "how it was made", "with what")
        figures = full_stats()
        words = words_of(it)
        for name, definition in FIGURES.items():
            if name not in WHERE_THERE_WAS_SOME:
                assert " ".join(definition.split()) in words, name
        for value in (
            "42.1",
            "1.31x",
            "2.9",
            "0.4 s",
            "598",
            "1,388",
            "1,204, 87 %",
            "71 %",
            "42 %",
            f"{figures.drafted}",
        ):
            assert value in words


def words_of(it: Chat) -> str:
    """The words of the columns, one column after the other."""
    sheets = it.app.screen.query(Sheet)
    lines = [line.plain for sheet in sheets for line in sheet.lines(sheet.content_size.width)]
    return " ".join(" ".join(lines).split())


async def test_the_times_add_up_and_are_shown_in_percent() -> None:
    async with opened() as it:
        await it.sees("verifying 9.9 s 79 %", "drafting 1.6 s 13 %", "altogether 12 s", "loading before 1.2 s")
        bar = next(line for line in it.lines if "█" * 20 in line)
        assert bar.count("█") > 40


async def test_how_it_was_made_and_with_what() -> None:
    async with opened() as it:
        for words in (
            "mode exact the same tokens with and without drafts",
            "seed 7",
            "auto: lookup+draft, 10 at most",
            "temperature 0.7, top_k 40, top_p 0.95, min_p 0.05",
            "token limit 512",
            "stop strings 'User:'",
            "SmolLM2-135M-Instruct.Q4_1.gguf, 98 MB, ffffffffffff",
            "SmolLM2-70M.Q8_0.gguf, 74 MB, dddddddddddd",
            "the model's own, 000000000000",
            "llama-cpp-python 0.3.36",
            "2026-11-29 15:00:00 UTC",
            "otherwise than asked drafts of 20 were asked for; exact mode allows 7",
        ):
            assert words in words_of(it)


async def test_the_number_by_which_commands_take_the_answer_stands_there() -> None:
    async with opened() as it:
        number = it.screen.chat.leaf
        words = f"number {number} by which slipstream receipt and slipstream replay take the answer"
        assert words in words_of(it)
        assert f"number: {number}" in sheet.text_of(it.answers[-1].turn).splitlines()


async def test_each_drafter_and_each_position() -> None:
    async with opened() as it:
        for words in (
            "lookup accepted 96 of 121, 79 % drafts 28, 4.7 tokens each by position 1 2 3 4",
            "draft model accepted 118 of 180, 66 %",
            "percent accepted 85 69 58 43",
        ):
            assert words in words_of(it)


async def test_an_answer_that_was_cut_says_by_what() -> None:
    limited = receipt().model_copy(update={"settings": GenerateSettings(messages=(), max_tokens=12)})
    client = FakeClient([answer("The Volga.", reason="length", proof=limited)])
    async with chat(client, size=(120, 160)) as it:
        await it.ask("Which river is longest?")
        it.screen.action_receipt()
        await it.until(lambda: isinstance(it.app.screen, ReceiptScreen) and it.app.screen.query(Sheet))
        assert "ended stopped at the limit: the token limit of 12 was reached" in words_of(it)


async def test_c_copies_the_receipt_as_json() -> None:
    async with opened() as it:
        copied: list[str] = []
        it.app.copy_to_clipboard = copied.append  # type: ignore[method-assign]
        await it.pilot.press("c")
        await it.sees("Sent the receipt", "characters of JSON, to the terminal's clipboard (OSC 52).")
        told = json.loads(copied[0])
        assert told["text"] == "The Volga."
        assert told["stats"]["speedup"] == 1.314
        assert told["receipt"]["seed"] == 7
        assert told["finish_reason"] == "stop"
        assert told["sources"] == "tl"


@pytest.mark.parametrize("key", ["escape", "i", "q"])
async def test_it_closes(key: str) -> None:
    async with opened() as it:
        await it.pilot.press(key)
        await it.until(lambda: it.app.screen is it.screen)


async def test_it_scrolls_with_the_keys() -> None:
    async with opened(size=(80, 24)) as it:
        await it.pilot.press("end")
        await it.until(lambda: "drafts of 20" in it.words)
        await it.pilot.press("home")
        await it.until(lambda: "tokens per second" in it.words)
        await it.pilot.press("pagedown", "down", "up", "pageup")


async def test_the_palette_opens_it_for_the_last_answer() -> None:
    async with chat(FakeClient([answer("ok", figures=full_stats(), proof=full_receipt())])) as it:
        it.screen.action_receipt()
        await it.sees("There is no answer with figures yet.")
        await it.ask("go")
        await it.pilot.press("ctrl+p", *"receipt", "enter")
        await it.until(lambda: isinstance(it.app.screen, ReceiptScreen))


async def test_a_running_answer_has_figures_and_no_receipt_yet() -> None:
    client = FakeClient([[reads(9, 9), *says("Well"), counts(full_stats()), Wait("end")]])
    async with chat(client, size=(120, 60)) as it:
        await it.send("go")
        await it.sees("tok/s")
        it.screen.action_receipt()
        await it.sees(" ".join(NO_PROOF.split()[:6]), "tokens per second")
        await it.pilot.press("escape")


async def test_figures_without_anything_are_dashes() -> None:
    async with opened(FakeClient([answer("x", figures=stats(1, accepted=0, rejected=0))])) as it:
        await it.sees("tokens per second –")
        assert "where the time went" not in it.shown


def test_only_what_was_changed_is_listed_of_the_samplers() -> None:
    assert receipt_sheet._sampling(Sampling(temperature=0, dry_multiplier=0.8)) == (
        "temperature 0: always the likeliest token, dry_multiplier 0.8"
    )
    assert receipt_sheet._sampling(Sampling(temperature=1, top_k=0, top_p=1, min_p=0, grammar="root ::= x")) == (
        "temperature 1, a grammar"
    )


def test_an_empty_answer_has_a_sheet() -> None:
    assert receipt_sheet.times(Stats()) == []
    parts = {"queue_seconds": 0.001, "prefill_seconds": 0.002, "verify_seconds": 0.008, "other_seconds": 0.989}
    found = receipt_sheet.times(Stats(total_seconds=1.0, **parts))
    assert [part.share for part in found] == ["<1", "<1", "1", "99"]
    lines = [line.plain for line in time_bar(found, 60)]
    assert any("waiting" in line and "1 ms   <1 %" in line for line in lines)
    assert receipt_sheet.drafts(Stats()) == []
    assert receipt_sheet.drafters(Stats()) == []


async def test_what_other_programs_did_meanwhile_is_shown_where_it_is_known() -> None:
    figures = full_stats().model_copy(update={"other_cores": 1.23})
    async with opened(FakeClient([answer("The Volga.", figures=figures, proof=full_receipt())])) as it:
        words = words_of(it)
        assert "other programs 1.2 cores" in words
        assert " ".join(FIGURES["other_cores"].split()) in words
