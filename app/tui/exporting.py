"""A chat as a file, however it was asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from app import paths
from app.clean import clean_line
from app.tui.background import aside
from app.tui.chat_glance import speakers
from app.tui.commands import RefusedError

if TYPE_CHECKING:
    from app.chats.records import Conversation
    from app.chats.store import ChatStore
    from app.tui.conversation import OpenChat

Form = Literal["markdown", "json", "all"]
"""To read, with every figure, and that with all branches."""

FORMS: Final[Mapping[str, Form]] = {"": "markdown", "md": "markdown", "json": "json", "all": "all"}
"""By what is typed behind ``/export``."""


async def export_as(wanted: str, store: ChatStore, chat: OpenChat, system: str) -> str:
    """Export the chat that is open in the form that was typed; says where to. Raises RefusedError."""
    from app.chats.export_file import ExportError

    form = FORMS.get(wanted.casefold())
    if form is None:
        raise RefusedError(f"/export takes md, json or all, not {clean_line(wanted, 40)}.")
    chat.read_title()
    try:
        file = await aside(export, store, chat.conversation, form, system)
    except ExportError as error:
        raise RefusedError(str(error)) from error
    return f"Exported to {file}"


def export(
    store: ChatStore, chat: Conversation, form: Form, system: str, folders: Sequence[Path] | None = None
) -> Path:
    """Write ``chat`` to a new file in the first of ``folders`` that takes it: without any, the present one, or beside
    the chats. The chat's own system prompt goes before ``system``."""
    from app.chats.export import to_json, to_markdown
    from app.chats.export_file import file_name, write_new

    own = chat.settings.get("system")
    system = own if isinstance(own, str) else system
    shown = store.peek(chat.id)
    messages = store.all_messages(chat.id) if form == "all" else shown
    figures = store.figures(message.id for message in messages if message.role == "assistant")
    if form == "markdown":
        text = to_markdown(chat, shown, figures, speakers=speakers(store, shown), system=system)
    else:
        text = to_json(chat, messages, figures, shown=shown, system=system)
    name = f"{file_name(chat.title)}.{'md' if form == 'markdown' else 'json'}"
    return write_new(folders or (Path.cwd(), paths.data_dir() / "exports"), name, text)
