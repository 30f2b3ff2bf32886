"""From an answer on screen to its replay on the chat's own engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.chats.proof import NO_PROOF, no_proof
from app.replay.again import CannotReplay, holds, manner_of, wanted_pair
from app.replay.kept import KeptAnswer
from app.tui.names import full_name
from app.tui.screens.replay import ReplayScreen
from app.tui.widgets.turns import AnswerTurn

if TYPE_CHECKING:
    from app.tui.screens.chat import ChatScreen
    from engine.protocol import PairInfo, Receipt

LOADING: Final = "A model is being loaded; a replay needs the engine for itself. Try again when it is there."


def open_replay(screen: ChatScreen, how: str) -> str:
    """Open the replay of the selected answer, or else the last one; returns why it cannot be opened, or nothing.
    ``how``: ``as-was``, ``passes`` or a mode of speculation."""
    view = screen.target("replay")
    if reason := screen.why_not("replay"):
        return reason
    answer = _kept(view, screen.chat.title) if isinstance(view, AnswerTurn) else None
    if answer is None:
        return no_proof(view.turn.figures) if view else NO_PROOF
    if screen.answering.state.is_loading:
        return LOADING
    try:
        wanted_pair(answer)
    except CannotReplay as error:
        return str(error)
    manner, pair, load = manner_of(how, answer), screen.answering.state.pair, screen.answering.load
    must_load = not holds(pair, answer, manner)
    replay = ReplayScreen(screen.answering.engine, answer, manner, _swap(pair, answer.receipt) if must_load else "")

    def back(_: None) -> None:
        """Where something else was loaded for it, the chat's own pair comes back."""
        if must_load and replay.began and load is not None:
            screen.answering.switch(load)

    screen.app.push_screen(replay, back)
    return ""


def _kept(view: AnswerTurn, title: str) -> KeptAnswer | None:
    message, figures = view.turn.message, view.turn.figures
    stats, receipt = (figures.stats(), figures.receipt()) if figures is not None else (None, None)
    if message is None or figures is None or stats is None or receipt is None:
        return None
    return KeptAnswer(
        message.id,
        title,
        message.content,
        figures.finish_reason,
        figures.token_ids,
        figures.sources,
        stats,
        receipt,
        view.turn.doubts,
    )


def _swap(pair: PairInfo | None, receipt: Receipt) -> str:
    """What has to be loaded for it, said before it is done."""
    made = full_name(receipt.target.path, receipt.target.name)
    drafted = f" with {full_name(receipt.draft.path, receipt.draft.name)}" if receipt.draft else ""
    if pair is None:
        return f"It was made by {made}{drafted}, which is loaded for the replay."
    now = full_name(pair.target.path, pair.target.name)
    if pair.target.fingerprint != receipt.target.fingerprint:
        return f"It was made by {made}{drafted}. {now} leaves the engine for it and is loaded again afterwards."
    then = f"{receipt.context:,} tokens of context, {receipt.threads} threads, {receipt.mode}"
    return f"It was made by {made}{drafted} with {then}. It is loaded so for the replay, and as now again afterwards."
