"""A loaded pair in words and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.llama.backend import build_mark, gpus
from engine.llama.context import Context
from engine.protocol import PLAIN_ONLY, PairInfo

if TYPE_CHECKING:
    from engine.pair import Pair


def describe(pair: Pair) -> PairInfo:
    """The pair as status line and receipt show it. Raises RenderInterrupted on a cancel."""
    offloaded = pair.target.model.gpu_layers > 0
    devices = gpus() if offloaded else ()
    notes = list(pair.notes)
    if offloaded and pair.settings.mode == "exact":
        notes.append("exact settings are for CPUs; on a GPU the mode is fast until it is tested there")
    if pair.tested is not None and not pair.tested.exact and not offloaded and pair.settings.mode != "fast":
        notes.append(f"the mode is fast: {pair.tested.words}")
    notes += memory_notes(pair.target.context)
    if pair.draft and pair.draft.context.rollback != "full":
        notes.append("the draft keeps a running state; a copy of it is put back when proposals are rejected")
    return PairInfo(
        target=pair.target.model.info().model_copy(update={"sha256": pair.whole.value}),
        draft=pair.draft.model.info() if pair.draft else None,
        draft_refused=pair.draft_refused,
        template=pair.template.info(),
        context=pair.target.context.size,
        threads=pair.threads,
        backend=", ".join(f"{d.name} ({d.description})" for d in devices) or "CPU",
        build=build_mark(),
        badge=pair.exactness.badge,
        exactness=pair.tested,
        rollback=pair.target.context.rollback,
        notes=tuple(notes),
        load_seconds=pair.load_seconds,
    )


def memory_notes(target: Context) -> list[str]:
    """What the target's kind of memory means for its user, in words; nothing for the usual kind."""
    notes: list[str] = []
    if target.rollback == "bounded":
        notes.append(f"this model keeps running states; drafts are at most {target.longest_undo} tokens long")
    if target.rollback == "none":
        notes.append(f"plain: {PLAIN_ONLY}")
    if target.rollback != "full" and target.checkpoints is None:
        notes.append("its state cannot be copied; after an edit or a stop the conversation is read anew")
    return notes
