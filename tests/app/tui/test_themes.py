"""Themes are chosen, remembered, and drawn in the terminal's own colours or in none."""

from __future__ import annotations

import pytest
from rich.segment import Segment

from app.tui.theme import COLOURLESS, DARK, HIGH_CONTRAST, LIGHT, TERMINAL
from tests.app.tui.fake_client import FakeClient, answer, stats
from tests.app.tui.harness import Chat, chat
from tests.app.tui.test_help_screen import opens
from tests.app.tui.test_xray import TEXT as MARKDOWN


def colours(it: Chat) -> set[str]:
    """The kinds of colours on screen: ``default``, ``standard``, ``truecolor``."""
    segments: list[Segment] = [segment for strip in it.app.screen._compositor.render_strips() for segment in strip]
    styles = [segment.style for segment in segments if segment.style is not None]
    return {colour.type.name.lower() for style in styles for colour in (style.color, style.bgcolor) if colour}


async def everywhere(it: Chat, allowed: set[str]) -> None:
    """Look at the chat, its lists, the palette and the help."""
    await it.ask("hello")
    await it.settle()
    assert colours(it) <= allowed
    await it.pilot.press("f4", "alt+up")
    await it.settle()
    assert colours(it) <= allowed
    await it.pilot.press("f4", "escape", "ctrl+t")
    await it.settle()
    assert colours(it) <= allowed
    await it.pilot.press("escape", "slash")
    await it.settle()
    assert colours(it) <= allowed
    await it.pilot.press("escape", "backspace")
    await opens(it)
    assert colours(it) <= allowed
    await it.pilot.press("escape", "ctrl+o")
    await it.settle()
    assert colours(it) <= allowed
    await it.pilot.press("escape", "ctrl+p")
    await it.settle()
    assert colours(it) <= allowed


async def test_the_terminals_own_colours_are_never_mixed_with_others() -> None:
    client = FakeClient([answer(MARKDOWN, figures=stats(96))])
    async with chat(client, theme=TERMINAL.name) as it:
        assert "standard" in colours(it)
        await everywhere(it, {"standard"})


async def test_a_theme_can_change_to_the_terminals_colours_and_back() -> None:
    async with chat(FakeClient([answer(MARKDOWN)])) as it:
        await it.ask("hello")
        await it.send(f"/theme {TERMINAL.name}")
        await it.until(lambda: it.app.theme == TERMINAL.name)
        await it.settle()
        assert colours(it) <= {"standard"}
        await it.send(f"/theme {HIGH_CONTRAST.name}")
        await it.until(lambda: it.app.theme == HIGH_CONTRAST.name)
        await it.settle()
        assert "truecolor" in colours(it)


async def test_no_color_means_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with chat(FakeClient([answer(MARKDOWN)]), theme=LIGHT.name) as it:
        assert it.app.theme == COLOURLESS.name
        await everywhere(it, set())
        await it.pilot.press("escape")
        for typed in ("/theme slipstream-dark", "/theme"):
            await it.send(typed)
            await it.sees("NO_COLOR is set in the environment, so there are no colours to choose from.")
            it.composer.text = ""
        await it.send("/colours")
        await it.until(lambda: it.app.theme == COLOURLESS.name)


async def test_an_empty_no_color_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    async with chat() as it:
        assert it.app.theme == DARK.name
        assert colours(it) == {"truecolor"}


async def test_a_chosen_theme_is_kept_and_only_then() -> None:
    kept: list[str] = []
    async with chat(theme=LIGHT.name, keep_theme=kept.append) as it:
        assert it.app.theme == LIGHT.name
        assert kept == []
        await it.send(f"/theme {TERMINAL.name}")
        await it.sees("theme slipstream-light → slipstream-terminal, also for the next start.")
        await it.send("/colours")
        await it.until(lambda: kept == [TERMINAL.name, LIGHT.name])


async def test_the_list_says_a_sentence_on_each() -> None:
    async with chat(size=(120, 34)) as it:
        await it.pilot.press(*"/theme ")
        await it.sees(
            "slipstream-dark", "in use · calm, on a dark ground", "slipstream-terminal", "the colours of this terminal"
        )
        await it.pilot.press("escape")
        it.composer.text = ""
        await it.send("/theme")
        await it.sees("which theme", "white on black, every text at 7:1 or more")
        await it.pilot.press(*"high", "enter")
        await it.until(lambda: it.app.theme == HIGH_CONTRAST.name)


async def test_an_unknown_theme_of_the_settings_is_named() -> None:
    async with chat(theme="solar") as it:
        await it.sees("settings.toml: there is no theme called solar; slipstream-dark is used. /theme shows all.")
    async with chat(theme="solar", keep_theme=lambda name: None) as it:  # it was remembered, by another version
        assert "solar" not in it.shown
        assert it.app.theme == DARK.name


async def test_a_part_of_a_name_means_one_of_ours_first() -> None:
    async with chat(theme=DARK.name) as it:
        for typed, name in (("light", LIGHT.name), ("dark", DARK.name)):
            await it.pilot.press(*f"/theme {typed}")
            await it.sees(f"❯ /theme {typed}", name)
            await it.pilot.press("enter")
            await it.until(lambda name=name: it.app.theme == name, name)
