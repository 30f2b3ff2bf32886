"""What a GGUF is: a model to talk to, or one of the many other things that come in the same format."""

from __future__ import annotations

from typing import Final, Literal

from engine.files.header import Header

Role = Literal[
    "chat", "projector", "adapter", "importance matrix", "embedding", "reranker", "speculation head", "diffusion",
    "encoder-decoder", "speech", "vocabulary only", "no language model",
]  # fmt: skip

WHY_NOT: Final[dict[Role, str]] = {
    "projector": "it is a projector that lets another model see or hear, not a model of its own",
    "adapter": "it is an adapter (LoRA or control vector) for another model, not a model of its own",
    "importance matrix": "it is an importance matrix for quantizing, not a model",
    "embedding": "it is an embedding model: it turns text into numbers and writes none",
    "reranker": "it is a reranker: it orders texts and writes none",
    "speculation head": "it is a speculation head, which reads its target's inner states; this engine cannot run one",
    "diffusion": "it is a diffusion model, which does not write from left to right",
    "encoder-decoder": "it is an encoder-decoder model, which this engine cannot run",
    "speech": "it is a speech model: it makes sound, not text",
    "vocabulary only": "it holds a vocabulary and no weights",
    "no language model": "it carries no vocabulary, so it is no language model",
}
"""Role -> why the file is neither offered as a model nor as a draft."""

_ARCHITECTURES: Final[dict[str, Role]] = {
    **dict.fromkeys(("clip", "mmproj"), "projector"),
    "controlvector": "adapter",
    "imatrix": "importance matrix",
    **dict.fromkeys(
        (
            "bert modern-bert nomic-bert nomic-bert-moe neo-bert jina-bert-v2 jina-bert-v3 eurobert gemma-embedding "
            "llama-embed t5encoder"
        ).split(),
        "embedding",
    ),
    **dict.fromkeys(("eagle3", "dflash", "gemma4-assistant"), "speculation head"),
    **dict.fromkeys(("dream", "llada", "llada-moe", "rnd1"), "diffusion"),
    "t5": "encoder-decoder",
    **dict.fromkeys(("wavtokenizer-dec", "qwen3tts", "pockettts"), "speech"),
}

_TYPES: Final[dict[str, Role]] = {  # general.type
    "adapter": "adapter",
    "imatrix": "importance matrix",
    "mmproj": "projector",
}

_POOLED_RANK: Final = 4  # enum llama_pooling_type
_POOLED: Final = range(1, 4)


def role_of(header: Header) -> Role:
    """What the file is, by what its header says; never by its name."""
    architecture = (header.architecture or "").lower()
    role = _TYPES.get((header.text("general.type") or "").lower()) or _ARCHITECTURES.get(architecture)
    if role is not None:
        return role
    if header.split is not None and header.split[0] > 0:
        return "chat"  # a later part carries little more than its tensors
    pooled = header.integer(f"{header.architecture}.pooling_type")
    if pooled == _POOLED_RANK:
        return "reranker"
    if pooled in _POOLED:
        return "embedding"
    if header.tokens is None:
        return "no language model"
    if not header.tensors and header.split is None:
        return "vocabulary only"
    return "speculation head" if _is_head(header) else "chat"


def _is_head(header: Header) -> bool:
    """Whether only the layers that predict further tokens are here, without the model they belong to."""
    further = header.integer(f"{header.architecture}.nextn_predict_layers") or 0
    return further > 0 and header.split is None and not any(t.name.startswith("blk.0.") for t in header.tensors)
