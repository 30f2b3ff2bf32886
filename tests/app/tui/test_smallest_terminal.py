"""48 by 12, the smallest terminal there is room in: what one types, the way out and whole words are in sight."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.by_name import ByName
from app.library.records import Suggestion
from app.presets import BUILT_IN
from app.score.card import Row
from app.system_prompts import SystemPrompts
from app.tui.screens.receipt import ReceiptScreen
from app.tui.widgets.compare_table import _shortened
from app.tui.widgets.question import folded
from app.tui.widgets.score_card import _row
from app.tui.widgets.sheet import pace
from engine.protocol import Difference, GenerateSettings, Replayed
from tests.app.tui.fake_client import FakeClient, answer
from tests.app.tui.fake_shelf import DRAFT, QWEN, STARTER, FakeShelf, getting
from tests.app.tui.harness import chat
from tests.app.tui.models_screen import move_to as move_down_to
from tests.app.tui.models_screen import opened as models
from tests.app.tui.samples import PACE, full_receipt, full_stats
from tests.app.tui.sheets import sheet
from tests.app.tui.test_replay_screen import Holding, loads, made, replayed
from tests.app.tui.test_settings_screen import move_to, opened, typed

SMALLEST = (48, 12)
PROMPTS = {f"prompt-{n}": f"Answer in {n} sentences." for n in range(9)}


def answered() -> FakeClient:
    return FakeClient([answer("The Volga.", figures=full_stats(), proof=full_receipt())])


async def test_what_is_typed_is_in_sight_below_a_list_and_a_warning() -> None:
    async with chat(answered(), shelf=FakeShelf(), size=SMALLEST) as it:
        await it.ask("And the longest one?")
        await it.pilot.press("/")
        await it.sees("❯ /", "/help")
        await it.pilot.press("down", "down", "down", "down")
        await it.sees("❯ /", "/model ")
        await it.send("/sped off")
        await it.sees("did you mean /spec?")
        it.composer.text = ""
        await it.pilot.press("/")
        await it.sees("❯ /", "/help")
        await it.pilot.press("backspace")
        await it.sees("did you mean /spec?", "type a space or // first.", "❯ type a message")


async def test_a_receipt_opens() -> None:
    async with chat(answered(), size=SMALLEST) as it:
        await it.ask("And the longest one?")
        it.screen.action_receipt()
        await it.until(lambda: isinstance(it.app.screen, ReceiptScreen))
        await it.sees("tokens per second", "esc back")
        for _ in range(9):
            if "62.5 at most" in it.shown:
                break
            await it.pilot.press("pagedown")
        await it.sees("62.5 at most")


def test_the_speed_over_the_answer_needs_room_and_speed() -> None:
    assert pace(PACE, 0) == pace(PACE, -3) == pace((0.0, 0.0), 20) == []
    assert len(pace(PACE, 1)) == 2


async def test_the_line_under_an_answer_leaves_out_whole_figures() -> None:
    async with chat(answered(), size=SMALLEST) as it:
        await it.ask("And the longest one?")
        line = next(line for line in it.lines if "tok/s" in line)
        assert line.split() == "42 tok/s · 71 % · 2.9/pass 1.31x".split()


async def test_the_legend_of_the_x_ray_is_whole() -> None:
    async with chat(answered(), size=SMALLEST) as it:
        await it.ask("And the longest one?")
        await it.pilot.press("f4")
        await it.sees("x-ray lookup draft corrected f4 ends")


async def test_every_first_step_is_in_sight() -> None:
    found = Suggestion(STARTER, QWEN, QWEN.size or 0, (("LM Studio", 2), ("Ollama", 1)))
    async with chat(shelf=FakeShelf(suggested=found), first_run=True, size=SMALLEST) as it:
        await it.sees("start now with SmolLM2-135M", "Qwen3-4B with 0.6B, 3.1 GB ", "3 found: LM Studio 2, Ollama 1")


async def test_a_replay_says_how_it_is_left_and_scrolls(tmp_path: Path) -> None:
    file = tmp_path / "SmolLM2-135M-Instruct.Q4_1.gguf"
    file.write_bytes(b"GGUF" + bytes(1000))
    engine = Holding([answer("The Volga.", proof=made(file))])
    differs = Difference(index=1, expected=2, chosen=9, expected_probability=0.25, chosen_probability=0.5, width=1)
    engine.replies = [Replayed(id=0, compared=2, difference=differs)]
    async with chat(engine, load=loads(file), size=SMALLEST) as it:
        await it.ask("And the longest one?")
        await replayed(it, "/replay passes")
        await it.sees("Different from token 2 of 2 on")
        await it.until(lambda: "↑↓ scroll" in it.footer and "esc back" in it.footer)
        await it.pilot.press("pagedown", "pagedown")
        await it.sees("now token 9, 50.0 %")
        assert "esc back" in it.footer


async def test_a_setting_is_typed_on_its_own_row_and_chosen_from_a_list_that_fits(tmp_path: Path) -> None:
    by_name = ByName(BUILT_IN, SystemPrompts(PROMPTS, tmp_path / "prompts"))
    async with chat(answered(), by_name=by_name, defaults=GenerateSettings(messages=()), size=SMALLEST) as it:
        await it.ask("And the longest one?")
        it.screen.keep_settings({**BUILT_IN["precise"]})
        screen = await opened(it)
        await it.sees("● temperature 0.3 preset precise")
        await typed(it, screen, "min_p", "2")
        await it.sees("/min-p takes 0 to 1")
        assert any(line.split()[:4] == ["●", "min", "p", "2"] for line in it.lines)
        await it.pilot.press("escape")
        await move_to(it, screen, "system")
        await it.pilot.press("enter")
        await it.sees("system prompt, for the next", "● none", "enter choose", "esc as it was")
        assert all(len(line) == 48 and line[47] == " " for line in it.lines[:1]), "nothing scrolls sideways or away"
        assert it.lines[1].count("─") == 48


async def test_the_list_of_models_has_more_rows_than_the_details_and_no_half_figure() -> None:
    shelf = FakeShelf()
    shelf.moving = {QWEN.key: getting(1_300_000_000)}
    async with chat(shelf=shelf, size=SMALLEST) as it:
        await models(it)
        await it.sees("41 % 12 MB/s 3 min", "partly here, 1.3 of…", "not here, does not fit", "about")


def test_ways_that_differ_in_their_length_are_told_apart() -> None:
    assert [_shortened(label, 7) for label in ("off", "lookup:4", "lookup:16", "auto Qwen3")] == [
        "off",
        "look…:4",
        "loo…:16",
        "auto Q…",
    ]


@pytest.mark.parametrize("width", [43, 70])
def test_the_words_of_a_score_stand_below_or_beside_their_figure(width: int) -> None:
    row = Row("longer passes", "1.30", "checking four tokens costs little more than one: V(2) 1.10  V(4) 1.30", True)
    lines = [line.plain for line in _row(row, width)]
    assert all(len(line) <= width for line in lines)
    assert lines[0].rstrip() == "+ longer passes       1.30" + (
        "  checking four tokens costs little more" * (width > 50)
    )
    assert lines[1].startswith(" " * (28 if width > 50 else 4))


def test_lines_of_a_plan_go_on_further_in() -> None:
    plan = "Qwen3-4B\n\n  target  Qwen3-4B-Q4_K_M.gguf   2.5 GB  to fetch  Qwen/Qwen3-4B-GGUF"
    assert folded(plan, 48).split("\n") == [
        "Qwen3-4B",
        "",
        "  target  Qwen3-4B-Q4_K_M.gguf   2.5 GB  to",
        "    fetch  Qwen/Qwen3-4B-GGUF",
    ]


async def test_what_dropping_would_leave_out_is_said() -> None:
    async with sheet("context question", SMALLEST) as it:
        await it.sees("○ drop oldest turns leaves out 1 turn", "○ stop nothing is sent")


async def test_what_a_question_is_about_stays_in_sight() -> None:
    async with chat(shelf=FakeShelf(), size=SMALLEST) as it:
        await move_down_to(it, await models(it), DRAFT)
        await it.pilot.press("delete")
        await it.sees("Delete Qwen3-0.6B Q8_0?")
        await it.until(lambda: any(line.startswith("   Qwen3-0.6B Q8_0 ") for line in it.lines[3:6]))
