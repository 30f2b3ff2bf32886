"""How far a model can forget: found by trying, since it depends on the architecture and llama.cpp's answer may lie.

=========  =============================================================  ===========================================
kind       what can be taken back                                         who
=========  =============================================================  ===========================================
full       a tail of any length                                           attention; sliding windows, whose cache we
                                                                          keep whole (``swa_full``)
bounded    up to ``n_rs_seq`` tokens of the last pass, once               Qwen3.5, LFM2, Nemotron-H and the like: the
                                                                          library keeps a state for each token of a pass
none       nothing                                                        Mamba, RWKV, Jamba, Falcon-H1 and the like
=========  =============================================================  ===========================================

Where a tail cannot be taken back, a copy of the state made earlier can be put back (:mod:`engine.llama.checkpoints`);
that is tried here, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from engine.llama.backend import library
from engine.llama.checkpoints import Checkpoints
from engine.llama.context import Context, Logits
from engine.protocol import Rollback


def probe(context: Context) -> Rollback:
    """Find out what ``context`` can take back and set its ``rollback`` and ``checkpoints`` to it.

    A few passes of up to three tokens. Leaves the cache empty. Raises what a pass raises.
    """
    model = context.model
    one, two, three = _three_tokens(model.vocabulary.bos_or_first, model.vocabulary.size)
    try:
        context.rollback, context.checkpoints = "bounded" if context.undo_limit else "full", None
        if _is_plain_attention(context):
            context.decode([one, two], rows=0)
            works = context.truncate(1)
        else:
            # What is taken back must leave no trace: two different tails, then the same token. The widths are the
            # same, so a rollback that works gives the same logits, however the kernels round.
            works = _agree(context, one, [[two, three], [three, two]], lambda: context.truncate(1))
        if not works:
            context.rollback = "none"
        if context.rollback != "full":
            context.checkpoints = Checkpoints(context.handle)
            if not _agree(context, one, [[two], [three]], lambda: context.truncate(1), mark_first=True):
                context.checkpoints = None
    finally:
        context.clear()
    return context.rollback


def _is_plain_attention(context: Context) -> bool:
    L, handle = library(), context.model.handle
    special = L.llama_model_is_recurrent(handle) or L.llama_model_is_hybrid(handle) or L.llama_model_n_swa(handle) > 0
    return not special and context.undo_limit == 0


def _agree(
    context: Context,
    first: int,
    tails: Sequence[Sequence[int]],
    go_back: Callable[[], bool],
    *,
    mark_first: bool = False,
) -> bool:
    """Whether the model is the same after each of ``tails`` was read behind ``first`` and taken back."""
    seen: list[Logits] = []
    for tail in tails:
        context.clear()
        if mark_first:
            context.decode([first], rows=0)
            context.mark()
            context.decode(tail, rows=0)
        else:
            context.decode([first, *tail], rows=0)
        if not go_back():
            return False
        seen.append(context.decode([first])[0].copy())
    return bool(np.allclose(seen[0], seen[1], rtol=1e-3, atol=1e-3))


def _three_tokens(start: int, size: int) -> tuple[int, int, int]:
    return start, (start + 1) % size, (start + 2) % size
