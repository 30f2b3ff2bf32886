"""The commands, in the order in which ``/`` shows them. What is not built yet appears as soon as its action exists.

One list for the chat on a screen and the chat in lines: each command says which of them has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from app.tui import command_context as context
from app.tui import command_measuring as measuring
from app.tui import command_models as models
from app.tui import command_presets as presets
from app.tui import command_settings as settings
from app.tui import command_system as system
from app.tui import command_turns as turns
from app.tui.chat_settings import SETTINGS
from app.tui.commands import Command, can, does, key_of
from app.tui.suggestion import Suggestion

if TYPE_CHECKING:
    from app.tui.surface import Surface

_NO_COLOURS: Final = "The chat in lines has no colours of its own: they are your terminal's."


def _action(
    name: str,
    title: str,
    help_text: str,
    action: str,
    *,
    words: str = "",
    anywhere: bool = False,
    where: Literal["screen", "lines", "both"] = "both",
    instead: str = "",
) -> Command:
    return Command(
        name,
        title,
        help_text,
        does(action),
        words,
        key_of(action),
        available=can(action),
        anywhere=anywhere,
        where=where,
        instead=instead,
    )


def _export_formats(screen: Surface) -> tuple[Suggestion, ...]:
    return (Suggestion("md", "md", "Markdown, to read"), Suggestion("json", "json", "with every figure and receipt"))


_EXPORT: Final = Command(
    "export",
    "Export",
    "write this chat to a file",
    does("export"),
    "[md|json]",
    key_of("export"),
    _export_formats,
    can("export"),
    where="both",
)

_IN_LIST: Final = "/chats lists all chats, and keys find, open, rename and delete them there."

COMMANDS: Final = (
    _action("help", "Help", "every key, command and figure", "help", anywhere=True, where="both"),
    _action(
        "stop",
        "Stop",
        "stop the answer; its text stays",
        "stop",
        where="screen",
        instead="Ctrl+C stops an answer.",
    ),
    _action("new", "New chat", "start an empty chat", "new_chat"),
    _action("chats", "Chats", "open another chat", "chats"),
    _action("open", "Open", "go on with a chat of the list", "open", words="NUMBER", where="lines", instead=_IN_LIST),
    _action("find", "Find", "chats that say something", "find", words="WORDS", where="lines", instead=_IN_LIST),
    _action("delete", "Delete", "delete a chat of the list", "delete", words="NUMBER", where="lines", instead=_IN_LIST),
    _action("undo", "Undo", "bring back the chat deleted last", "undo", where="lines", instead=_IN_LIST),
    _action("title", "Title", "give this chat another name", "title", words="TEXT", where="lines", instead=_IN_LIST),
    _action(
        "show",
        "Show",
        "print what was said: the last messages, or all",
        "show",
        words="[NUMBER|all]",
        where="lines",
        instead="What was said is on the screen.",
    ),
    _action(
        "attach",
        "Attach",
        "a text file to the next message, as @FILE in it does",
        "attach",
        words="FILE",
        where="lines",
        instead="Type @ and the name of the file into the message.",
    ),
    Command(
        "models",
        "Models",
        "use, fetch and delete models",
        does("models"),
        key=key_of("models"),
        available=models.library_is_there,
        where="both",
    ),
    Command(
        "model",
        "Model",
        "answer with another model that is here",
        models.use_model,
        "NAME",
        complete=models.suggest_models,
        available=models.library_is_there,
        asks=True,
        slow=True,
        where="both",
    ),
    Command(
        "draft",
        "Draft model",
        "another model proposes tokens, or none",
        models.use_draft,
        "NAME|off",
        complete=models.suggest_drafts,
        available=models.library_is_there,
        asks=True,
        slow=True,
        where="both",
    ),
    Command(
        "spec",
        "Speculation",
        "who proposes tokens for the next answer",
        settings.choose_mode,
        "off|lookup|draft|auto",
        key_of("speculation"),
        settings.suggest_modes,
        where="both",
    ),
    *(settings.command(setting) for setting in SETTINGS if not setting.advanced),
    Command(
        "preset",
        "Preset",
        "samplers that go together, by one name",
        presets.choose_preset,
        "NAME",
        complete=presets.suggest_presets,
        asks=True,
        where="both",
    ),
    Command(
        "system",
        "System prompt",
        "what the model is told before the first message",
        system.set_system,
        "TEXT|NAME|none",
        complete=system.suggest_system,
        asks=True,
        where="both",
        free=True,
    ),
    Command(
        "system-save",
        "Keep system prompt",
        "keep this chat's system prompt under a name",
        system.save_system,
        "NAME",
        asks=True,
        slow=True,
        where="both",
        free=True,
    ),
    Command(
        "system-forget",
        "Forget system prompt",
        "keep a named one no longer",
        system.forget_system,
        "NAME",
        complete=system.suggest_kept,
        available=lambda screen: not system.nothing_kept(screen),
        why_not=system.nothing_kept,
        asks=True,
        slow=True,
        where="both",
    ),
    _action(
        "settings",
        "Settings",
        "all settings of this chat, samplers included",
        "settings",
        where="screen",
        instead="Each setting has a command of its own: /help lists them.",
    ),
    _action(
        "compare",
        "Compare",
        "the same prompt with and without speculation",
        "compare",
        where="screen",
        instead="On the command line: slipstream compare --last",
    ),
    Command(
        "score",
        "Score",
        "measure whether speculation pays with this pair here",
        measuring.score,
        instead="On the command line: slipstream score",
    ),
    Command(
        "replay",
        "Replay",
        "make an answer again and compare every token",
        measuring.replay,
        "as-was|passes|off|lookup|draft|auto",
        measuring.REPLAY_KEY,
        measuring.suggest_manners,
        available=lambda screen: not screen.why_not("replay"),
        why_not=lambda screen: screen.why_not("replay"),
        instead="On the command line: slipstream replay last",
    ),
    context.CONTEXT,
    context.OVERFLOW_COMMAND,
    turns.command("regenerate", "Answer again", "another answer; this one stays beside it", "again"),
    turns.command("continue", "Go on", "continue an answer that was cut short", "go_on"),
    turns.command("edit", "Edit and send again", "your message becomes a branch beside this one", "edit"),
    turns.command("previous", "Variant before", "what was said here before", "previous"),
    turns.command("next", "Variant behind", "what was said here later", "next"),
    turns.command("copy", "Copy answer", "its text as it was said, without thoughts", "copy"),
    turns.copy_code("copy-code"),
    _action(
        "copy-selected",
        "Copy",
        "copy what is selected",
        "copy",
        where="screen",
        instead="Your terminal copies what is selected in it; /copy copies the whole answer.",
    ),
    turns.command("save", "Save answer", "into a Markdown file", "save"),
    _EXPORT,
    turns.command("receipt", "Receipt", "what an answer was made with, figure by figure", "receipt"),
    _action(
        "xray",
        "X-ray",
        "tint tokens by who proposed them",
        "xray",
        where="screen",
        instead="It tints letters; /receipt says in words who proposed how much.",
    ),
    _action("thoughts", "Thoughts", "unfold or fold what was thought before the answer", "thoughts"),
    _action(
        "latest",
        "Latest text",
        "go to the end and follow it",
        "latest",
        where="screen",
        instead="The chat in lines is always at its end.",
    ),
    _action(
        "colours",
        "Light or dark",
        "switch the colours",
        "switch_colours",
        anywhere=True,
        where="screen",
        instead=_NO_COLOURS,
    ),
    Command(
        "theme",
        "Theme",
        "choose among all themes",
        settings.choose_theme,
        "NAME",
        complete=settings.suggest_themes,
        anywhere=True,
        instead=_NO_COLOURS,
    ),
    Command(
        "keys",
        "Keys",
        "the same as /help",
        does("help"),
        key=key_of("help"),
        anywhere=True,
        instead="/help lists the commands.",
    ),
    _action(
        "suspend",
        "Suspend",
        "back to the shell; its fg brings the chat back",
        "suspend_process",
        anywhere=True,
        where="screen",
        instead="Your shell suspends the chat in lines: ctrl+z there, and fg to come back.",
    ),
    _action("quit", "Quit", "leave; everything is kept", "quit", anywhere=True),
    *(settings.command(setting) for setting in SETTINGS if setting.advanced),
)
