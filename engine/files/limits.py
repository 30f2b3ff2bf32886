"""Numbers in a header with which the native library ends the process instead of refusing the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MOST_LAYERS: Final = 512
"""``LLAMA_MAX_LAYERS``."""


def impossible(metadata: Mapping[str, object]) -> str | None:
    """What no model can have, in a few words; None: nothing. A key that is not there is for the library to miss."""
    architecture = metadata.get("general.architecture")
    layers, width = metadata.get(f"{architecture}.block_count"), metadata.get(f"{architecture}.embedding_length")
    if isinstance(layers, int) and not 1 <= layers <= MOST_LAYERS:
        return f"it claims {layers:,} layers, and 1 to {MOST_LAYERS} are possible"
    if isinstance(width, int) and width < 1:
        return f"it claims that a token is {width:,} numbers wide"
    return None
