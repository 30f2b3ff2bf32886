"""The app's colours: its themes, what a terminal of few colours gets instead, and none at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from textual.app import App
from textual.filter import LineFilter, Monochrome, NoColor

from app.clean import clean_line
from app.tui.few_colours import told_apart
from app.tui.own_colours import OwnColours, colours_unwanted
from app.tui.theme import COLOURLESS, DARK, LIGHT, NO_SUCH_THEME, THEMES, fallback_variables

if TYPE_CHECKING:
    from app.tui.screens.chat import ChatScreen

NO_COLOURS: Final = "NO_COLOR is set in the environment, so there are no colours to choose from."


class ColouredApp(App[None]):
    """See the module's text."""

    few_colours = False
    """Whether the terminal has 256 colours, to which all others are rounded. To be set before the app runs."""
    keep_theme: Callable[[str], None] | None = None
    """Keeps the theme that was chosen for the next start; None: settings.toml says which it is."""
    complaints: tuple[str, ...] = ()
    """To be said when the chat is on the screen."""

    @property
    def chat_screen(self) -> ChatScreen | None:
        """The chat, also while something lies over it."""
        raise NotImplementedError

    def _begin_with_theme(self, name: str) -> None:
        """The theme that was chosen, or none at all where NO_COLOR asks for that."""
        self.no_color = colours_unwanted()
        self._filters = [one for one in self._filters if not isinstance(one, Monochrome | NoColor)]
        self._own_colours = OwnColours(colourless=self.no_color)
        for own in (COLOURLESS,) if self.no_color else THEMES:
            self.register_theme(own)
        if self.no_color:
            self._theme_before = self.theme = COLOURLESS.name
            return
        if name not in self.available_themes and self.keep_theme is None:
            self.complaints = (NO_SUCH_THEME.format(name=clean_line(name, 40)), *self.complaints)
        self._theme_before = self.theme = name if name in self.available_themes else DARK.name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return fallback_variables(self.current_theme)

    def get_css_variables(self) -> dict[str, str]:
        variables = super().get_css_variables()
        if self.few_colours and not self.current_theme.ansi:
            variables = told_apart(variables)
        return variables

    def get_line_filters(self) -> Sequence[LineFilter]:
        filters = super().get_line_filters()
        return [*filters, self._own_colours] if self.native_ansi_color else filters

    def watch_theme(self, name: str) -> None:
        """Chosen by whatever way, it is there at the next start."""
        if name != self._theme_before and self.keep_theme is not None:
            self.keep_theme(name)
        self._theme_before = name

    def search_themes(self) -> None:
        """The list of themes, ours with a sentence each."""
        from app.tui.theme_list import theme_palette  # with Textual's palette: not before it is wanted

        self.push_screen(theme_palette())

    def action_switch_colours(self) -> None:
        if self.no_color:
            if (chat := self.chat_screen) is not None:
                chat.say(NO_COLOURS)
            return
        self.theme = LIGHT.name if self.current_theme.dark else DARK.name
