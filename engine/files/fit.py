"""How much memory a pair takes at a context, before anything is loaded, and whether it is there.

Weights and caches are counted exactly (:mod:`engine.files.shape`); what llama.cpp computes in is estimated, with the
reason at each term. On a processor memory counts when it is touched, so of the space that llama.cpp reserves for 512
rows of logits only the rows that a pass really asks for are there; on a GPU all of it is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from engine.files.shape import Shape
from engine.files.sizes import size_words
from engine.machine import available_memory
from engine.protocol import Device

__all__ = ["Estimate", "Fit", "Part", "available_memory", "context_of", "estimate", "judge_fit"]

CHUNK = 512
"""Tokens of the longest pass (engine.llama.context, PREFILL_CHUNK)."""
CELLS = 256
"""llama.cpp rounds a context up to a multiple of this many tokens."""
DEFAULT_CONTEXT = 8192
"""Tokens of context when none were asked for (engine.llama.loading)."""
ROWS = 16
"""Rows of logits of the widest pass that asks for all of them: the self-test's."""
SELF_TEST_CELLS = 768
"""Context of the self-test, which an exact target goes through once, behind the first answer (engine.selftest)."""
STATES_KEPT = 7
"""States a target keeps of a pass beside the present one (engine.pair, UNDO)."""
MOST_COPIES, MOST_COPY_BYTES = 16, 256 * 1024 * 1024
"""Copies of states (engine.llama.checkpoints)."""

PROCESS = 87_000_000
"""Python and the libraries with no model loaded (66 MB), and the helper that renders templates (21 MB)."""
PER_PIECE = 200
"""Bytes for each piece of a vocabulary: llama.cpp's table, its map from text to id, its cache of shown texts."""
PER_MERGE = 130
"""Bytes for each merge rule: a map from two strings to a rank."""
PER_CHOICE = 32
"""Bytes for each piece that choosing a token takes: ids, adjusted logits, candidates, noise."""
ON_EACH_GPU = 400_000_000
"""What a driver takes of a GPU for a process that uses it."""

SURE = 1.15
"""The estimate may be wrong by so much."""

SMALLER = (16384, 8192, 4096, 2048, 1024)
"""Contexts that are proposed where the one asked for does not fit."""

Words = Literal["fits", "tight", "does not fit", "unknown"]

_PROCESS, _SELF_TEST = "engine process", "self-test, once"


@dataclass(frozen=True, slots=True)
class Part:
    """Something that takes memory."""

    name: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a pair takes of main memory on a processor, part by part, at ``context`` tokens."""

    parts: tuple[Part, ...]
    context: int
    rough: bool = False
    """A model of the pair keeps more than is known here."""

    @property
    def total(self) -> int:
        return sum(part.bytes for part in self.parts)

    @property
    def loaded(self) -> int:
        """What loading the pair and talking to it adds to the engine process, the self-test left out."""
        return sum(part.bytes for part in self.parts if part.name not in (_PROCESS, _SELF_TEST))


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether a pair fits this machine. ``sentence`` is for people."""

    words: Words
    sentence: str
    estimate: Estimate
    free: int | None
    gpu: str | None = None
    """What goes to the GPU, in words; None where there is none."""
    needed: int = 0
    """Bytes of main memory that it takes: the estimate without what goes to the GPU."""


def context_of(target: Shape, context: int | None = None) -> int:
    """The context in force: as asked for, else what the engine takes by itself."""
    return context or min(DEFAULT_CONTEXT, target.context_trained or DEFAULT_CONTEXT)


def estimate(target: Shape, draft: Shape | None = None, *, context: int | None = None) -> Estimate:
    """Memory of a target, alone or with its draft, at ``context`` tokens (None: what the engine takes by itself).

    16-bit caches, as in exact and in fast mode. A target's weights count once, as in exact mode. A draft is loaded for
    speed, so what the library rearranges of it counts twice, unless the target drafts for itself.
    """
    size = context_of(target, context)
    parts = [Part(_PROCESS, PROCESS), *_parts(target, size, "", states=_states(target))]
    if draft is not None:
        window = min(size, draft.context_trained or size)
        parts += _parts(draft, window, "draft ", states=1)
        parts.append(Part("draft weights, rearranged", _rearranged(target, draft)))
    if target.undo != "none":
        parts.append(Part(_SELF_TEST, _self_test(target)))
    return Estimate(tuple(part for part in parts if part.bytes), size, target.rough or bool(draft and draft.rough))


def judge_fit(
    target: Shape,
    draft: Shape | None = None,
    *,
    context: int | None = None,
    free: int | None = None,
    in_use: int = 0,
    gpus: Sequence[Device] = (),
) -> Fit:
    """Compare the estimate with what is there.

    ``free``: bytes of main memory that can be had (:func:`available_memory`); None: not known.
    ``in_use``: bytes that the pair which is loaded now gives back first. ``gpus``: what the engine found.
    """
    wanted = estimate(target, draft, context=context)
    room = None if free is None else free + in_use
    needed, gpu = wanted.total, None
    if gpus:
        moved, gpu = _on_gpu(target, draft, wanted.context, gpus)
        needed = max(PROCESS, needed - moved)
    words = _words(needed, room)
    sentence = _sentence(wanted, needed, room, words, gpu)
    if words == "does not fit" and room is not None and (smaller := _smaller(target, draft, wanted, room, gpus)):
        sentence += f" A context of {smaller:,} tokens would fit."
    return Fit(words, sentence, wanted, room, gpu, needed)


