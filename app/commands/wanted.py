"""What a command that answers works with: settings, pair and messages. What there is to say about them is said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.commands.errors import say
from app.commands.options import effective_settings, wanted_pair
from app.commands.prompt import NO_PROMPT, read_prompt, valid_text
from app.settings import Settings
from engine.protocol import LoadSettings, Message


def wanted_settings(options: Mapping[str, Any]) -> Settings:
    """Those of the file, with the given options above them."""
    loaded = effective_settings(options)
    for complaint in loaded.complaints:
        say(complaint)
    return loaded.settings


def wanted_files(settings: Settings, *, draft_must_be_there: bool = True) -> LoadSettings:
    """The pair that the settings name."""
    load, notes = wanted_pair(settings, draft_must_be_there=draft_must_be_there)
    for note in notes:
        say(note)
    return load


def system_messages(settings: Settings) -> tuple[Message, ...]:
    """The system prompt, if there is one."""
    return (Message(role="system", content=valid_text(settings.system)),) if settings.system else ()


def wanted_messages(options: Mapping[str, Any], settings: Settings, nothing: str = NO_PROMPT) -> tuple[Message, ...]:
    """The prompt that was given, below the system prompt. ``nothing``: what to say where none was."""
    prompt = Message(role="user", content=read_prompt(options["prompt"], nothing))
    return (*system_messages(settings), prompt)
