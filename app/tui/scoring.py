"""From a pair to its scorecard: the chat's own engine measures it, and holds the chat's pair again afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.tui.model_choice import same
from app.tui.names import full_name, pair_name
from app.tui.screens.score import ScoreScreen
from engine.protocol import GenerateSettings

if TYPE_CHECKING:
    from app.library.records import Entry
    from app.tui.app import SlipstreamApp
    from engine.protocol import LoadSettings

ANSWERING: Final = "An answer is being made, and the score needs the engine for itself: esc in the chat stops it."
LOADING: Final = "A model is being loaded; the score needs the engine for itself. Try again when it is there."
NO_PAIR: Final = "No model is loaded yet: ctrl+l shows those that are here; s measures one of them."


def score_entry(app: SlipstreamApp, entry: Entry) -> str:
    """Open the scorecard of a pair of the Models screen; returns why it cannot be opened now, or nothing."""
    chat = app.chat_screen
    held = chat.answering.load if chat is not None else None
    if held is not None and same(held.target.path, entry.target) and same(_draft(held), entry.draft):
        return _open(app, held, entry.title)
    load = app.pair_request(entry.target, entry.draft, entry.context)
    back = full_name(held.target.path) if held is not None else ""
    return _open(app, load, entry.title, leaves=back)


def score_loaded(app: SlipstreamApp) -> str:
    """The same for the pair that answers now."""
    chat = app.chat_screen
    pair = chat.answering.state.pair if chat is not None else None
    if chat is None or chat.answering.load is None or (pair is None and not chat.answering.state.is_loading):
        return NO_PAIR
    return _open(app, chat.answering.load, pair_name(pair) if pair else "")


def _open(app: SlipstreamApp, load: LoadSettings, title: str, *, leaves: str = "") -> str:
    """``leaves``: the chat's model, where another one is measured."""
    chat = app.chat_screen
    if chat is None:
        return NO_PAIR
    if chat.dialogue.live is not None or chat.answering.busy:
        return ANSWERING
    if chat.answering.state.is_loading:
        return LOADING
    settings = chat.settings_now()
    wanted = GenerateSettings(messages=(), sampling=settings.sampling, thinking=settings.thinking)
    screen = ScoreScreen(app.engine, load, title, wanted, app.store.file, leaves=leaves)
    held = chat.answering.load

    def back(_: None) -> None:
        """Measuring another pair took the chat's out of the engine."""
        if leaves and held is not None and screen.began:
            chat.answering.switch(held)

    app.push_screen(screen, back)
    return ""


def _draft(load: LoadSettings) -> str:
    return load.draft.path if load.draft else ""
