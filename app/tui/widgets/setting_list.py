"""The settings of a chat in three groups, one of them highlighted. What is done with it belongs to the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Region
from textual.widgets.option_list import Option

from app.tui.chat_presets import SAMPLERS
from app.tui.keys import SETTING_LIST
from app.tui.settings_rows import PRESET, SheetRow
from app.tui.widgets.row_list import RowList
from app.tui.widgets.setting_row import MARK, columns, heading, row

_BLANK: Final = Content(" ")


class SettingList(RowList):
    """Rows of one line each."""

    BINDINGS: ClassVar[list[BindingType]] = [*SETTING_LIST]

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[str, SheetRow] = {}

    @property
    def row(self) -> SheetRow | None:
        """The highlighted one."""
        option = self.highlighted_option
        return self._rows.get(option.id or "") if option else None

    def show(self, rows: Sequence[SheetRow]) -> None:
        """Replace the rows; the highlight stays on its setting."""
        before = self.row
        same = list(self._rows) == [one.key for one in rows]
        self._rows = {one.key: one for one in rows}
        if same:
            self._draw()
            return
        options: list[Option] = []
        group = ""
        for one in rows:
            if (now := _group(one)) != group:
                options += [Option(_BLANK, disabled=True)] * bool(group)
                options += [Option(heading(now), disabled=True)] * (now == "advanced")
                group = now
            options.append(Option(self._content(one), id=one.key))
        self.set_options(options)
        keys = list(self._rows)
        self.highlighted = self.get_option_index(before.key if before and before.key in keys else keys[0])

    def value_region(self) -> Region | None:
        """Where the value of the highlighted row is, and all to the right of it, in cells of this widget."""
        if self.highlighted is None:
            return None
        self.scroll_to_highlight()
        left = MARK + columns(self.scrollable_content_region.width).title + 1
        y = self.highlighted - self.scroll_offset.y
        return Region(self.gutter.left + left, self.gutter.top + y, self.scrollable_content_region.width - left, 1)

    def _content(self, one: SheetRow) -> Content:
        return row(one, columns(self.scrollable_content_region.width))

    def _draw(self) -> None:
        for key, one in self._rows.items():
            self.replace_option_prompt(key, self._content(one))

    def on_resize(self) -> None:
        self._draw()


def _group(one: SheetRow) -> str:
    return "advanced" if one.advanced else "samplers" if one.key in (PRESET, *SAMPLERS) else "answers"
