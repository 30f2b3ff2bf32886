"""What a comparison leaves behind: the way that was kept, and the pair that the chat had before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.compare.ways import Way
from app.tui.chosen_mode import is_news
from app.tui.names import full_name
from engine.protocol import ModelFile

if TYPE_CHECKING:
    from app.tui.screens.making import MakingScreen


def keep_way(screen: MakingScreen, way: Way | None, *, loaded_others: bool) -> None:
    """Answer like ``way`` from now on; None: as before. ``loaded_others``: another draft than the chat's may be in the
    engine."""
    load = screen.answering.load
    if load is not None and way is not None and way.draft:
        load = load.model_copy(update={"draft": ModelFile(path=way.draft), "draft_refused": None})
        screen.use(load, f"{full_name(way.draft)} proposes from now on.")
    elif load is not None and loaded_others:
        screen.answering.switch(load)
    if way is None:
        return
    if is_news(screen, way.mode):
        screen.choose_mode(way.mode)
    if way.mode != "off" and way.draft_max != screen.settings_now().draft_max:
        screen.keep_settings({**screen.chat.conversation.settings, "draft_max": way.draft_max})
        length = "auto" if way.draft_max is None else str(way.draft_max)
        screen.notices.also(f"draft-max → {length}, in this chat.", "information")
