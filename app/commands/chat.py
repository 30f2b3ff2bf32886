"""``slipstream`` and ``slipstream chat``: the terminal interface, or the chat in lines, with the options of the command
line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any

from app import paths
from app.by_name import CHOSEN_LAST, ByName
from app.clean import clean_line
from app.commands import client
from app.commands.errors import CommandError
from app.commands.options import (
    answer_request,
    effective_settings,
    origins,
    pair_request,
    system_prompts,
    wanted_pair,
)
from app.last_choice import LastChoice, Memory, still_there
from app.library.records import Library
from app.presets import presets_of
from app.settings import Settings
from app.settings_check import NAMED
from app.tui.run import run_chat


def open_chat(options: Mapping[str, Any], *, plain: bool = False, by_name: bool = False) -> int:
    """Returns the exit code. A model that was not asked for here but is missing does not keep the chats closed.
    ``plain``: in lines; ``by_name``: ``chat`` was typed, so that it also goes on without a terminal."""
    in_lines = plain or has_to_be_plain(by_name=by_name)
    settings, complaints = effective_settings(options, NAMED if in_lines else None)
    says_who = origins(options, settings)
    memory = Memory(paths.last_choice_file())
    kept = memory.read()
    last, gone = _last_choice(settings, kept, memory, in_lines)
    if last.speculation is not None and "speculation" not in settings.model_fields_set:
        settings = settings.model_copy(update={"speculation": last.speculation})
        says_who["speculation"] = CHOSEN_LAST
    theme = settings.theme if "theme" in settings.model_fields_set else kept.theme or settings.theme
    try:
        load, notes = wanted_pair(settings, last, draft_must_be_there=False)
    except CommandError as error:
        if options.get("model"):
            raise
        load, notes = None, (f"{error} {_models_key(settings, in_lines)} shows the models there are.",)
    either: dict[str, Any] = {
        "chats_file": paths.chats_file(),
        "log_path": paths.app_log(),
        "defaults": answer_request(settings),
        "system": settings.system,
        "complaints": (*complaints, *gone, *notes),
        "library": open_shelf,
        "pair_request": partial(pair_request, settings),
        "memory": memory,
        "save_folder": settings.save_folder,
        "by_name": ByName(presets_of(settings), system_prompts(settings), says_who),
        "overflow": settings.overflow,
    }
    if in_lines:
        from app.plain.run import run_plain

        return run_plain(client.make_client(), load, **either)
    first_run = not (settings.model or settings.draft or kept.target)
    return run_chat(
        client.make_client(),
        load,
        theme=theme,
        keep_theme=None if "theme" in settings.model_fields_set else memory.keep_theme,
        motion=settings.motion,
        keys=settings.keys,
        first_run=first_run,
        **either,
    )


def has_to_be_plain(*, by_name: bool) -> bool:
    """Whether there is no terminal that could show the screen: one that says it is dumb, or none at all where ``chat``
    was typed (without a command it says so, and reads nothing)."""
    if os.isatty(0) and os.isatty(1):
        return os.environ.get("TERM") == "dumb"
    return by_name


def open_shelf() -> Library:
    """What the Models screen shows. Imported when it is opened: the chat's first paint can do without."""
    from app.library.shelf import Shelf

    return Shelf()


def _last_choice(
    settings: Settings, kept: LastChoice, memory: Memory, in_lines: bool
) -> tuple[LastChoice, tuple[str, ...]]:
    """What was chosen last, as far as it counts and is there, and a sentence where a file of it is gone: once."""
    if settings.model is not None:
        return kept.model_copy(update={"target": "", "draft": "", "context": None}), ()
    last, gone = still_there(kept)
    if not gone or kept.said_gone == gone or (gone == kept.draft and settings.draft is not None):
        return last, ()
    memory.keep_said_gone(gone)
    which, instead = ("model", "the starter answers") if gone == kept.target else ("draft", "the text so far proposes")
    shows = f"{_models_key(settings, in_lines)} shows what there is."
    return last, (f"The {which} chosen last is gone ({clean_line(gone, 200)}); {instead}. {shows}",)


def _models_key(settings: Settings, in_lines: bool) -> str:
    """What shows the models: the key of the screen, as the user has it, or the command."""
    if in_lines:
        return "/models"
    from app.tui.keymap import read  # with Textual, which nobody needs before the engine is started

    return read(settings.keys).map.shown("chat.models")
