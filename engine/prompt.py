"""From messages to token ids: render the chat template, let only it write control tokens, exactly one start token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.llama.vocab import Vocabulary
from engine.protocol import Message, TemplateInfo
from engine.text.template import ChatTemplate


@dataclass(frozen=True, slots=True)
class Prompt:
    """A rendered conversation. ``stop``: stop strings that a fallback template needs."""

    ids: list[int]
    stop: tuple[str, ...]
    template: TemplateInfo


def build_prompt(template: ChatTemplate, vocabulary: Vocabulary, messages: Sequence[Message]) -> Prompt:
    """Render and tokenize ``messages``. What a message says is text, even where it spells a control token."""
    rendered = template.render(messages)
    ids: list[int] = []
    for segment in rendered.segments:
        ids.extend(vocabulary.tokenize(segment.text, parse_special=segment.parse_special))
    return Prompt(one_start_token(ids, vocabulary), rendered.stop, rendered.info)


def one_start_token(ids: list[int], vocabulary: Vocabulary) -> list[int]:
    """Templates and tokenizers both like to write the start token; the model was trained with one."""
    bos = vocabulary.bos
    if bos < 0 or not (vocabulary.adds_bos or ids[:1] == [bos]):
        return ids
    start = 0
    while start < len(ids) and ids[start] == bos:
        start += 1
    return [bos, *ids[start:]]
