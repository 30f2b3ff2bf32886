"""The history by pair and mode: what a list, a chart or a sentence shows of it."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from app.chats.proof import left_out_words
from app.history.drop import LEAST_TOKENS, MOST_ANSWERS, Verdict, judge
from app.history.past import UNTESTED, Mode, PastAnswer, read_past


@dataclass(frozen=True)
class Group:
    """The last answers of one pair in one mode that are long enough, newest first."""

    mode: Mode
    answers: tuple[PastAnswer, ...]

    @property
    def newest(self) -> PastAnswer:
        return self.answers[0]

    @property
    def how(self) -> str:
        """``exact``, ``exact settings, untested`` or ``fast``, as the receipts of its answers say."""
        tested = {answer.tested for answer in self.answers}
        if not self.mode.exact:
            return "fast"
        return "exact" if tested == {True} else UNTESTED if tested == {False} else "exact settings, partly untested"

    @property
    def label(self) -> str:
        """``auto, exact``."""
        return f"{self.mode.speculation}, {self.how}"

    @property
    def rates(self) -> tuple[float, ...]:
        """Tokens a second, oldest first."""
        return tuple(answer.rate for answer in reversed(self.answers))

    @property
    def median(self) -> float:
        return statistics.median(self.rates)

    @cached_property
    def verdict(self) -> Verdict | None:
        """The newest answer held against those before it; None where those are too few."""
        return judge(self.newest, self.answers)


class History:
    """Answers of a store, newest first."""

    def __init__(self, answers: Sequence[PastAnswer] = (), damaged: int = 0) -> None:
        """``damaged``: records that cannot be read, beside these."""
        self.answers = answers
        self.left_out = left_out_words(damaged, "the speeds")
        """A sentence about these; empty for none."""

    @classmethod
    def read(cls, file: Path | None) -> History:
        """Blocking; of a large store a tenth of a second. Raises UnreadableStoreError."""
        return cls(*read_past(file))

    def pairs(self) -> Iterator[tuple[PastAnswer, tuple[Group, ...]]]:
        """The newest answer of every pair, and its modes; the pair that answered last comes first."""
        newest: dict[tuple[str, str], PastAnswer] = {}
        for answer in self.answers:
            newest.setdefault(answer.marks, answer)
        for marks, answer in newest.items():
            if groups := self._groups(marks):
                yield answer, groups

    def of_files(self, target: str, draft: str = "") -> tuple[Group, ...]:
        """What this very pair did, wherever its files lay then; without a ``draft`` what the target did alone."""
        newest = next((one for one in self.answers if (one.target, one.draft) == (target, draft)), None)
        return self._groups(newest.marks) if newest is not None else ()

    def _groups(self, marks: tuple[str, str]) -> tuple[Group, ...]:
        modes: dict[Mode, list[PastAnswer]] = {}
        for answer in self.answers:
            if answer.marks == marks and answer.tokens >= LEAST_TOKENS:
                modes.setdefault(answer.mode, []).append(answer)
        return tuple(Group(mode, tuple(answers[:MOST_ANSWERS])) for mode, answers in modes.items())
