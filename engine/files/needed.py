"""Keys without which the native library cannot load a model of an architecture: what it asks for (src/models/*.cpp)."""

from __future__ import annotations

from typing import Final

from engine.files.header import Header
from engine.files.shape import RECURRENT

_ALL: Final = ("context_length", "embedding_length", "block_count")
_SSM: Final = ("ssm.conv_kernel", "ssm.inner_size", "ssm.state_size", "ssm.time_step_rank")
_RWKV: Final = ("wkv.head_size",)
_SHORT: Final = ("shortconv.l_cache",)

_STATES: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys("mamba mamba2 jamba falcon-h1 plamo2 granitehybrid nemotron_h nemotron_h_moe".split(), _SSM),
    **dict.fromkeys(("qwen3next", "qwen35", "qwen35moe"), _SSM),
    **dict.fromkeys(("rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7"), _RWKV),
    **dict.fromkeys(("lfm2", "lfm2moe"), _SHORT),
}
"""What a running state is made of."""


def lacking(header: Header) -> str | None:
    """What the header of a whole model, or of the first part of one, does not say and would have to, in one phrase;
    None: nothing. Only for models to talk to: what else comes as a GGUF has keys of its own."""
    name = header.architecture
    if name is None:
        return "its header names no architecture"
    absent = [key for key in (*_ALL, *_STATES.get(name, ())) if header.integer(f"{name}.{key}") is None]
    heads = header.head_counts or f"{name}.attention.head_count" in header.arrays
    if name not in RECURRENT and not heads:  # the library takes it for none, and finds no shape right
        absent.append("attention.head_count")
    if not absent:
        return None
    return f"its header says {name} and lacks {', '.join(f'{name}.{key}' for key in absent)}"
