"""Numbers in a header with which the native library ends the process instead of refusing the file, or goes astray."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MOST_LAYERS: Final = 512
"""``LLAMA_MAX_LAYERS``."""
LEAST_CONTEXT: Final = 16
"""Tokens of a context that the engine makes: shorter ones hold no question."""
MOST_CONTEXT: Final = 2**31 - 1
"""llama.cpp numbers the tokens of a context with 32 bits, one of them for the sign."""


def contexts_words() -> str:
    """``16 to 2,147,483,647 tokens``: the contexts that there are."""
    return f"{LEAST_CONTEXT} to {MOST_CONTEXT:,} tokens"


def wrong_context(context: int | None) -> str | None:
    """A sentence about a context that cannot be; None: it can."""
    if context is None or LEAST_CONTEXT <= context <= MOST_CONTEXT:
        return None
    return f"There is no context of {context:,} tokens: {contexts_words()} are possible."


def impossible(metadata: Mapping[str, object]) -> str | None:
    """What no model can have, in a few words; None: nothing. A key that is not there is for the library to miss."""
    architecture = metadata.get("general.architecture")
    layers, width = metadata.get(f"{architecture}.block_count"), metadata.get(f"{architecture}.embedding_length")
    context = metadata.get(f"{architecture}.context_length")
    if isinstance(layers, int) and not 1 <= layers <= MOST_LAYERS:
        return f"it claims {layers:,} layers, and 1 to {MOST_LAYERS} are possible"
    if isinstance(width, int) and width < 1:
        return f"it claims that a token is {width:,} numbers wide"
    if isinstance(context, int) and not 0 <= context <= MOST_CONTEXT:  # 0: not known
        return f"it claims to be trained for {context:,} tokens of context, and 1 to {MOST_CONTEXT:,} are possible"
    return None
