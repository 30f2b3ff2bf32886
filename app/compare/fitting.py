"""Which prompts of a benchmark fit the context: asked before the first run, so that none ends it in the middle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from app.compare import runs
from app.compare.runs import RunFailed
from engine.protocol import Counted, ErrorCode, Failed, GenerateSettings, Message

OF_THE_PROMPT: Final = (ErrorCode.PROMPT_TOO_LARGE, ErrorCode.TEMPLATE_FAILED, ErrorCode.BAD_REQUEST)
"""Failures that another prompt would not have."""


class Engine(runs.Engine, Protocol):
    """What it takes to look at prompts before they are answered."""

    async def count(
        self, messages: Sequence[Message] = (), *, text: str | None = None, thinking: bool | None = None
    ) -> Counted | Failed: ...


class Cancelled(Exception):
    """Somebody stopped the engine meanwhile."""


async def why_not(engine: Engine, wanted: GenerateSettings) -> str | None:
    """Why the loaded pair cannot answer ``wanted``, behind "is left out: "; None where it can. Raises RunFailed for
    what is not the prompt's fault, and Cancelled."""
    if wanted.prompt_ids:
        return _too_long(len(wanted.prompt_ids), engine.pair.context) if engine.pair else None
    counted = await engine.count(wanted.messages, thinking=wanted.thinking)
    if isinstance(counted, Counted):
        return _too_long(counted.tokens, counted.context)
    if counted.code is ErrorCode.CANCELLED:
        raise Cancelled
    if counted.code in OF_THE_PROMPT:
        return counted.message
    raise RunFailed(counted.message)


def _too_long(tokens: int, context: int) -> str | None:
    """An answer needs room for a token at least."""
    if tokens < context:
        return None
    return f"its prompt is {tokens:,} tokens long, and the context of {context:,} has room for {context - 1:,}."
