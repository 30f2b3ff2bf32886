"""The list of pairs and model files: what can be chosen, with the files of each place under a heading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widgets.option_list import Option

from app.library.records import Entry, Getting
from app.tui.keys import TABLE
from app.tui.widgets.model_row import columns, row, section
from app.tui.widgets.row_list import RowList


class ModelTable(RowList):
    """Rows of entries. The keys that do something with one belong to the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [*TABLE]

    def __init__(self) -> None:
        super().__init__()
        self._entries: dict[str, Entry] = {}
        self._uses: Mapping[str, str] = {}
        self._downloads: dict[str, Getting] = {}

    @property
    def entry(self) -> Entry | None:
        """The highlighted one."""
        option = self.highlighted_option
        return self._entries.get(option.id or "") if option else None

    def show(self, entries: Sequence[Entry], uses: Mapping[str, str], nothing: str) -> None:
        """Replace the rows; the highlight stays on its entry. ``uses``: key -> how it is used now; ``nothing``: said
        where there is no row."""
        before = self.entry.key if self.entry else next(iter(uses), "")
        self._uses = uses
        self._entries = {entry.key: entry for entry in entries}
        options: list[Option] = []
        place = ""
        for entry in self._entries.values():
            if entry.place != place:
                place = entry.place
                options.append(Option(section(place), disabled=True))
            options.append(Option(self._row(entry), id=entry.key))
        self.set_options(options or [Option(Content.styled(nothing, "$muted"), disabled=True)])
        if self._entries:
            self.highlighted = self.get_option_index(before if before in self._entries else next(iter(self._entries)))

    def go_to(self, key: str) -> None:
        """Highlight this entry, where it is in the list."""
        if key in self._entries:
            self.highlighted = self.get_option_index(key)

    def show_downloads(self, downloads: Mapping[str, Getting]) -> None:
        """Draw the rows whose download has moved."""
        moved = [key for key in {*downloads, *self._downloads} if downloads.get(key) != self._downloads.get(key)]
        self._downloads = dict(downloads)
        for key in moved:
            if (entry := self._entries.get(key)) is not None:
                self.replace_option_prompt(key, self._row(entry))

    def _row(self, entry: Entry) -> Content:
        at = columns(self.scrollable_content_region.width)
        return row(entry, at, use=self._uses.get(entry.key, ""), getting=self._downloads.get(entry.key))

    def on_resize(self) -> None:
        for key, entry in self._entries.items():
            self.replace_option_prompt(key, self._row(entry))
