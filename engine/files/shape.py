"""The numbers of a model that its memory depends on, taken from the header alone.

How llama.cpp lays its caches out (llama-model.cpp ``create_memory``, llama-kv-cache.cpp, llama-memory-recurrent.cpp,
llama-hparams.cpp ``n_embd_r`` and ``n_embd_s``): a layer with attention keeps a key and a value for each token of the
context, a recurrent layer keeps one state, whatever the context; which layers are which is told by the architecture.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from engine.files.header import Header
from engine.files.repacked import repacked_bytes
from engine.files.tensor_types import tensor_bytes

RECURRENT = frozenset({"mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7"})
"""Architectures without attention."""

KEEPS_STATES = frozenset(
    "kimi-k3 qwen35 qwen35moe qwen4exp deepseek4 glm5-next nemotron_h nemotron_h_moe lfm2 lfm2moe bailingmoe3".split()
)
"""Hybrids for which the library can keep a state for every token of a pass."""

HYBRID = KEEPS_STATES | frozenset("jamba falcon-h1 plamo2 granitehybrid qwen3next kimi-linear minimax-01".split())
"""Architectures of which some layers have attention and some a running state."""

INTERVALS = {"qwen3next": 4, "qwen35": 4, "qwen35moe": 4, "qwen4exp": 4, "minimax-01": 8}
"""Hybrids in which every so-many-th layer has attention, unless the file lists the layers."""

ROUGH = frozenset("deepseek4 deepseek32 glm-dsa glm5-next dots3note hy_v4 minimax-m3 qwen4exp kimi-k3".split())
"""Architectures with further caches (indexers, compressed keys) that are not counted here."""

LOOKS_BACK_IN_FULL = frozenset({"phi3"})
"""Architectures whose sliding window llama.cpp leaves out."""

CACHE_ENTRY = 2
"""Bytes: F16 keys; F16 or BF16 values."""
STATE_ENTRY = 4
"""Bytes: running states are F32."""

Undo = Literal["any", "some", "none"]


@dataclass(frozen=True, slots=True)
class Shape:
    """What has to be known of a model to say how much memory it takes."""

    weights: int = 0
    """Bytes of tensor data."""
    embeddings: int = 0
    """Bytes of the token embeddings among them, which stay in main memory when layers go to a GPU."""
    repacked: int = 0
    """Bytes of weights that are kept a second time, rearranged, where the model need not be exact."""
    layers: int = 0
    width: int = 0
    """Values of one token between layers."""
    feed_forward: int = 0
    """Values of one token inside the widest feed-forward step; with experts, of all that one token uses."""
    attention: int = 0
    """Values of one token's queries."""
    vocabulary: int = 0
    merges: int = 0
    cell: int = 0
    """Bytes of KV cache that each token of context takes, over all layers."""
    state: int = 0
    """Bytes of one running state, over all layers."""
    masks: int = 1
    """Attention masks: a second one where layers look back over a window only."""
    undo: Undo = "any"
    """How many tokens of a pass it is expected to take back; found out for certain when it is loaded."""
    context_trained: int | None = None
    rough: bool = False
    """The architecture keeps more than is counted here."""

    @staticmethod
    def of(header: Header) -> Shape:
        """The shape of a model, or of one part of it."""
        architecture = header.architecture or ""
        vocabulary, merges = header.tokens, header.arrays.get("tokenizer.ggml.merges")
        windows = header.sliding_window is not None and architecture not in LOOKS_BACK_IN_FULL
        return Shape(
            weights=max(0, header.size - header.data_offset) if header.tensors else 0,
            embeddings=sum(tensor_bytes(t.type, t.dims) or 0 for t in header.tensors if t.name == "token_embd.weight"),
            repacked=repacked_bytes(header),
            layers=_layers(header),
            width=header.embedding_length or 0,
            feed_forward=_feed_forward(header),
            attention=max(header.head_counts, default=0) * (header.key_length or 0),
            vocabulary=vocabulary.count if vocabulary else 0,
            merges=merges.count if merges else 0,
            cell=_cells(header),
            state=_state(header) * sum(1 for _ in _recurrent_layers(header)),
            masks=2 if windows else 1,
            undo=_undo(architecture),
            context_trained=header.context_length,
            rough=architecture in ROUGH,
        )


def _undo(architecture: str) -> Undo:
    if architecture in KEEPS_STATES:
        return "some"
    return "none" if architecture in RECURRENT | HYBRID else "any"


def _own(header: Header, key: str) -> int:
    """A number in the architecture's name space; 0 where there is none or it makes no sense."""
    return max(0, header.integer(f"{header.architecture}.{key}") or 0)


def _listed(header: Header, key: str) -> tuple[int, ...]:
    """A number for each layer, or one for all; empty where the file does not say."""
    value = header.metadata.get(f"{header.architecture}.{key}")
    items = value if isinstance(value, tuple) else (value,)
    return tuple(max(0, int(item)) for item in items if isinstance(item, int))


