"""What is said above the composer is seen, however much stands there already, and esc takes it away."""

from __future__ import annotations

from app.settings_check import AT_START
from app.tui.widgets.notice import NoticeLine
from tests.app.tui.fake_client import FakeClient, answer
from tests.app.tui.harness import chat

WRONG = tuple(f"settings.toml: there is no setting 'a{number}'; it is ignored" for number in range(22))
LONG = tuple(f"Line {number} of something that went wrong." for number in range(12))


async def test_of_many_complaints_a_few_are_shown_and_the_rest_counted() -> None:
    async with chat(complaints=("The draft is gone.", *WRONG), size=(80, 24)) as it:
        await it.sees("The draft is gone.", "'a0'", f"'a{AT_START - 1}'", "and 19 more: slipstream doctor names all")
        assert f"'a{AT_START}'" not in it.shown
        await it.send("/temp")
        await it.sees("temp is 0.7; /temp takes 0 to 10.", "and 19 more")


async def test_one_more_is_not_counted_but_shown() -> None:
    async with chat(complaints=WRONG[: AT_START + 1]) as it:
        await it.sees(f"'a{AT_START}'")
        assert "doctor" not in it.notice


async def test_replies_and_refusals_are_seen_below_a_long_warning() -> None:
    async with chat(complaints=LONG, size=(80, 30)) as it:
        await it.sees(LONG[0])
        await it.send("/temp")
        await it.sees("temp is 0.7; /temp takes 0 to 10.")
        await it.send("/temp 11")
        await it.sees("/temp takes 0 to 10, not 11. It stays 0.7.")
        await it.send("/nothing-of-the-kind")
        await it.sees("There is no /nothing-of-the-kind.")
        assert all(line in it.notice for line in LONG)
        it.screen.query_one(NoticeLine).scroll_home(animate=False)
        await it.sees(LONG[0])


async def test_esc_clears_what_was_said() -> None:
    async with chat(complaints=WRONG) as it:
        await it.sees("'a0'")
        await it.pilot.press("escape")
        await it.until(lambda: not it.notice)
        assert "'a0'" not in it.shown


async def test_esc_keeps_its_other_meanings_first() -> None:
    client = FakeClient([answer("one")])
    async with chat(client, complaints=WRONG) as it:
        await it.sees("'a0'")
        await it.pilot.press("ctrl+t", "escape")
        await it.sees("'a0'")
        await it.pilot.press("/", "escape")  # the list of commands
        await it.sees("'a0'")
        assert it.notice
        await it.pilot.press("escape")
        await it.until(lambda: not it.notice)
        assert it.composer.text == "/"
