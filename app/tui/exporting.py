"""A chat as a file, however it was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from app import paths
from app.tui.chat_glance import speakers

if TYPE_CHECKING:
    from app.chats.records import Conversation
    from app.chats.store import ChatStore

Form = Literal["markdown", "json", "all"]
"""To read, with every figure, and that with all branches."""


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