def at_layer(values: tuple[int, ...], layer: int) -> int:
    """The value for one layer."""
    return 0 if not values else values[0] if len(values) == 1 else values[layer] if layer < len(values) else 0


def _layers(header: Header) -> int:
    """Layers that the main graph runs: those that predict further tokens are not loaded."""
    layers, further = _own(header, "block_count"), _own(header, "nextn_predict_layers")
    return layers - further if 0 < further < layers else layers


def _feed_forward(header: Header) -> int:
    dense = max(_listed(header, "feed_forward_length"), default=0)
    used = max(_listed(header, "expert_used_count"), default=0)
    if not used:
        return dense
    of_one = max(_listed(header, "expert_feed_forward_length"), default=0) or dense
    shared = _own(header, "expert_shared_feed_forward_length") or of_one * _own(header, "expert_shared_count")
    return max(used * of_one + shared, dense if of_one != dense else 0)


def _attention_layers(header: Header) -> Iterator[int]:
    architecture = header.architecture
    if architecture in RECURRENT:
        return
    first = _own(header, "block_count") - _own(header, "attention.shared_kv_layers")
    if architecture == "gemma3n":
        first = 20  # llama.cpp has it so; the layers behind read the cache of an earlier one
    for layer in range(min(_layers(header), max(0, first))):
        if architecture not in HYBRID or architecture == "falcon-h1" or not _is_recurrent(header, layer):
            yield layer


def _recurrent_layers(header: Header) -> Iterator[int]:
    for layer in range(_layers(header)):
        if header.architecture in RECURRENT or (header.architecture in HYBRID and _is_recurrent(header, layer)):
            yield layer


def _is_recurrent(header: Header, layer: int) -> bool:
    architecture = header.architecture or ""
    if architecture in INTERVALS:
        listed = _listed(header, "attention.recurrent_layers")
        interval = _own(header, "full_attention_interval") or INTERVALS[architecture]
        return bool(at_layer(listed, layer)) if listed else (layer + 1) % interval != 0
    if architecture == "deepseek4" or (architecture.startswith("nemotron_h") and _feeds_forward(header, layer)):
        return False
    return architecture == "falcon-h1" or at_layer(header.kv_head_counts, layer) == 0


def _feeds_forward(header: Header, layer: int) -> bool:
    """Only asked where a layer is one thing only: attention, state or feed-forward."""
    return at_layer(_listed(header, "feed_forward_length"), layer) > 0


def _cells(header: Header) -> int:
    """Bytes that one token takes in the caches of all layers."""
    layers = list(_attention_layers(header))
    if len(header.kv_head_counts) < 2 and not header.metadata.get(
        f"{header.architecture}.attention.sliding_window_pattern"
    ):
        return len(layers) * _cell(header, 0)  # all are alike
    return sum(_cell(header, layer) for layer in layers)


def _cell(header: Header, layer: int) -> int:
    """Bytes that one token takes in one layer's cache."""
    key, value = header.key_length or 0, header.value_length or 0
    if _is_windowed(header, layer):
        key = _own(header, "attention.key_length_swa") or key
        value = _own(header, "attention.value_length_swa") or value
    if _own(header, "attention.key_length_mla") and _own(header, "attention.value_length_mla"):
        value = 0  # the value is computed from what is kept of the key
    return max(0, at_layer(header.kv_head_counts, layer)) * (key + value) * CACHE_ENTRY


def _is_windowed(header: Header, layer: int) -> bool:
    """Only asked where windowed layers have another head size. Their caches hold the whole context, too
    (``swa_full``)."""
    pattern = _listed(header, "attention.sliding_window_pattern")
    if len(pattern) > 1:
        return bool(at_layer(pattern, layer))
    return bool(pattern and pattern[0] > 0) and layer % pattern[0] < pattern[0] - 1


def _state(header: Header) -> int:
    """Bytes of one recurrent layer's state."""
    width, heads = header.embedding_length or 0, max(header.head_counts, default=0)
    kernel, inner, state = (
        _own(header, "ssm.conv_kernel"),
        _own(header, "ssm.inner_size"),
        _own(header, "ssm.state_size"),
    )
    if wkv := _own(header, "wkv.head_size"):
        entries = (_own(header, "token_shift_count") or 2) * width + width * wkv
    elif cached := _own(header, "shortconv.l_cache"):
        entries = width * (cached - 1) + state * inner
    elif head := _own(header, "kda.head_dim"):
        entries = 3 * (kernel - 1 if kernel else 3) * heads * head + head * head * heads
    elif header.architecture == "minimax-01":
        entries = (header.key_length or 0) ** 2 * heads
    else:
        entries = max(0, kernel - 1) * (inner + 2 * _own(header, "ssm.group_count") * state) + state * inner
    return entries * STATE_ENTRY
