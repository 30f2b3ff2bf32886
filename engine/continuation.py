"""The beginning of an answer that is to be continued, as tokens behind the prompt."""

from __future__ import annotations

from engine.choice import BadSettings
from engine.llama.vocab import Vocabulary
from engine.protocol import AnswerSoFar

COMPLETE = (
    "This answer is complete: it ended by itself, so there is nothing to continue. "
    "Send a new message, or make the answer again."
)

ANCHOR = "\n"
"""Text that no tokenizer joins with what follows it."""


def tokens_so_far(so_far: AnswerSoFar | None, vocabulary: Vocabulary) -> list[int]:
    """The tokens that ``so_far`` stands for. Raises BadSettings for ids that this model does not have."""
    if so_far is None:
        return []
    if not so_far.token_ids:
        return spell(so_far.text, vocabulary)
    outside = [token for token in so_far.token_ids if not 0 <= token < vocabulary.size]
    if outside:
        raise BadSettings(
            f"The answer so far names token {outside[0]:,}, but this model has {vocabulary.size:,} tokens: another "
            "model began it. Nothing was lost; continue with that model, or make the answer again."
        )
    return list(so_far.token_ids)


def spell(text: str, vocabulary: Vocabulary) -> list[int]:
    """Tokens that show exactly ``text``; what spells a control token stays text."""
    ids = vocabulary.tokenize(text, parse_special=False)
    if vocabulary.join(ids) == text.encode("utf-8", "replace"):
        return ids
    # SentencePiece puts a space in front of every text; behind an anchor it does not.
    anchor = vocabulary.tokenize(ANCHOR, parse_special=False)
    anchored = vocabulary.tokenize(ANCHOR + text, parse_special=False)
    return anchored[len(anchor) :] if anchored[: len(anchor)] == anchor else ids
