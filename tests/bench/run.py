"""Taking the measurements: workers are started and warmed up, variants take turns on each prompt, time is kept.

Every run starts from an empty history: its prompt is read anew, by target and draft, and is part of its time.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from engine.protocol import SpeculationMode
from tests.bench.figures import alternating
from tests.bench.machine import BUSY, Neighbours, foreign, load_average
from tests.bench.pairs import PairFiles
from tests.bench.plan import Block, PairPlan, Variant, WorkerSpec
from tests.bench.work import Prompt
from tests.bench.worker import Worker, WorkerError

CONTEXT = 2048
OVERDRAFT = 0.35
"""Part of its pair's time by which a block that must be measured may run over."""

WARM_UP = Prompt("warm-up", "", "Explain in a few sentences how a canal lock lifts a boat, then list the steps again.")
WARM_UP_TOKENS = 48
COST_CONTEXT, WIDEST, COST_REPEATS = 256, 16, 5


@dataclass(frozen=True)
class Run:
    """One answer and its times. ``more`` has the engine's other figures."""

    pair: str
    block: str
    repetition: int
    variant: str
    prompt: str
    category: str
    temperature: float
    tokens: list[int]
    seconds: float
    decode_seconds: float
    foreign: float | None = None
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def busy(self) -> bool:
        """Whether another process used the machine meanwhile."""
        return self.foreign is not None and self.foreign > BUSY

    @property
    def group(self) -> tuple[str, str, int, str, float]:
        """Runs with the same group were taken one after the other and may be divided by each other."""
        return self.pair, self.block, self.repetition, self.prompt, self.temperature


@dataclass
class Results:
    """Everything that was measured, and under what circumstances. This is what the JSON file holds."""

    form: str = ""
    work: str = ""
    created: str = ""
    threads: int = 0
    tokens: int = 0
    context: int = CONTEXT
    machine: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    system_info: str = ""
    copy_bytes_per_second: float = 0.0
    load_before: float | None = None
    load_after: float | None = None
    minutes: float = 0.0
    interrupted: bool = False
    pairs: dict[str, dict[str, Any]] = field(default_factory=dict)
    costs: dict[str, dict[str, Any]] = field(default_factory=dict)
    prompt_ids: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    """Pair -> prompt -> its rendered tokens, where lookup's ceiling is to be computed."""
    troubles: list[str] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Results:
        """Fields this version does not know are ignored, so that old files can still be shown."""
        known = {name: data[name] for name in cls.__dataclass_fields__ if name in data}
        return cls(**{**known, "runs": [Run(**run) for run in data.get("runs", [])]})


@dataclass(frozen=True)
class Limits:
    """How much is asked, and until when (monotonic clock)."""

    tokens: int
    threads: int
    deadline: float
    repetitions: int | None = None
    """At most this many sweeps over the repeated blocks; None: while time is left."""


