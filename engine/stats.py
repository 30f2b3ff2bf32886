"""What is counted and timed while an answer is made, and every figure derived from it.

Each derived figure is defined here and nowhere else; the live line, the stored receipt, ``--json`` and the
benchmarks all read the same :class:`Stats`.

Counting rules (DESIGN, section 3):

* ``output_tokens`` counts every token the target chose, the end-of-generation token included.
* What was drafted is ``accepted + rejected + discarded``. *Rejected* is the first mismatch of a pass and every
  proposal behind it; *discarded* is what lay behind a stop (end of generation, stop string, limit).
* ``acceptance`` is accepted / (accepted + rejected): what the target verified, never what was thrown away unseen.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


def ratio(numerator: float, denominator: float) -> float | None:
    """``numerator / denominator``, or None where there is nothing to divide by."""
    return numerator / denominator if denominator > 0 else None


class DrafterStats(BaseModel):
    """The draft counts of one drafter. Invariant: drafted = accepted + rejected + discarded."""

    model_config = ConfigDict(frozen=True)

    drafted: int = 0
    accepted: int = 0
    rejected: int = 0
    discarded: int = 0
    drafts: int = Field(0, description="passes in which this drafter proposed at least one token")
    accepted_by_position: tuple[int, ...] = ()
    verified_by_position: tuple[int, ...] = ()

    @property
    def acceptance(self) -> float | None:
        """accepted / (accepted + rejected); None before anything was verified."""
        return ratio(self.accepted, self.accepted + self.rejected)


class Stats(BaseModel):
    """A snapshot of one answer's counts, times (seconds, monotonic clock) and derived figures.

    Figures that have nothing to divide by are None, never 0 or 100 %.
    """

    model_config = ConfigDict(frozen=True)

    # counted
    prompt_tokens: int = 0
    prompt_tokens_cached: int = 0
    output_tokens: int = 0
    target_passes: int = 0
    pass_widths: dict[int, int] = Field(default_factory=dict, description="pass width -> how many passes")
    drafted: int = 0
    accepted: int = 0
    rejected: int = 0
    discarded: int = 0
    drafters: dict[str, DrafterStats] = Field(default_factory=dict, description="'lookup' / 'draft' -> its counts")

    # timed
    load_seconds: float = 0.0
    queue_seconds: float = 0.0
    prefill_seconds: float = 0.0
    draft_prefill_seconds: float = 0.0
    draft_seconds: float = 0.0
    verify_seconds: float = 0.0
    choose_seconds: float = 0.0
    other_seconds: float = 0.0
    total_seconds: float = 0.0
    time_to_first_token: float | None = None

    # derived, see summarise()
    acceptance: float | None = None
    coverage: float | None = None
    tokens_per_pass: float | None = None
    decode_tokens_per_second: float | None = None
    prefill_tokens_per_second: float | None = None
    speedup: float | None = Field(None, description="against plain decoding measured here; absent until it was")


FIGURES: dict[str, str] = {
    "prompt_tokens": "tokens of the rendered conversation that the answer continues",
    "prompt_tokens_cached": "prompt tokens whose KV entries were reused and not evaluated again",
    "output_tokens": "tokens the target chose, the end-of-generation token included",
    "target_passes": "calls of the target model after prefill",
    "drafted": "tokens proposed by a drafter; accepted + rejected + discarded",
    "accepted": "proposals that equalled the target's own choice and were shown",
    "rejected": "the first mismatch of a pass and every proposal behind it",
    "discarded": "proposals behind a stop, never verified",
    "acceptance": "accepted / (accepted + rejected)",
    "coverage": "accepted / output tokens: the share of the answer that came from a drafter",
    "tokens_per_pass": "output tokens / target passes",
    "decode_tokens_per_second": "output tokens / (time of the last token - end of prefill); "
    "prefill leaves out the last prompt token",
    "prefill_tokens_per_second": "prompt tokens really evaluated / prefill time",
    "time_to_first_token": "from the request's arrival in the engine to the first token",
    "load_seconds": "time this request spent loading model files; 0 when they were loaded",
    "queue_seconds": "time the request waited behind another one",
    "prefill_seconds": "evaluating the new part of the prompt on the target",
    "draft_prefill_seconds": "evaluating the prompt on the draft model",
    "draft_seconds": "making proposals, the draft model's own passes and its catching up included",
    "verify_seconds": "target passes",
    "choose_seconds": "filtering candidates and choosing tokens",
    "other_seconds": "the rest of the total: text, events, bookkeeping",
    "total_seconds": "from the request's arrival to its end",
    "speedup": "decode speed / plain decode speed measured on this pair and machine",
}
"""Every figure in one line, for help pages and tool tips."""
