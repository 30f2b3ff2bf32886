"""A mode of speculation that was chosen: it counts for the open chat, and new chats begin with it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.by_name import CHOSEN_LAST
from app.tui.chat_settings import SPECULATION

if TYPE_CHECKING:
    from app.tui.surface import Surface
    from engine.protocol import SpeculationMode


def choose(screen: Surface, mode: SpeculationMode) -> None:
    """Answer by ``mode`` from the next answer on, and say where that holds."""
    before, at_first = screen.mode, screen.defaults.speculation
    new_too = begin_with(screen, mode)
    where = "in this chat and in new ones" if new_too else "in this chat"
    screen.keep_settings({**screen.chat.conversation.settings, SPECULATION: mode})
    if before == mode:
        news = ", from now on in new chats, too" if new_too and at_first != mode else ""
        screen.reply(f"speculation is {mode} already{news}.")
        return
    when = ", from the next answer on" if screen.dialogue.live is not None else ""
    screen.reply(f"speculation {before} → {mode}, {where}{when}.")


def begin_with(screen: Surface, mode: SpeculationMode) -> bool:
    """New chats begin with ``mode``, now and at the next start; whether they do: settings.toml and the command line
    stand above it, and what comes out of a pipe is kept for no other chat."""
    origins = screen.slipstream.by_name.origins
    if origins.get(SPECULATION, CHOSEN_LAST) != CHOSEN_LAST or not screen.slipstream.keep_mode(mode):
        return False
    screen.defaults = screen.defaults.model_copy(update={SPECULATION: mode})
    screen.slipstream.by_name = replace(screen.slipstream.by_name, origins={**origins, SPECULATION: CHOSEN_LAST})
    return True


def is_news(screen: Surface, mode: SpeculationMode) -> bool:
    """Whether choosing ``mode`` changes anything."""
    return mode != screen.mode or mode != screen.defaults.speculation
