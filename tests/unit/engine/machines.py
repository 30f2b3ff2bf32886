"""Machines, models and texts made up, for drafting that is paced: time is counted, nothing is measured."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from engine.counting import Counter
from engine.drafters.base import Draft, Drafter, NoDrafter, Outcome
from engine.drafters.lookup import LookupDrafter
from engine.drafters.paced import PacedDrafter
from engine.pacing import Pacer
from engine.protocol import FinishReason
from engine.speculate import speculate
from engine.stats import Stats

CPU = {1: 1.0, 2: 1.9, 3: 2.4, 4: 2.8, 5: 3.2, 6: 3.6, 7: 3.9, 8: 4.2}  # a small quantized model: passes are dear
DEEP = {width: 1 + 0.1 * (width - 1) for width in range(1, 17)}  # bound by memory: passes are nearly free
CLIFF = DEEP | {3: 1.9, 4: 2.0, 5: 2.1, 6: 2.2, 7: 2.3, 8: 1.4}  # not monotone


class Zeros:
    """Logits that nobody chooses by: as many as are asked for, all of them numbers."""

    def __getitem__(self, token: int) -> float:
        return 0.0


class Machine:
    """A target that says a given text, on a machine with a clock of its own."""

    def __init__(
        self, truth: Sequence[int], times: dict[int, float], *, load: Callable[[int], float] = lambda place: 1.0
    ) -> None:
        self.truth, self.times, self.load = truth, times, load
        self.size, self.length, self.now = len(truth), 0, 0.0
        self._noise = random.Random(1)
        self.pass_ends: list[tuple[int, float]] = []

    def clock(self) -> float:
        return self.now

    def spend(self, seconds: float) -> None:
        self.now += seconds * self.load(self.length) * self._noise.uniform(0.93, 1.07)

    def decode(self, tokens: Sequence[int], *, rows: int | None = None) -> Any:
        self.spend(self.times[len(tokens)])
        self.length += len(tokens)
        return [Zeros()] * len(tokens)

    def truncate(self, length: int) -> bool:
        self.length = length
        self.pass_ends.append((length, self.now))
        return True

    def choose(self, logits: Any, position: int) -> int:
        return self.truth[position]

    def accept(self, token: int) -> None:
        pass


class SimulatedModel:
    """A draft model that is right with a given probability, and knows roughly when it is."""

    name = "draft"
    window = 10**9

    def __init__(self, machine: Machine, accuracy: float, seconds: float, prefill: float) -> None:
        self.machine, self.accuracy, self.seconds, self.prefill = machine, accuracy, seconds, prefill
        self._rng = random.Random(2)
        self._read = 0
        self.asked = 0
        self.note: str | None = None

    def begin(self, prompt: Sequence[int]) -> None:
        self._read = 0

    def unread(self, history: Sequence[int]) -> int:
        return len(history) - self._read

    def room(self, history: Sequence[int]) -> int:
        room = max(0, self.window - len(history))
        if not room:
            self.note = "full"
        return room

    def draft(self, history: Sequence[int], limit: int, go_on: Callable[..., bool] = lambda margins: True) -> Draft:
        self.asked += 1
        first = self._read == 0
        before = self.machine.now
        self.machine.spend(self.unread(history) * self.prefill)
        prefill_seconds = self.machine.now - before if first else 0.0
        prefill_tokens = self.unread(history) if first else 0
        self._read = len(history)
        tokens: list[int] = []
        margins: list[float] = []
        while len(tokens) < limit:
            self.machine.spend(self.seconds)
            right = self._rng.random() < self.accuracy
            place = len(history) + len(tokens)
            tokens.append(self.machine.truth[place] if right and place < len(self.machine.truth) else -1)
            margins.append(max(0.0, self._rng.gauss(3.0 if right else 1.0, 0.8)))
            if not go_on(margins):
                break
        return Draft(tokens, "draft", margins, prefill_seconds, prefill_tokens)


class Fixed:
    """Lookup at one length, always."""

    name = "lookup"

    def __init__(self, length: int) -> None:
        self._lookup, self._length = LookupDrafter(), length

    def begin(self, prompt: Sequence[int]) -> None:
        self._lookup.begin(prompt)

    def draft(self, history: Sequence[int], limit: int) -> Draft:
        return self._lookup.draft(history, min(limit, self._length))


class Nowhere:
    def push(self, token: int, source: str) -> FinishReason | None:
        return None


def answer(
    machine: Machine, drafter: Drafter, prompt: int, pacer: Pacer | None = None, cap: int = 7
) -> tuple[float, Stats]:
    """Let the machine say its text behind the first ``prompt`` tokens; returns the seconds and the figures."""
    history = list(machine.truth[:prompt])
    machine.length = prompt - 1
    counter = Counter(clock=machine.clock)
    drafter.begin(history)

    def observe(outcome: Outcome) -> None:
        if pacer is not None:
            pacer.cost.observe_pass(1 + len(outcome.draft.tokens), outcome.seconds)
            if outcome.draft.drafter == "draft":
                pacer.cost.observe_draft(len(outcome.draft.confidence), outcome.draft_seconds)
                pacer.cost.observe_draft_prefill(outcome.draft.prefill_tokens, outcome.draft.prefill_seconds)
        if isinstance(drafter, PacedDrafter):
            drafter.observe(outcome)

    speculate(
        machine,  # type: ignore[arg-type]
        drafter,
        machine,  # type: ignore[arg-type]
        history,
        sink=Nowhere(),
        draft_limit=lambda length: min(cap, machine.size - 1 - length),
        counter=counter,
        cancelled=lambda: len(history) >= machine.size,
        after_pass=lambda: None,
        observe=observe,
    )
    return machine.now, counter.snapshot()


def paced(machine: Machine, pacer: Pacer, model: SimulatedModel | None = None) -> PacedDrafter:
    return PacedDrafter(LookupDrafter(), model, pacer, 0.7, lambda: None)  # type: ignore[arg-type]


def novel(length: int, seed: int = 0) -> list[int]:
    """Text that never repeats."""
    rng = random.Random(seed)
    return [rng.randrange(10**6) for _ in range(length)]


def prose(length: int, seed: int = 0) -> list[int]:
    """Text whose pairs of tokens come back often and go on differently: the trap for lookup."""
    rng = random.Random(seed)
    successors = {word: [rng.randrange(150) for _ in range(3)] for word in range(150)}
    text = [0]
    while len(text) < length:
        text.append(rng.choice(successors[text[-1]]))
    return text


def copying(length: int, seed: int = 0) -> list[int]:
    """A document that is said again, with a change now and then."""
    rng = random.Random(seed)
    document = prose(length // 2, seed)
    return document + [token if rng.random() > 0.03 else 500 + rng.randrange(99) for token in document]


def ratio(text: list[int], times: dict[int, float], prompt: int, pacer: Pacer | None = None) -> float:
    """Plain time over paced time, on the same text."""
    plain, _ = answer(Machine(text, times), NoDrafter(), prompt)
    pacer = pacer or Pacer()
    machine = Machine(text, times)
    drafted, _ = answer(machine, paced(machine, pacer), prompt, pacer)
    return plain / drafted
