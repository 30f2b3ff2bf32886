"""All themes in a palette, each with a sentence; ours first."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from textual.app import App
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider

from app.tui.theme import ABOUT, COLOURLESS


def theme_names(app: App[Any]) -> list[str]:
    """Those that can be chosen, ours first."""
    ours = [name for name in ABOUT if name in app.available_themes]
    return [*ours, *sorted(name for name in app.available_themes if name not in {*ours, COLOURLESS.name})]


def about(name: str) -> str:
    """What there is to say about a theme."""
    return ABOUT.get(name, "one of Textual's")


def theme_palette() -> CommandPalette:
    """The palette, to be pushed."""
    return CommandPalette(providers=[Themes], placeholder="which theme; esc closes")


class Themes(Provider):
    """Every theme as something that can be found."""

    def _all(self) -> Iterator[tuple[str, partial[None], str]]:
        for name in theme_names(self.app):
            used = "in use · " if name == self.app.theme else ""
            yield name, partial(setattr, self.app, "theme", name), f"{used}{about(name)}"

    async def discover(self) -> Hits:
        for name, choose, words in self._all():
            yield DiscoveryHit(name, choose, help=words)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, choose, words in self._all():
            if (score := matcher.match(name)) > 0:
                yield Hit(score, matcher.highlight(name), choose, help=words)
