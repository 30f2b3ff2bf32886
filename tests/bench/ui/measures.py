"""The measurements, one function each. Every one starts the program anew and gives back rows."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.compare.neighbours import foreign
from tests.bench.ui.echo import echo
from tests.bench.ui.report import Row, percentile
from tests.bench.ui.stores import LAST_CHAT, LAST_WORDS
from tests.bench.ui.terminal import PROMPT, Program, program

DRAWING, ECHO, IDLE = 0.25, 0.05, 0.01
FIRST_PAINT, OPENED = 0.7, 1.0
PASTED, BEHIND_PASTE = 1.0, 0.1

BEGUN: Final = b"writing"
NEW, XRAY, CHATS, FIRST, DOWN, ENTER, STOP = b"\x0e", b"\x1bOS", b"\x0f", b"\x1b[H", b"\x1b[B", b"\r", b"\x1b"
PASTE: Final = b"\x1b[200~", b"\x1b[201~"
MEGABYTE: Final = (b"a line of some words, as they stand in the log of a program, sixty-four\n" * 15_000)[:1_000_000]
FOLDED: Final = b"pasted 1,000,000 characters"
SETTLED: Final = 1.5
"""Seconds of an answer before anything is measured: the first block is on screen, what is loaded late is there."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure with."""

    homes: Path
    """A folder for the program's folders; one with chats in it is called ``full``."""
    seconds: float
    """How long each stretch of streaming and of typing is."""
    starts: int
    real_model: Path | None = None
    """A model for a start with the real engine."""
    profiles: Path | None = None
    """Where to keep a profile of each run; the figures are then worthless."""

    def command(self, name: str) -> list[str]:
        """The program with the engine that only pretends, as ``python`` is to run it."""
        profile = [] if self.profiles is None else ["-m", "cProfile", "-o", str(self.profiles / f"{name}.pstats")]
        return [*profile, "-m", "tests.bench.ui.program", "--model", str(self.homes / "steady.gguf")]

    @contextmanager
    def chat(self, name: str, *, full: bool = False) -> Iterator[Program]:
        """The program with its composer on screen, all quiet."""
        with program(self.command(name), self.homes / ("full" if full else "empty")) as running:
            running.sees(PROMPT)
            running.settle()
            if not full:
                running.write(NEW)  # not the chat of the measurement before
                running.settle()
            yield running


def first_paint(plan: Plan) -> Iterator[Row]:
    """From the start of the process to the composer's prompt."""
    times = [_start(plan.command("start"), plan.homes / "empty", PROMPT) for _ in range(plan.starts)]
    yield _starts("first paint, new chat", times, FIRST_PAINT)
    if plan.real_model is not None:
        command = ["-m", "app", "--model", str(plan.real_model)]
        times = [_start(command, plan.homes / "empty", PROMPT) for _ in range(plan.starts)]
        yield _starts("first paint, the real engine starting beside it", times, FIRST_PAINT)


def full_store(plan: Plan) -> Iterator[Row]:
    """A store of many chats: a start, and the opening of a long chat in it."""
    home = plan.homes / "full"
    times = [_start(plan.command("start"), home, PROMPT) for _ in range(plan.starts)]
    yield _starts("first paint, 2,000 chats in the store", times, FIRST_PAINT)
    times = [_start(plan.command("start"), home, PROMPT, LAST_CHAT.encode()) for _ in range(plan.starts)]
    yield _starts("start with 2,000 chats, the last one on screen", times, OPENED)
    times = []
    for _ in range(plan.starts):
        with plan.chat("open", full=True) as running:
            times.append(_open_long_chat(running))
            running.settle()
            _to_first_chat(running)  # it is the one to open at the next start
            running.write(ENTER)
            running.settle()
    yield _starts("a chat of 1,000 messages opened from the list", times, OPENED)


def idle(plan: Plan) -> Iterator[Row]:
    """A chat on screen, and nothing happens."""
    with plan.chat("idle") as running:
        running.say("hello")
        running.settle(2.0)
        yield _cpu(running, "idle", max(10.0, plan.seconds / 2), IDLE)


def streaming(kind: str, name: str, *, xray: bool = False, typing: bool = True) -> Callable[[Plan], Iterator[Row]]:
    """An answer of a kind of text (:mod:`tests.bench.ui.texts`): what drawing it costs, then keys while it goes on."""

    def measure(plan: Plan) -> Iterator[Row]:
        with plan.chat(kind + "-xray" * xray) as running:
            if xray:
                _answer(running, kind, 3)
                running.settle(1.0)
                running.write(XRAY)
                running.settle()
            yield from _stream(running, plan, kind, name, typing)

    return measure


