"""A session in this process, asked directly."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from engine.protocol import (
    Event,
    Failed,
    Finished,
    Generate,
    GenerateSettings,
    GpuLayers,
    Load,
    Loaded,
    LoadSettings,
    Message,
    ModelFile,
    Prefilling,
    Sampling,
    TextDelta,
)
from engine.session import Session


class InProcess:
    """A session asked in this process, with a cancel that comes from another thread."""

    def __init__(self, threads: int) -> None:
        self.session = Session()
        self._threads, self._id = threads, 0

    def load(self, path: Path, layers: GpuLayers, context: int) -> Loaded:
        """Raises RuntimeError with the engine's words."""
        target = ModelFile(path=str(path), gpu_layers=layers)
        settings = LoadSettings(target=target, context=context, threads=self._threads)
        last = self.run(lambda emit: self.session.load(Load(id=self._id, settings=settings), emit))
        if not isinstance(last, Loaded):
            raise RuntimeError(f"{last.message} {last.detail}" if isinstance(last, Failed) else str(last))
        return last

    def ask(self, text: str, *, tokens: int, watch: Callable[[Event], None] = lambda event: None) -> Finished:
        """A greedy plain answer."""
        settings = GenerateSettings(
            messages=(Message(role="user", content=text),),
            sampling=Sampling(temperature=0.0),
            seed=1,
            speculation="off",
            max_tokens=tokens,
        )
        last = self.run(lambda emit: self.session.generate(Generate(id=self._id, settings=settings), emit), watch)
        if not isinstance(last, Finished):
            raise RuntimeError(f"no answer: {last}")
        return last

    def run(
        self, do: Callable[[Callable[[Event], None]], None], watch: Callable[[Event], None] = lambda event: None
    ) -> Event:
        """The last event of a request."""
        last: list[Event] = []

        def emit(event: Event) -> None:
            last[:] = [event]
            watch(event)

        self._id += 1
        self.session.abort.clear()
        do(emit)
        return last[0]

    def cancelled(self, text: str, *, in_prefill: bool, delay: float) -> float | None:
        """Seconds from the cancel to the end of the answer; None when the answer ended by itself, or the prompt was
        read already. The cancel comes ``delay`` seconds after the second piece of the prompt or of the answer."""
        pieces, stamps = 0, []

        def strike() -> None:
            stamps.append(time.perf_counter())
            self.session.abort.set()

        timer = threading.Timer(delay, strike)

        def watch(event: Event) -> None:
            nonlocal pieces
            if isinstance(event, Prefilling if in_prefill else TextDelta):
                pieces += 1
                if pieces == 2:
                    timer.start()

        answer = self.ask(text, tokens=512, watch=watch)
        ended = time.perf_counter()
        timer.cancel()
        if answer.finish_reason != "cancelled" or (in_prefill and answer.token_ids):
            return None
        return ended - stamps[0]
