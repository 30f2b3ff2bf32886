"""Counting and timing an answer while it is made; the rules and the figures are those of :mod:`engine.stats`."""

from __future__ import annotations

import time
from collections.abc import Callable

from engine.baseline import AgainstPlain, PlainSpeed
from engine.pace import Pace
from engine.stats import FEWEST_TOKENS, DrafterStats, Stats, ratio


class Counter:
    """Counts and times one answer while it is made; :meth:`snapshot` derives the figures.

    Clock: ``time.perf_counter`` (monotonic). The loop adds to the public fields; nothing here looks at text.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.perf_counter,
        arrived: float | None = None,
        plain: PlainSpeed | None = None,
    ) -> None:
        self.clock = clock
        self._against = AgainstPlain(plain or PlainSpeed())
        self._pace = Pace()
        self.arrived = clock() if arrived is None else arrived
        self.prompt_tokens = 0
        self.prompt_tokens_cached = 0
        self.prompt_tokens_unread = 0
        self.output_tokens = 0
        self.context = 0
        self.pass_widths: dict[int, int] = {}
        self.drafters: dict[str, _DrafterCounter] = {}
        self.queue = 0.0
        self.prefill = self.draft_prefill = 0.0
        self.draft = self.verify = self.choose = 0.0
        self.prefill_end: float | None = None
        self.first_token: float | None = None
        self.last_token: float | None = None
        self.ended: float | None = None
        self.other_cores: float | None = None

    def count_token(self) -> None:
        """One more token was chosen, now."""
        self.output_tokens += 1
        self.last_token = self.clock()
        if self.first_token is None:
            self.first_token = self.last_token

    def count_pass(self, width: int) -> None:
        """One target pass over ``width`` tokens."""
        self.pass_widths[width] = self.pass_widths.get(width, 0) + 1

    def count_round(
        self, length: int, proposed: int, tokens: int, seconds: float, *, draft: float, choose: float
    ) -> None:
        """One turn of the loop behind ``length`` tokens, with everything that was done in it: ``draft`` seconds of it
        went into finding proposals, ``choose`` into choices."""
        self._pace.count(tokens, seconds)
        if proposed:
            self._against.drafted_round(self.clock(), length, tokens, seconds, draft=draft, choose=choose)
        else:
            self._against.plain_round(self.clock(), length, seconds, draft=draft, choose=choose)

    def count_draft(self, drafter: str, drafted: int, accepted: int, *, stopped: bool) -> None:
        """One verified draft. ``stopped``: the answer ended within this pass, so what lies behind the last accepted
        proposal was discarded, not rejected."""
        if drafted == 0:
            return
        counter = self.drafters.setdefault(drafter, _DrafterCounter())
        rest = drafted - accepted
        counter.drafts += 1
        counter.drafted += drafted
        counter.accepted += accepted
        if stopped:
            counter.discarded += rest
        else:
            counter.rejected += rest
        verified = accepted if stopped else min(drafted, accepted + 1)
        _count_positions(counter.accepted_by_position, accepted)
        _count_positions(counter.verified_by_position, verified)

    def snapshot(self) -> Stats:
        """The figures as of now (or as of the end, once ``ended`` is set)."""
        total = (self.ended if self.ended is not None else self.clock()) - self.arrived
        known = self.queue + self.prefill + self.draft_prefill + self.draft + self.verify + self.choose
        passes = sum(self.pass_widths.values())
        drafters = {name: counter.freeze() for name, counter in self.drafters.items()}
        accepted = sum(d.accepted for d in drafters.values())
        rejected = sum(d.rejected for d in drafters.values())
        decoding = (
            self.last_token - self.prefill_end if self.last_token is not None and self.prefill_end is not None else 0.0
        )
        return Stats(
            prompt_tokens=self.prompt_tokens,
            prompt_tokens_cached=self.prompt_tokens_cached,
            prompt_tokens_unread=self.prompt_tokens_unread,
            output_tokens=self.output_tokens,
            context=self.context,
            target_passes=passes,
            pass_widths=dict(sorted(self.pass_widths.items())),
            drafted=sum(d.drafted for d in drafters.values()),
            accepted=accepted,
            rejected=rejected,
            discarded=sum(d.discarded for d in drafters.values()),
            drafters=drafters,
            queue_seconds=self.queue,
            prefill_seconds=self.prefill,
            draft_prefill_seconds=self.draft_prefill,
            draft_seconds=self.draft,
            verify_seconds=self.verify,
            choose_seconds=self.choose,
            other_seconds=max(0.0, total - known),
            total_seconds=total,
            time_to_first_token=None if self.first_token is None else self.first_token - self.arrived,
            other_cores=self.other_cores,
            acceptance=ratio(accepted, accepted + rejected),
            coverage=ratio(accepted, self.output_tokens),
            tokens_per_pass=ratio(self.output_tokens, passes),
            decode_tokens_per_second=ratio(self.output_tokens, decoding)
            if self.output_tokens >= FEWEST_TOKENS
            else None,
            prefill_tokens_per_second=self._prefill_rate(),
            speedup=self._against.factor if drafters else None,
            pace=self._pace.rates(),
        )

    def _prefill_rate(self) -> float | None:
        unread = max(1, self.prompt_tokens_unread)  # the last one belongs to decoding
        evaluated = self.prompt_tokens - self.prompt_tokens_cached - unread
        return ratio(evaluated, self.prefill) if evaluated > 0 else None


class _DrafterCounter:
    def __init__(self) -> None:
        self.drafted = self.accepted = self.rejected = self.discarded = self.drafts = 0
        self.accepted_by_position: list[int] = []
        self.verified_by_position: list[int] = []

    def freeze(self) -> DrafterStats:
        return DrafterStats(
            drafted=self.drafted,
            accepted=self.accepted,
            rejected=self.rejected,
            discarded=self.discarded,
            drafts=self.drafts,
            accepted_by_position=tuple(self.accepted_by_position),
            verified_by_position=tuple(self.verified_by_position),
        )


def _count_positions(counts: list[int], reached: int) -> None:
    counts.extend([0] * (reached - len(counts)))
    for position in range(reached):
        counts[position] += 1