def in_long_chat(plan: Plan) -> Iterator[Row]:
    """The same behind 1,000 messages."""
    with plan.chat("long", full=True) as running:
        _open_long_chat(running)
        running.settle()
        yield from _stream(running, plan, "prose", "prose behind 1,000 messages", True)


def paste(plan: Plan) -> Iterator[Row]:
    """A megabyte between paste marks, and keys right behind it."""
    with plan.chat("paste") as running:
        here, begun = len(running.output), time.perf_counter()
        running.write(PASTE[0] + MEGABYTE + PASTE[1])
        shown = running.sees(FOLDED, since=here) - begun
        yield Row("1 MB pasted, until its folded line is shown", shown, PASTED, "s", ours=True)
        running.write(b"\n")  # a row of its own for the letters
        times = echo(running, plan.seconds / 4, gap=(0.0, 0.1))
        yield Row(
            "slowest key behind it",
            max(times),
            BEHIND_PASTE,
            "ms",
            f"{len(times)} keys",
            ours=True,
            samples=tuple(times),
        )


def _stream(running: Program, plan: Plan, kind: str, name: str, typing: bool) -> Iterator[Row]:
    _answer(running, kind, 3 * plan.seconds + 30)
    running.run(SETTLED)
    yield _cpu(running, f"drawing at 150 tok/s, {name}", plan.seconds, DRAWING)
    if typing:
        before = running.look()[1]
        times = echo(running, plan.seconds)
        after = running.look()[1]
        remark = f"median {statistics.median(times) * 1000:.1f}, slowest {max(times) * 1000:.1f} ms, {len(times)} keys"
        yield Row(
            f"key echo (p95) while streaming {name}",
            percentile(times, 0.95),
            ECHO,
            "ms",
            remark,
            foreign=foreign(before, after),
            samples=tuple(times),
        )
    running.write(STOP)
    running.settle()


def _answer(running: Program, kind: str, seconds: float) -> None:
    """Ask for one, and wait until it has begun."""
    here = len(running.output)
    running.say(f"{kind} for {seconds:g} s")
    running.sees(BEGUN, since=here)


def _cpu(running: Program, name: str, seconds: float, target: float) -> Row:
    """CPU seconds of the interface's process a second."""
    own, everybody = running.look()
    begun = time.perf_counter()
    running.run(seconds)
    wall = time.perf_counter() - begun
    own_after, everybody_after = running.look()
    beside = foreign(everybody, everybody_after)
    return Row(name, (own_after - own) / wall, target, "% of a core", f"{wall:.0f} s", foreign=beside)


def _open_long_chat(running: Program) -> float:
    """Seconds from enter in the list of chats to the end of the long one on screen."""
    _to_first_chat(running)
    running.write(DOWN)
    running.settle()  # the preview beside the list shows the end of that chat, too
    here, begun = len(running.output), time.perf_counter()
    running.write(ENTER)
    return running.sees(PROMPT, LAST_WORDS.encode(), since=here) - begun


def _to_first_chat(running: Program) -> None:
    """The list of chats, with the newest one highlighted."""
    here = len(running.output)
    running.write(CHATS)
    running.settle()
    running.write(FIRST)
    running.sees(LAST_CHAT.encode(), since=here)  # the preview shows its end
    running.settle()


def _start(command: list[str], home: Path, *wanted: bytes) -> float:
    with program(command, home) as running:
        seconds = running.sees(*wanted) - running.begun
        running.settle()
    return seconds


def _starts(name: str, times: list[float], target: float) -> Row:
    remark = f"median of {len(times)}, slowest {max(times):.2f} s"
    return Row(name, statistics.median(times), target, "s", remark, samples=tuple(times))


MEASURES: Final[dict[str, Callable[[Plan], Iterator[Row]]]] = {
    "start": first_paint,
    "store": full_store,
    "idle": idle,
    "prose": streaming("prose", "prose"),
    "code": streaming("code", "one long code block"),
    "list": streaming("list", "one long list"),
    "xray": streaming("prose", "prose, X-ray on", xray=True, typing=False),
    "thoughts": streaming("thoughts", "a folded thought", typing=False),
    "long": in_long_chat,
    "paste": paste,
}
