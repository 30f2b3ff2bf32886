"""The help screen: every key, command and figure, first those of the screen that it was opened from."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import ClassVar, Final

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import Screen

from app import paths
from app.clean import clean_line
from app.tui import help_pages
from app.tui.help_pages import Row, Section
from app.tui.keymap import key_of
from app.tui.keys import HELP
from app.tui.widgets.filter_box import FilterBox, FilterRow
from app.tui.widgets.key_bar import KeyBar
from app.tui.widgets.line import Line
from app.tui.widgets.sheet import Sheet, heading
from app.tui.widgets.too_small import TooSmall

WHAT: Final = 31
"""Columns for keys and commands; less where the screen is narrow."""
NAMES_FROM: Final = 88
"""Columns from which on the names of the keys are shown."""


class HelpHeader(Line):
    """What this is, and how much of it is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.words = ""

    def parts(self, width: int) -> tuple[Content, Content]:
        left = Content.assemble(("help", "bold $accent"), ("   keys, commands, figures", "$muted"))
        return left, Content.styled(self.words, "$muted")


class HelpSheet(Sheet):
    """A column of sections."""

    def __init__(self, sections: Sequence[Section]) -> None:
        super().__init__()
        self._sections = sections

    def show(self, sections: Sequence[Section]) -> None:
        """Replace what stands there."""
        self._sections = sections
        self._drawn = (0, [])
        self.display = bool(sections)
        self.refresh(layout=True)

    def lines(self, width: int) -> list[Content]:
        found: list[Content] = []
        for section in self._sections:
            found += [*([Content()] if found else []), *_section(section, width)]
        return found


class HelpScreen(Screen[None]):
    """One column, on very wide screens two. Typing narrows it down."""

    AUTO_FOCUS = ""
    CSS_PATH: ClassVar = ["help.tcss", "../widgets/filter_box.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [*HELP]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (150, "-wide")]  # noqa: RUF012

    def __init__(self, first: Sequence[str] = ()) -> None:
        """``first``: the places whose keys stand at the top."""
        super().__init__()
        self._keys = [*help_pages.all_keys(first), help_pages.how_to_change(str(paths.settings_file()))]
        self._others = [help_pages.all_commands(), help_pages.figures()]

    def compose(self) -> ComposeResult:
        yield HelpHeader()
        with VerticalScroll(id="help-sheets", can_focus=False), Horizontal(id="help-columns"):
            yield HelpSheet(self._keys)
            yield HelpSheet(self._others)
        yield FilterRow(FilterBox("a key, a command, a word"))
        yield KeyBar()
        yield TooSmall(markup=False)

    def on_mount(self) -> None:
        self._show()

    def on_resize(self, event: events.Resize) -> None:
        self.query_one(TooSmall).fit(event.size)

    def _show(self) -> None:
        typed = self.query_one(FilterBox).value
        both = [help_pages.matching(sections, typed) for sections in (self._keys, self._others)]
        for sheet, sections in zip(self.query(HelpSheet), both, strict=True):
            sheet.show(sections)
        header = self.query_one(HelpHeader)
        count = sum(len(section.rows) for sections in both for section in sections)
        nothing = f"nothing with {clean_line(typed, 40)}; {key_of('filter.close')} shows everything"
        header.words = "type to find" if not typed.strip() else f"{count} found" if count else nothing
        header.refresh()

    # ---------------------------------------------------------------------------------------------------- finding

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """In the line that it opens a slash is a slash: commands begin with one."""
        return not (action == "find" and isinstance(self.focused, FilterBox))

    def action_find(self) -> None:
        self.query_one(FilterRow).open()

    def on_key(self, event: events.Key) -> None:
        """A letter begins a search. One that comes here although the box has the focus was on its way already."""
        character = event.character if event.is_printable else ""
        begun = self.focused is not None
        if character and (begun or (character.strip() and event.key not in self._bindings.key_to_bindings)):
            event.stop()
            self._find(character)

    def on_paste(self, event: events.Paste) -> None:
        if self.focused is None:
            event.stop()
            self._find(clean_line(event.text))

    def _find(self, text: str) -> None:
        if self.focused is None:
            self.action_find()
        self.query_one(FilterBox).insert_text_at_cursor(text)

    @on(FilterBox.Changed)
    def _typed(self) -> None:
        self._show()
        self.query_one("#help-sheets", VerticalScroll).scroll_home(animate=False)

    @on(FilterBox.Left)
    def _found(self) -> None:
        self.query_one(FilterRow).display = bool(self.query_one(FilterBox).value.strip())
        self.set_focus(None)

    # ------------------------------------------------------------------------------------------------------ keys

    def action_scroll(self, where: str) -> None:
        """``up``, ``down``, ``page_up``, ``page_down``, ``home`` or ``end``."""
        getattr(self.query_one("#help-sheets", VerticalScroll), f"scroll_{where}")(animate=False)

    def action_close(self) -> None:
        """One thing at a time: what was searched for first."""
        box = self.query_one(FilterBox)
        if box.value:
            box.value = ""
            self.query_one(FilterRow).display = False
        else:
            self.dismiss(None)


def _section(section: Section, width: int) -> list[Content]:
    named = width >= NAMES_FROM and any(row.name for row in section.rows)
    names = max((len(row.name) for row in section.rows), default=0) + 2 if named else 0
    what = min(WHAT, width // 3)
    lines = heading(section.title)
    for row in section.rows:
        lines += _row(row, what, width - what - 2 - names, names)
    return lines + [Content.styled(f"  {line}", "$faint") for line in textwrap.wrap(section.remark, max(20, width - 2))]


def _row(row: Row, what: int, room: int, names: int) -> list[Content]:
    """The key or command, its words wrapped beside it, and the name at the right end."""
    words = textwrap.wrap(row.words, max(20, room - 1)) or [""]
    left = row.what if len(row.what) < what else ""
    first = Content.assemble(
        "  ",
        (left.ljust(what), "$accent"),
        (words[0].ljust(room) if names else words[0], "$muted"),
        (row.name.rjust(names) if names else "", "$faint"),
    )
    above = [] if left else [Content.assemble("  ", (row.what, "$accent"))]
    return [*above, first, *(Content.styled(" " * (what + 2) + line, "$muted") for line in words[1:])]
