"""What tests do on the Models screen."""

from __future__ import annotations

from app.clean import clean
from app.library.records import Entry
from app.tui.screens.models import ModelsScreen
from app.tui.widgets.facts import Facts
from tests.app.tui.harness import Chat


async def opened(it: Chat) -> ModelsScreen:
    """The Models screen, with its list."""
    await it.pilot.press("ctrl+l")
    await it.until(lambda: isinstance(it.app.screen, ModelsScreen), "the screen")
    screen = it.app.screen
    assert isinstance(screen, ModelsScreen)
    await it.until(lambda: screen.entry is not None, "the list")
    return screen


async def move_to(it: Chat, screen: ModelsScreen, entry: Entry) -> None:
    """Highlight ``entry`` with the keys, and wait for its details."""
    await it.pilot.press("home")
    for _ in range(30):
        if screen.entry is not None and screen.entry.key == entry.key:
            break
        await it.pilot.press("down")
    await it.until(lambda: clean(f"All about {entry.title}.") in screen.query_one(Facts).text, "the details")
