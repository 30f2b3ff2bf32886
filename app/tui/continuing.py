"""An answer that was cut short goes on as if it never had been, where the same model can go on with its tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.tui.thoughts import Thinking
from engine.protocol import AnswerSoFar, GenerateSettings

if TYPE_CHECKING:
    from app.chats.records import Figures
    from app.tui.answer import Answer
    from app.tui.answering import Answering
    from app.tui.conversation import Turn
    from engine.protocol import ModelInfo, PairInfo

COMPLETE: Final = "This answer is complete: there is nothing to go on with. r asks for another one."
EMPTY: Final = "Nothing of this answer has arrived: r asks for it again."
NO_ANSWER: Final = "Only an answer can go on."
ELSEWHERE: Final = "Another Slipstream is writing this answer."


def why_not(turn: Turn) -> str:
    """Why this answer cannot go on; empty when it can."""
    if turn.message is None or turn.message.role != "assistant":
        return NO_ANSWER
    if turn.state == "writing":
        return ELSEWHERE
    cut = turn.state in ("cancelled", "interrupted", "failed")
    if not cut and (turn.figures is None or turn.figures.finish_reason != "length"):
        return COMPLETE
    return "" if turn.text else EMPTY


def submit(answering: Answering, settings: GenerateSettings, goes_on: Turn | None, target_path: str) -> Answer:
    """Ask for an answer, or for the rest of the one that ``goes_on``. ``target_path``: see :func:`going_on`."""
    if goes_on is None:
        return answering.submit(settings)
    answer = answering.submit(going_on(settings, goes_on, answering.state.pair, target_path))
    answer.thinking = Thinking.of(goes_on.figures.receipt() if goes_on.figures else None)
    return answer


def going_on(settings: GenerateSettings, turn: Turn, pair: PairInfo | None, target_path: str) -> GenerateSettings:
    """``settings`` for the rest of an answer. ``pair``: what will answer, ``target_path`` where that is not known yet.

    The same model goes on behind the very tokens and with the same seed: with the same settings, this is what would
    have come. Another one, or one whose tokens were not kept, goes on behind the text.
    """
    proof = turn.figures.receipt() if turn.figures else None
    begun = AnswerSoFar(text=turn.text)
    if proof is not None and turn.figures is not None and _is_same(proof.target, pair, target_path):
        before = proof.prompt_ids[len(proof.prompt_ids) - proof.continued_from :]
        if not _are_missing(turn.figures):
            begun = AnswerSoFar(token_ids=(*before, *turn.figures.token_ids), text=turn.text)
        if settings.seed is None:
            settings = settings.model_copy(update={"seed": proof.seed})
    return settings.model_copy(update={"answer_so_far": begun})


def _are_missing(figures: Figures) -> bool:
    """Whether tokens had come that were not kept: after a crash, in the midst of one."""
    stats = figures.stats()
    return not figures.token_ids and (stats is None or stats.output_tokens > 0)


def _is_same(target: ModelInfo, pair: PairInfo | None, path: str) -> bool:
    return target.fingerprint == pair.target.fingerprint if pair is not None else target.path == path