class Runner:
    """Runs plans until they or the time are at an end. :meth:`run` returns normally also after a Ctrl+C."""

    def __init__(
        self,
        plans: list[PairPlan],
        prompts: list[Prompt],
        limits: Limits,
        results: Results,
        folder: Path,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self._plans, self._prompts, self._limits = plans, prompts, limits
        self._results, self._folder = results, folder
        self._say = say or (lambda text: print(text, file=sys.stderr, flush=True))
        self._neighbours = Neighbours()
        self._workers: dict[WorkerSpec, Worker] = {}
        self._broken: set[WorkerSpec] = set()
        self._warm: set[tuple[WorkerSpec, SpeculationMode]] = set()
        self._ids: dict[str, list[int]] = {}
        self._plain: dict[tuple[str, float], list[int]] = {}

    def run(self) -> None:
        started, self._results.load_before = time.monotonic(), load_average()
        for plan in self._plans:
            pair = plan.pair
            self._results.pairs[pair.key] = {"title": pair.title, "mode": pair.mode, "target": pair.target.name}
        plans = sorted(self._plans, key=lambda plan: plan.weight)  # what the quick pairs leave, the slow one gets
        try:
            for number, plan in enumerate(plans):
                rest = sum(other.weight for other in plans[number:])
                allotted = (self._limits.deadline - time.monotonic()) * plan.weight / rest
                self._run_pair(plan, time.monotonic() + allotted, allotted)
        except KeyboardInterrupt:
            self._results.interrupted = True
            self._say("stopped: reporting what was measured so far")
        finally:
            self._close(self._workers, now=self._results.interrupted)
            self._results.load_after = load_average()
            self._results.minutes = round((time.monotonic() - started) / 60, 1)

    def _run_pair(self, plan: PairPlan, end: float, allotted: float) -> None:
        pair = plan.pair
        self._broken, self._ids, self._plain = set(), {}, {}
        self._measure_costs(plan)
        for block in plan.blocks:
            hard_end = min(self._limits.deadline, end + allotted * OVERDRAFT) if block.must else end
            if not block.again:
                self._run_block(pair, block, 0, hard_end)
        again = [block for block in plan.blocks if block.again]
        repetition = 0
        while again and (self._limits.repetitions is None or repetition < self._limits.repetitions):
            repetition += 1
            if not all([self._run_block(pair, block, repetition, end) for block in again]):
                break
        self._close(list(self._workers))

    def _run_block(self, pair: PairFiles, block: Block, repetition: int, end: float) -> bool:
        """False when time ran out before its last prompt."""
        prompts = shared_part(self._prompts, block.share)
        items = [(prompt, temperature) for temperature in block.temperatures for prompt in prompts]
        longest = 0.0
        for index, (prompt, temperature) in enumerate(items):
            started = time.monotonic()
            if started + longest > end:
                self._say(f"{pair.key} {block.name}: no time for {len(items) - index} of {len(items)} prompts")
                return False
            self._start(pair, block.variants)
            order = alternating(block.variants, index, repetition)
            if block.variants[-1].oracle:  # an oracle needs the answer first
                order.sort(key=lambda variant: variant.oracle)
            shown = []
            for variant in order:
                run = self._run_one(pair, block, repetition, variant, prompt, temperature)
                if run is not None:
                    self._results.runs.append(run)
                    shown.append(f"{variant.name} {run.seconds:.1f}s{' (busy)' if run.busy else ''}")
            longest = max(longest, time.monotonic() - started)
            left = max(0.0, self._limits.deadline - time.monotonic()) / 60
            self._say(
                f"[{left:4.1f} min left at most] {pair.key} {block.name}{f' #{repetition}' if repetition else ''} "
                f"{index + 1}/{len(items)} {prompt.category} T={temperature:g}: {', '.join(shown)}"
            )
        if not pair.drafts:
            with contextlib.suppress(WorkerError, StopIteration):  # a worker that broke down has been reported
                known = self._results.prompt_ids.setdefault(pair.key, {})
                known.update({prompt.id: self._prompt_ids(prompt) for prompt in prompts})
        self._close([spec for spec in self._workers if spec.kind == "peer"])
        return True

    def _run_one(
        self, pair: PairFiles, block: Block, repetition: int, variant: Variant, prompt: Prompt, temperature: float
    ) -> Run | None:
        worker = self._workers.get(variant.worker)
        if worker is None or (variant.oracle and (prompt.id, temperature) not in self._plain):
            return None
        before = self._neighbours.look(self._pids())
        try:
            reply = self._ask(worker, variant, prompt, temperature, self._limits.tokens)
        except WorkerError as error:
            self._trouble(pair, variant.worker, f"{variant.name}, {prompt.id}: {error}")
            return None
        after = self._neighbours.look(self._pids())
        if variant.name == "plain":
            self._plain[prompt.id, temperature] = reply["tokens"]
        names = ("tokens", "seconds", "decode_seconds")
        tokens, seconds, decode = (reply.pop(name) for name in names)
        return Run(
            pair.key, block.name, repetition, variant.name, prompt.id, prompt.category, temperature,
            tokens, seconds, decode, foreign(before, after), reply,
        )  # fmt: skip

    def _ask(self, worker: Worker, variant: Variant, prompt: Prompt, temperature: float, tokens: int) -> dict[str, Any]:
        common: dict[str, Any] = {"temperature": temperature, "seed": prompt.seed, "max_tokens": tokens}
        if variant.worker.kind == "peer":
            return worker.call("generate", ids=self._prompt_ids(prompt), **common)
        if variant.oracle:
            common["oracle"] = self._plain[prompt.id, temperature]
        return worker.call(
            "generate", text=prompt.text, speculation=variant.speculation, draft_max=variant.draft_max, **common
        )

    def _prompt_ids(self, prompt: Prompt) -> list[int]:
        """The rendered prompt's ids, from one of our own workers."""
        if prompt.id not in self._ids:
            ours = next(worker for spec, worker in self._workers.items() if spec.kind == "engine")
            self._ids[prompt.id] = ours.call("ids", text=prompt.text)["ids"]
        return self._ids[prompt.id]

    def _start(self, pair: PairFiles, variants: Iterable[Variant]) -> None:
        """Start and warm up what ``variants`` need; what is broken stays away."""
        for variant in sorted(variants, key=lambda variant: variant.worker.kind):  # engines first: peers need their ids
            spec = variant.worker
            if spec in self._broken:
                continue
            try:
                if spec not in self._workers:
                    self._open(pair, spec)
                    self._warm = {known for known in self._warm if known[0] != spec}
                if (spec, variant.speculation) not in self._warm and not variant.oracle:
                    self._warm.add((spec, variant.speculation))
                    self._ask(self._workers[spec], variant, WARM_UP, 0.0, WARM_UP_TOKENS)
            except WorkerError as error:
                self._trouble(pair, spec, f"{variant.name} did not start: {error}")

    def _open(self, pair: PairFiles, spec: WorkerSpec) -> None:
        worker = self._workers[spec] = Worker(spec.kind, self._folder / "workers.log", dict(spec.environment))
        common: dict[str, Any] = {"target": str(pair.target), "context": CONTEXT, "threads": self._limits.threads}
        if spec.kind == "peer":
            worker.call("load", lookup=spec.lookup, **common)
            return
        draft = str(pair.drafts[spec.draft]) if spec.draft else None
        loaded = worker.call("load", draft=draft, mode=spec.mode, **common)
        self._results.versions = loaded.pop("versions")
        self._results.system_info = loaded.pop("system_info")
        self._results.pairs[pair.key].setdefault("loaded", {})[f"{spec.mode} {spec.draft or ''}".strip()] = loaded

    def _measure_costs(self, plan: PairPlan) -> None:
        """V(1..16) and D, first: they explain the rest."""
        specs = dict.fromkeys(v.worker for block in plan.blocks for v in block.variants if v.worker.kind == "engine")
        costs = self._results.costs.setdefault(plan.pair.key, {})
        for spec in specs:
            name = f"{spec.mode} {spec.draft or ''}".strip()
            self._say(f"{plan.pair.key}: measuring V(1..{WIDEST}) and D, {name}")
            try:
                if spec not in self._workers:
                    self._start(plan.pair, [Variant("plain", spec)])
                if spec in self._workers:
                    cost = {"behind": COST_CONTEXT, "widest": WIDEST, "repeats": COST_REPEATS}
                    costs[name] = self._workers[spec].call("costs", **cost)
            except WorkerError as error:
                self._trouble(plan.pair, spec, f"costs: {error}")

    def _trouble(self, pair: PairFiles, spec: WorkerSpec, words: str) -> None:
        """Note it, and do without this worker for the rest of the pair."""
        self._results.troubles.append(f"{pair.key}: {words}")
        self._say(f"{pair.key}: {words}")
        self._broken.add(spec)
        self._close([spec], now=True)

    def _close(self, specs: Iterable[WorkerSpec], *, now: bool = False) -> None:
        for spec in list(specs):
            worker = self._workers.pop(spec, None)
            if worker is not None:
                worker.close(now=now)

    def _pids(self) -> list[int]:
        return [os.getpid(), *(worker.pid for worker in self._workers.values())]


def shared_part(prompts: list[Prompt], share: int) -> list[Prompt]:
    """See :attr:`Block.share`."""
    if share == 1:
        return prompts
    firsts = {prompt.category: prompt for prompt in reversed(prompts)}
    one_each = [prompt for prompt in prompts if firsts[prompt.category] is prompt]
    if share == 0:
        return one_each
    step = max(1, len(one_each) // -share)
    return one_each[step - 1 :: step][:-share]
