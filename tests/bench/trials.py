"""Days on which drafting cannot help: ``python -m tests.bench.trials``.

noise       a draft model that is nearly always wrong must cost next to nothing in ``auto``
self-draft  a target that drafts for itself cannot gain, and the receipt must say so
neighbours  other processes keep processors busy from the middle of an answer on: the speed falls by the fair share,
            not by a barrier that waits for a thread that is not running

Pair a, exact mode, on a machine that does nothing else. Exit code 1 when one of them is not so.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.machine import engine_environment, usable_cores
from engine.protocol import SpeculationMode
from tests.bench.figures import alternating, estimate
from tests.bench.machine import BUSY, Neighbours, foreign
from tests.bench.pairs import DEFAULT_FOLDER, smol
from tests.bench.work import Prompt, load_work
from tests.bench.worker import Worker
from tests.fixtures.random_models import copied_tokenizer, write_random

WARM_UP = Prompt("warm-up", "", "Explain in a few sentences how a canal lock lifts a boat.")
CATEGORIES = ("writing", "reasoning", "humanities", "qa")
CONTEXT, TOKENS, LONG = 2048, 128, 384
MOST_TIME = 1.03
"""Of plain decoding's time, with a draft that cannot help."""
FAIR_ENOUGH = 0.6
"""The part of its fair share that is left: threads that wait for each other lose some of it."""
COLLAPSE = 0.1
"""The part of the speed below which no single answer may fall."""
AFTER_SECONDS = 0.3
"""When the neighbours begin, from the beginning of the answer."""
SPIN = "while True: pass"


@dataclass
class Trial:
    """What was found, a line each, and whether all of it was as it should be."""

    passed: bool = True
    lines: list[str] = field(default_factory=list)

    def note(self, text: str, right: bool) -> None:
        self.passed &= right
        self.lines.append(text if right else f"{text}  <- not as it should be")


class Machine:
    """The worker with one pair, and what it is asked."""

    def __init__(self, target: Path, draft: Path | None, folder: Path, threads: int) -> None:
        self.worker = Worker("engine", folder / "trials.log", engine_environment({}))
        self._neighbours = Neighbours()
        pair: dict[str, Any] = {"target": str(target), "draft": str(draft) if draft else None}
        self.worker.call("load", **pair, mode="exact", context=CONTEXT, threads=threads)
        for mode in MODES:
            self.ask(WARM_UP, mode)

    def ask(self, prompt: Prompt, mode: SpeculationMode, tokens: int = TOKENS) -> dict[str, Any]:
        """One answer; ``busy``: whether another process used the machine meanwhile."""
        pids = [os.getpid(), self.worker.pid]
        before = self._neighbours.look(pids)
        answer = self.worker.call(
            "generate", text=prompt.text, speculation=mode, temperature=0.0, seed=prompt.seed, max_tokens=tokens
        )
        others = foreign(before, self._neighbours.look(pids))
        return {**answer, "busy": others is not None and others > BUSY}


MODES: tuple[SpeculationMode, ...] = ("off", "auto")


@contextmanager
def machine(target: Path, draft: Path | None, folder: Path, threads: int) -> Iterator[Machine]:
    made = Machine(target, draft, folder, threads)
    with made.worker:
        yield made


def against_plain(there: Machine, prompts: Sequence[Prompt], rounds: int) -> tuple[list[float], list[dict[str, Any]]]:
    """Ratios auto : plain of the times of whole answers that took turns, quiet ones only; what auto answered."""
    ratios: list[float] = []
    answers: list[dict[str, Any]] = []
    for repetition in range(rounds):
        for number, prompt in enumerate(prompts):
            taken = {mode: there.ask(prompt, mode) for mode in alternating(MODES, number, repetition)}
            answers.append(taken["auto"])
            if not any(answer["busy"] for answer in taken.values()):
                ratios.append(taken["auto"]["seconds"] / taken["off"]["seconds"])
    return ratios, answers


