"""``/system``, ``/system-save``, ``/system-forget``: what the model is told before the first message, also by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from app.clean import clean_line
from app.given_names import NONE
from app.system_prompts import Prompt, PromptError, SystemPrompts
from app.tui.background import aside
from app.tui.chat_settings import DEFAULT, SYSTEM, SYSTEM_NAME, system_name, system_prompt, without
from app.tui.command_settings import where
from app.tui.commands import RefusedError
from app.tui.suggestion import Suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.tui.surface import Surface

BEGINNING: Final = 60
"""Characters of a prompt beside its name."""


def set_system(screen: Surface, argument: str) -> None:
    """``/system TEXT`` or ``/system NAME``, for this chat; ``none`` and ``default`` are words of their own."""
    prompts = screen.slipstream.by_name.prompts
    own = screen.chat.conversation.settings
    was = _told(screen, own)
    if not argument:
        screen.reply(f"The system prompt is {was}. /system takes a text, a name, none, or default.{_trouble(prompts)}")
        return
    after = with_system(own, argument, prompts)
    screen.keep_settings(after)
    now = _told(screen, after)
    became = f"is {now} already" if now == was else f"{was} → {now}"
    screen.reply(f"System prompt {became}, {where(screen)}.{_trouble(prompts)}")


def with_system(own: Mapping[str, object], typed: str, prompts: SystemPrompts) -> dict[str, object]:
    """What the chat does otherwise once ``typed`` counts: the exact name of a prompt, ``none``, ``default``, or else
    the text itself."""
    others = without(own, SYSTEM, SYSTEM_NAME)
    if typed.casefold() == DEFAULT:
        return others
    if (named := prompts.find(typed)) is not None:
        return {**others, SYSTEM: named.text, SYSTEM_NAME: named.name}
    return {**others, SYSTEM: "" if typed.casefold() == NONE else typed}


def suggest_system(screen: Surface) -> Sequence[Suggestion]:
    prompts = screen.slipstream.by_name.prompts
    default = described(prompts, screen.system_prompt)
    return [
        *(_row(prompt) for prompt in prompts.all().values()),
        Suggestion(NONE, NONE, "the model is told nothing"),
        Suggestion(DEFAULT, DEFAULT, f"{default}, as for every chat"),
    ]


async def save_system(screen: Surface, name: str) -> None:
    """``/system-save NAME``: keep this chat's system prompt for other chats."""
    prompts = screen.slipstream.by_name.prompts
    text = system_prompt(screen.system_prompt, screen.chat.conversation.settings)
    if not name:
        raise RefusedError("/system-save takes a name for the system prompt of this chat.")
    try:
        await aside(prompts.keep, name, text)
    except PromptError as error:
        raise RefusedError(str(error)) from error
    screen.reply(f"Kept {_quoted(text)} as {name}: /system {name} uses it in any chat.")


async def forget_system(screen: Surface, name: str) -> None:
    """``/system-forget NAME``: keep it no longer. Chats that use it have its text."""
    if not name:
        raise RefusedError("/system-forget takes the name of a system prompt that was kept with /system-save.")
    try:
        gone = await aside(screen.slipstream.by_name.prompts.forget, name)
    except PromptError as error:
        raise RefusedError(str(error)) from error
    screen.reply(f"Forgot {name}, which was {_quoted(gone.text)}. Chats that were told it keep it.")


def nothing_kept(screen: Surface) -> str:
    """Why none can be forgotten, in a sentence; empty when one can."""
    prompts = screen.slipstream.by_name.prompts
    if any(not prompt.by_hand for prompt in prompts.all().values()):
        return ""
    return prompts.trouble or "No system prompt was kept with /system-save; those of settings.toml stay there."


def suggest_kept(screen: Surface) -> Sequence[Suggestion]:
    """Those that can be forgotten."""
    return [_row(prompt) for prompt in screen.slipstream.by_name.prompts.all().values() if not prompt.by_hand]


def described(prompts: SystemPrompts, text: str, given: str = "") -> str:
    """``brief ("Answer in one …")``, ``"Be kind."`` or ``none``: by its name; of several, ``given``."""
    name = prompts.name_of(text, given)
    return f"{name} ({_quoted(text)})" if name else _quoted(text)


def beginning(prompt: Prompt) -> str:
    """The first words of a named prompt, behind the file it stands in where that is not the program's own."""
    words = clean_line(prompt.text, BEGINNING)
    return f"settings.toml · {words}" if prompt.by_hand else words


def _told(screen: Surface, own: Mapping[str, object]) -> str:
    """What the model is told in a chat with these settings."""
    prompts = screen.slipstream.by_name.prompts
    return described(prompts, system_prompt(screen.system_prompt, own), system_name(own))


def _row(prompt: Prompt) -> Suggestion:
    return Suggestion(prompt.name, prompt.name, beginning(prompt))


def _trouble(prompts: SystemPrompts) -> str:
    return f" {prompts.trouble}" if prompts.trouble else ""


def _quoted(text: str) -> str:
    return f'"{clean_line(text, 40)}"' if text.strip() else NONE
