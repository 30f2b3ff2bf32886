"""Commands that put the engine to the proof: the scorecard of the loaded pair, an answer made again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, cast

from app.clean import clean_line
from app.tui.commands import RefusedError
from app.tui.suggestion import Suggestion

if TYPE_CHECKING:
    from app.tui.screens.chat import ChatScreen
    from app.tui.surface import Surface

REPLAY_KEY: Final = "alt+↑ p"
MANNERS: Final = {
    "as-was": "as it was made, or by its own passes where rounding counts",
    "passes": "every pass as wide as it was",
    "off": "anew, plainly",
    "lookup": "anew, the text so far proposes",
    "draft": "anew, the draft model proposes",
    "auto": "anew, drafts while they can help",
}


def score(screen: Surface, argument: str) -> None:
    """``/score``: the pair that answers now."""
    from app.tui.scoring import score_loaded  # with the benchmark behind it: not before it is wanted

    if reason := score_loaded(cast("ChatScreen", screen).slipstream):
        raise RefusedError(reason)


async def replay(screen: Surface, argument: str) -> None:
    """``/replay [MANNER]``: the selected answer, or else the last one."""
    manner = argument.casefold() or "as-was"
    if manner not in MANNERS:
        raise RefusedError(f"/replay takes {', '.join(MANNERS)}, not {clean_line(argument, 40)}.")
    from app.tui.replaying import open_replay  # not before it is wanted

    if reason := open_replay(cast("ChatScreen", screen), manner):
        raise RefusedError(reason)


def suggest_manners(screen: Surface) -> Sequence[Suggestion]:
    return [Suggestion(manner, manner, words) for manner, words in MANNERS.items()]
