"""The figures of an answer: what each of them means, and every one that is derived from others.

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

FEWEST_TOKENS = 3
"""Below this many tokens a speed says nothing: one slow pass would be half of it."""


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
    prompt_tokens_unread: int = Field(0, description="prompt tokens that a stop left unread; 0 in older records")
    output_tokens: int = 0
    context: int = Field(0, description="tokens that the context holds; 0 in older records")
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
    other_cores: float | None = Field(None, description="work of other programs meanwhile; None where that is unknown")

    # derived, see Counter.snapshot()
    acceptance: float | None = None
    coverage: float | None = None
    tokens_per_pass: float | None = None
    decode_tokens_per_second: float | None = None
    prefill_tokens_per_second: float | None = None
    speedup: float | None = Field(None, description="against plain decoding measured here; absent until it was")
    pace: tuple[float, ...] = Field((), description="tokens/s over the answer, see FIGURES; empty in older records")

    @property
    def context_used(self) -> int:
        """Tokens of the context that this answer and everything before it take. The last one is read only by the next
        pass, so an answer that filled the context has one token more than there was room for. Where the prompt was not
        read to its end, it is what was read."""
        used = self.prompt_tokens - self.prompt_tokens_unread + self.output_tokens
        return min(used, self.context) if self.context else used

    @property
    def proposed_by(self) -> tuple[str, ...]:
        """The drafters that proposed at least one token: ``lookup``, ``draft``."""
        return tuple(name for name in ("lookup", "draft") if name in self.drafters and self.drafters[name].drafted)


def until_now(stats: Stats, sources: str) -> Stats:
    """A snapshot brought up to the tokens that have arrived since, by their sources (one letter a token, see
    :class:`engine.protocol.TextDelta`): what can be counted is, times stay those of the snapshot."""
    tokens = len(sources)
    accepted = sum(source in "ld" for source in sources)
    passes = max(stats.target_passes, tokens - accepted)
    return stats.model_copy(
        update={
            "output_tokens": tokens,
            "target_passes": passes,
            "accepted": accepted,
            "drafted": accepted + stats.rejected + stats.discarded,
            "acceptance": ratio(accepted, accepted + stats.rejected),
            "coverage": ratio(accepted, tokens),
            "tokens_per_pass": ratio(tokens, passes),
        }
    )


FIGURES: dict[str, str] = {
    "prompt_tokens": "tokens of the rendered conversation that the answer continues, an answer so far included",
    "prompt_tokens_cached": "prompt tokens whose KV entries were reused and not evaluated again",
    "prompt_tokens_unread": "prompt tokens that were still to be read when the answer was stopped",
    "output_tokens": "tokens the target chose, the end-of-generation token included",
    "target_passes": "calls of the target model after prefill",
    "drafted": "tokens proposed by a drafter; accepted + rejected + discarded",
    "accepted": "proposals that equalled the target's own choice; each is one of the output tokens",
    "rejected": "the first mismatch of a pass and every proposal behind it",
    "discarded": "proposals behind a stop, never verified",
    "acceptance": "accepted / (accepted + rejected)",
    "coverage": "accepted / output tokens: the share of the answer that came from a drafter",
    "tokens_per_pass": "output tokens / target passes",
    "decode_tokens_per_second": "output tokens (3 or more) / (last token - end of prefill); "
    "prefill leaves out the last prompt token, and what a draft model reads of the prompt counts as decoding",
    "prefill_tokens_per_second": "prompt tokens really evaluated / prefill time",
    "time_to_first_token": "from the request's arrival in the engine to the first token",
    "load_seconds": "loading model files for this request, before it arrived in the engine and not part of the total; "
    "0 when they were loaded already",
    "queue_seconds": "time the request waited behind another one",
    "prefill_seconds": "evaluating the new part of the prompt on the target",
    "draft_prefill_seconds": "evaluating the prompt on the draft model",
    "draft_seconds": "making proposals, the draft model's own passes and its catching up included",
    "verify_seconds": "target passes",
    "choose_seconds": "filtering candidates and choosing tokens",
    "other_seconds": "the rest of the total: text, events, bookkeeping",
    "total_seconds": "from the request's arrival to its end",
    "other_cores": "processors that other programs kept busy while the answer was made, on average: the machine's "
    "working time less that of the engine and of Slipstream, over the time that passed (Linux)",
    "speedup": "what the answer's tokens would have taken plainly / what they took, drafting included; its own plain "
    "passes count as they were, drafted ones are held against plain passes of the last seconds at a similar context "
    "length, and without those there is no figure",
    "pace": "tokens per second over the answer, from its first pass to its last, in stretches of equally many passes",
    "context_used": "prompt tokens + output tokens, of all that the context holds; the one chosen when it was full "
    "has no place in it, and of a prompt whose reading was stopped only what was read",
    "proposed_by": "who proposed tokens in this answer: the text so far (lookup), the draft model (draft), both, or "
    "nobody (no drafts); plain: nobody was allowed to",
}
"""Every figure in one line, for help pages and tool tips."""

FACTORS: dict[str, str] = {
    "factor": "times faster than {first}, median over pairs of alternating runs",
    "mean_factor": "times faster than {first} on whole answers, geometric mean over pairs of alternating runs, with "
    "its 95 % interval",
}
"""Likewise of two ways to answer, held against each other run by run; ``{first}`` stands for the way they are held
against. Neither is the ratio of the medians that stand beside it."""


def factor_words(name: str, first: str = "the first way") -> str:
    """The definition of one of FACTORS, for ways held against ``first``."""
    return FACTORS[name].format(first=first)
