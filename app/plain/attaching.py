"""Text files that go with a message of the chat in lines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from app.attached import AttachmentError, estimated_tokens, is_folder, read_attachment
from app.clean import clean_line
from app.receipt_words import counted
from app.tui.background import aside
from app.tui.commands import RefusedError
from engine.files.sizes import size_words

if TYPE_CHECKING:
    from app.chats.records import Attachment


async def to_attach(path: str) -> Attachment:
    """The file, as it is now. Raises RefusedError."""
    try:
        one = await aside(read_attachment, Path.cwd(), path)
    except AttachmentError as error:
        raise RefusedError(str(error)) from error
    if one is None:
        raise RefusedError(_no_file(path))
    return one


def _no_file(path: str) -> str:
    """Why nothing can be attached."""
    shown = clean_line(path, 80)
    return f"{shown} is a folder; name a file in it." if is_folder(Path.cwd(), path) else f"There is no file {shown}."


def attached_words(one: Attachment) -> str:
    """Its name and its size."""
    return f"{clean_line(one.path, 200)}, {size_words(one.size)}, about {counted(estimated_tokens(one))}."
