"""In which form a chat is exported: a small picker below the list."""

from __future__ import annotations

from typing import ClassVar, Final, get_args

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from app.clean import clean_line
from app.tui.exporting import Form as Form
from app.tui.keys import EXPORT
from app.tui.widgets.speculation_picker import ModeList

FORMS: Final[dict[Form, tuple[str, str]]] = {
    "markdown": ("Markdown", "to read: what is shown, with the figures of each answer"),
    "json": ("JSON", "what is shown, with figures and receipts"),
    "all": ("JSON, all branches", "also what was asked or answered otherwise"),
}


class ExportPicker(Vertical):
    """Hidden until :meth:`open`. Says :class:`Chosen` or :class:`Closed`."""

    BINDINGS: ClassVar[list[BindingType]] = [*EXPORT]

    class Chosen(Message):
        """The form for the chat that was asked about."""

        def __init__(self, form: Form) -> None:
            super().__init__()
            self.form: Form = form

    class Closed(Message):
        """Nothing is exported."""

    def compose(self) -> ComposeResult:
        yield Static(classes="heading", markup=False)
        yield ModeList(compact=True, markup=False)

    def on_mount(self) -> None:
        self.display = False

    def open(self, title: str) -> None:
        """Ask for the chat of that title."""
        self.query_one(Static).update(Content(f"export {clean_line(title, 60)}"))
        options = self.query_one(OptionList)
        options.set_options(
            Option(Content.assemble(f"{name:<20}", (why, "$muted")), id=form) for form, (name, why) in FORMS.items()
        )
        self.display = True
        options.highlighted = 0
        options.focus()

    def close(self) -> None:
        self.display = False

    def action_close(self) -> None:
        self.post_message(self.Closed())

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        for form in get_args(Form):
            if form == event.option_id:
                self.post_message(self.Chosen(form))
