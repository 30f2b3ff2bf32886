"""Numbers in a header with which the native library ends the process instead of refusing the file, or goes astray."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MOST_LAYERS: Final = 512
"""``LLAMA_MAX_LAYERS``."""
MOST_CONTEXT: Final = 2**31 - 1
"""llama.cpp numbers the tokens of a context with 32 bits, one of them for the sign."""


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
        return f"it claims to be trained for {context:,} tokens of context, and {MOST_CONTEXT:,} are the most there are"
    return None