def _cells(context: int) -> int:
    return -(-context // CELLS) * CELLS


def _rearranged(target: Shape, draft: Shape) -> int:
    """Bytes of the draft's weights that are kept a second time (engine.pair opens a draft that is the target's own file
    as exactly as the target)."""
    return draft.repacked if draft != target else 0


def _states(target: Shape) -> int:
    """Running states of a target: the present one, and those of a pass where the library keeps them."""
    return 1 + STATES_KEPT if target.undo == "some" else 1


def _parts(shape: Shape, context: int, prefix: str, *, states: int) -> list[Part]:
    copies = 0
    if shape.undo != "any":
        copies = max(shape.state, min(MOST_COPY_BYTES, MOST_COPIES * shape.state))
    return [
        Part(f"{prefix}weights", shape.weights),
        Part(f"{prefix}KV cache", shape.cell * _cells(context)),
        Part(f"{prefix}running states", shape.state * states + copies),
        Part(f"{prefix}vocabulary", shape.vocabulary * (PER_PIECE + PER_CHOICE) + shape.merges * PER_MERGE),
        Part(f"{prefix}computing", _computing(shape, context, ROWS)),
        Part(f"{prefix}logits", shape.vocabulary * 4 * ROWS),  # the copy that is handed out, as wide as the widest pass
    ]


def _self_test(shape: Shape) -> int:
    """A small context beside the pair's, with a copy of running states where there are some, and the rows of logits
    that are compared: of one pass, and one by one."""
    states = shape.state * (_states(shape) + 1)
    rows = 3 * ROWS * shape.vocabulary * 4
    return shape.cell * SELF_TEST_CELLS + states + _computing(shape, SELF_TEST_CELLS, ROWS) + rows


def _computing(shape: Shape, context: int, rows: int) -> int:
    """The buffer llama.cpp computes a pass in, with ``rows`` rows of logits."""
    tokens = min(CHUNK, context)
    # An F16 number for each token of the pass and of the context: who may look at whom.
    masks = shape.masks * _cells(context) * tokens * 2
    # The widest moment of a layer: what came in and what goes on, and beside it either gate, up and their product, or
    # queries and what attention made of them. Logits come behind the last layer and take the same place.
    layer = 2 * shape.width + max(3 * shape.feed_forward, 2 * shape.attention + shape.width)
    activations = max(layer * tokens * 4, (shape.width * tokens + shape.vocabulary * rows) * 4)
    # The rows that a matrix is multiplied with are first brought into its own format: about nine bits a value.
    work = tokens * max(shape.feed_forward, shape.width, shape.attention) * 9 // 8
    return masks + activations + work


def _words(needed: int, room: int | None) -> Words:
    if room is None:
        return "unknown"
    return "fits" if needed * SURE <= room else "tight" if needed <= room else "does not fit"


def _sentence(wanted: Estimate, needed: int, room: int | None, words: Words, gpu: str | None) -> str:
    about = "at least" if wanted.rough else "about"
    need = f"{about} {size_words(needed)} of memory at {wanted.context:,} tokens of context"
    if gpu is not None:
        need = f"{gpu}; {need}"
    need = need[0].upper() + need[1:]
    if room is None:
        return f"{need}; how much is free is not known here."
    have = f"{size_words(room)} {'is' if room < 1e9 else 'are'} free"
    return {
        "fits": f"{need}; {have}.",
        "tight": f"{need}; {have}, which is tight.",
        "does not fit": f"{need}; only {have}.",
    }[words]


def _smaller(target: Shape, draft: Shape | None, wanted: Estimate, room: int, gpus: Sequence[Device]) -> int | None:
    """The largest usual context below the one asked for that fits."""
    for context in SMALLER:
        if context < wanted.context:
            needed = estimate(target, draft, context=context).total
            if gpus:
                needed -= _on_gpu(target, draft, context, gpus)[0]
            if needed * SURE <= room:
                return context
    return None


def _on_gpu(target: Shape, draft: Shape | None, context: int, gpus: Sequence[Device]) -> tuple[int, str]:
    """Bytes of main memory that GPUs take over, and what goes there in words.

    The engine offloads all layers where they fit, else fewer of them. Token embeddings stay in main memory.
    """
    room = max(0, sum(device.memory_free - ON_EACH_GPU for device in gpus))
    moved, words = 0, []
    for shape, window, who in (
        (target, context, ""),
        *([(draft, min(context, draft.context_trained or context), "draft: ")] if draft else ()),
    ):
        cache = shape.cell * _cells(window) + shape.state * _states(target)
        weights = max(0, shape.weights - shape.embeddings)
        computing = _computing(shape, window, min(CHUNK, window))
        layers = max(1, shape.layers)
        fitting = min(layers, max(0, room - computing) * layers // max(1, weights + cache))
        share = (weights + cache) * fitting // layers
        moved += share + (_rearranged(target, shape) * fitting // layers if who else 0)
        room = max(0, room - share - computing) if fitting else room
        how_many = f"all {layers}" if fitting == layers else "no" if fitting == 0 else f"{fitting} of {layers}"
        words.append(f"{who}{how_many} layers on the GPU")
    return moved, ", ".join(words)
