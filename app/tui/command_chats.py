"""Commands for chats as wholes: begin, list, find, name, delete, write to a file. The chat on a screen has keys in its
list for most of them, the chat in lines has nothing else.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from app.tui.commands import action_command
from app.tui.suggestion import Suggestion

if TYPE_CHECKING:
    from app.tui.surface import Surface

_IN_LIST: Final = "/chats lists all chats, and keys find, open, rename and delete them there."

CHATS: Final = (
    action_command("new", "New chat", "start an empty chat", "new_chat"),
    action_command("chats", "Chats", "open another chat", "chats"),
    action_command(
        "open",
        "Open",
        "go on with a chat of the list",
        "open",
        words="NUMBER",
        where="lines",
        instead=_IN_LIST,
    ),
    action_command("find", "Find", "chats that say something", "find", words="WORDS", where="lines", instead=_IN_LIST),
    action_command(
        "delete",
        "Delete",
        "delete a chat of the list",
        "delete",
        words="NUMBER",
        where="lines",
        instead=_IN_LIST,
    ),
    action_command("undo", "Undo", "bring back the chat deleted last", "undo", where="lines", instead=_IN_LIST),
    action_command(
        "title",
        "Title",
        "give this chat another name",
        "title",
        words="TEXT",
        where="lines",
        instead=_IN_LIST,
    ),
    action_command(
        "show",
        "Show",
        "print what was said: the last messages, or all",
        "show",
        words="[NUMBER|all]",
        where="lines",
        instead="What was said is on the screen.",
    ),
    action_command(
        "attach",
        "Attach",
        "a text file to the next message, as @FILE in it does",
        "attach",
        words="FILE",
        where="lines",
        instead="Type @ and the name of the file into the message.",
    ),
)


def _forms(screen: Surface) -> tuple[Suggestion, ...]:
    return (
        Suggestion("md", "md", "Markdown, to read"),
        Suggestion("json", "json", "with every figure and receipt"),
        Suggestion("all", "all", "JSON, with every variant"),
    )


EXPORT: Final = replace(
    action_command("export", "Export", "write this chat to a file", "export", words="[md|json|all]", complete=_forms),
    why_not=lambda screen: "Nothing has been said in this chat yet.",
    slow=True,
)
