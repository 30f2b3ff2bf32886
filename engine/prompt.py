"""From messages to token ids: render the chat template, let only it write control tokens, exactly one start token."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.llama.vocab import Vocabulary
from engine.protocol import Message, TemplateInfo, ThoughtMarkers
from engine.text.template import ChatTemplate


@dataclass(frozen=True, slots=True)
class Prompt:
    """A rendered conversation. ``stop``: stop strings that a fallback template needs. ``starts_in_thought``: it ends
    with an open thinking block."""

    ids: list[int]
    stop: tuple[str, ...]
    template: TemplateInfo
    starts_in_thought: bool = False


def build_prompt(
    template: ChatTemplate, vocabulary: Vocabulary, messages: Sequence[Message], thinking: bool | None = None
) -> Prompt:
    """Render and tokenize ``messages``. What a message says is text, even where it spells a control token.
    ``thinking``: see :class:`engine.protocol.GenerateSettings`."""
    rendered = template.render(messages, thinking)
    ids: list[int] = []
    for segment in rendered.segments:
        ids.extend(vocabulary.tokenize(segment.text, parse_special=segment.parse_special))
    return Prompt(one_start_token(ids, vocabulary), rendered.stop, rendered.info, rendered.starts_in_thought)


def marker_tokens(markers: Iterable[ThoughtMarkers], vocabulary: Vocabulary) -> dict[int, bytes]:
    """The control tokens that thinking markers are made of, and their texts. Control tokens show nothing, but without
    these nobody could tell a thought from what is said."""
    tokens = {
        token
        for pair in markers
        for marker in (pair.open, pair.close)
        for token in vocabulary.tokenize(marker, parse_special=True)
    }
    return {token: vocabulary.text(token).encode() for token in tokens if not vocabulary.piece(token)}


def one_start_token(ids: list[int], vocabulary: Vocabulary) -> list[int]:
    """Templates and tokenizers both like to write the start token; the model was trained with one."""
    bos = vocabulary.bos
    if bos < 0 or not (vocabulary.adds_bos or ids[:1] == [bos]):
        return ids
    start = 0
    while start < len(ids) and ids[start] == bos:
        start += 1
    return [bos, *ids[start:]]