def useless_draft(name: str, draft: Path, prompts: Sequence[Prompt], options: argparse.Namespace) -> Trial:
    """``auto`` with a draft that cannot help, against plain decoding."""
    trial = Trial()
    with machine(smol(), draft, options.folder, options.threads) as there:
        ratios, answers = against_plain(there, prompts, options.rounds)
    taken = estimate([ratios])
    if taken is None:
        trial.note(f"{name}: every answer was made beside a busy process", False)
        return trial
    meets = taken.low is None or taken.low <= MOST_TIME
    trial.note(f"{name}: auto takes {taken} x plain's time, {taken.count} pairs of answers", meets)
    reasons = {note for answer in answers for note in answer["notes"] if "draft" in note.casefold()}
    drafted = sum(answer["drafted"] for answer in answers)
    trial.note(f"{name}: {drafted} tokens drafted (by the model and by lookup) in {len(answers)} answers", True)
    trial.note(f"{name}: {' / '.join(sorted(reasons)) or 'no receipt says a word about it'}", bool(reasons))
    return trial


def neighbours(prompts: Sequence[Prompt], options: argparse.Namespace) -> Trial:
    """Tokens a second beside one and two busy processes, as a part of those alone."""
    trial, cores = Trial(), len(os.sched_getaffinity(0))
    with machine(smol(), None, options.folder, options.threads) as there:
        for mode in MODES:
            rates: dict[int, list[float]] = {0: [], 1: [], 2: []}
            for _ in range(options.rounds):
                for count in rates:
                    rates[count] += [_rate_beside(there, prompt, mode, count) for prompt in prompts[:2]]
            alone = statistics.median(rates.pop(0))
            for count, beside in rates.items():
                share = 1 / math.ceil((options.threads + count) / cores)  # of the thread that got the fullest core
                left = statistics.median(beside) / alone
                worst = min(beside) / alone
                found = f"{left:.2f} of the speed is left ({worst:.2f} at worst), fair is {share:.2f}"
                trial.note(f"{mode}, {count} busy: {found}", left >= FAIR_ENOUGH * share and worst > COLLAPSE)
    return trial


def _rate_beside(there: Machine, prompt: Prompt, mode: SpeculationMode, count: int) -> float:
    """Tokens a second while decoding; the neighbours begin in mid-answer."""
    with busy(count, AFTER_SECONDS):
        answer = there.ask(prompt, mode, LONG)
    return float(len(answer["tokens"]) / answer["decode_seconds"])


@contextmanager
def busy(count: int, after: float) -> Iterator[None]:
    """``count`` processes that compute without end, from ``after`` seconds on."""
    started: list[subprocess.Popen[bytes]] = []

    def begin() -> None:
        started.extend(subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(count))

    timer = threading.Timer(after, begin)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        for process in started:
            process.kill()
            process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.trials", description=__doc__)
    parser.add_argument("--rounds", type=int, default=2, help="how often every prompt is asked in each way")
    parser.add_argument("--threads", type=int, default=usable_cores()[0])
    parser.add_argument("--questions", type=Path, help="Spec-Bench's questions.jsonl")
    parser.add_argument("--folder", type=Path, default=DEFAULT_FOLDER)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    noise = options.folder / "noise.gguf"
    if not noise.exists():
        write_random(noise, copied_tokenizer(smol()), width=16, blocks=1, name="noise")
    prompts = load_work(options.questions).choose(CATEGORIES, 2)
    failed = False
    for found in _trials(noise, prompts, options):
        print("\n".join(found.lines), flush=True)
        failed |= not found.passed
    return int(failed)


def _trials(noise: Path, prompts: Sequence[Prompt], options: argparse.Namespace) -> Iterator[Trial]:
    yield useless_draft("noise", noise, prompts, options)
    yield useless_draft("self-draft", smol(), prompts, options)
    yield neighbours(prompts, options)


if __name__ == "__main__":
    sys.exit(main())
