"""In which form a chat is exported: a small picker below the list."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final, get_args

from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from app.clean import clean_line
from app.tui.exporting import Form as Form
from app.tui.keys import EXPORT
from app.tui.whole_words import whole_words
from app.tui.widgets.picker import EDGES, Picker

FORMS: Final[dict[Form, tuple[str, str]]] = {
    "markdown": ("Markdown", "to read; what is shown, with the figures of each answer"),
    "json": ("JSON", "what is shown; with figures and receipts"),
    "all": ("JSON, all branches", "all variants; what was asked or answered otherwise"),
}

NAMES: Final = 20
"""Columns of the names."""


class ExportPicker(Picker):
    """Hidden until :meth:`open`. Says :class:`Chosen` or :class:`Closed`."""

    BINDINGS: ClassVar[list[BindingType]] = [*EXPORT]

    class Chosen(Message):
        """The form for the chat that was asked about."""

        def __init__(self, form: Form) -> None:
            super().__init__()
            self.form: Form = form

    def open(self, title: str) -> None:
        """Ask for the chat of that title."""
        self.query_one(Static).update(Content(f"export {clean_line(title, 60)}"))
        self.show_rows(0)
        self.display = True
        self.rows.focus()

    def options(self) -> Iterable[Option]:
        room = self.app.size.width - EDGES - NAMES
        return [
            Option(Content.assemble(f"{name:<{NAMES}}", (whole_words(why, room), "$muted")), id=form)
            for form, (name, why) in FORMS.items()
        ]

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        for form in get_args(Form):
            if form == event.option_id:
                self.post_message(self.Chosen(form))
