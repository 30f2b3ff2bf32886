"""Our engine as a worker: the session that the engine process runs, asked with the public request settings."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.drafters.base import NOTHING, Draft
from engine.llama import backend
from engine.llama.context import Context
from engine.prompt import build_prompt
from engine.protocol import (
    Event,
    ExactnessMode,
    Finished,
    Generate,
    GenerateSettings,
    GpuLayers,
    Load,
    Loaded,
    LoadSettings,
    Message,
    ModelFile,
    Sampling,
    SpeculationMode,
)
from engine.session import Session
from tests.bench.deepen import weight_bytes
from tests.bench.worker import serve

FILLER = (
    "The ferry left the harbour at noon, and nobody on the quay waved; the gulls went with it as far as the light. "
)


class Oracle:
    """A drafter that knows the answer: the limit of what any drafter can bring at a given draft length."""

    name = "lookup"

    def __init__(self, answer: Sequence[int]) -> None:
        self._answer = list(answer)
        self._prompt = 0

    def begin(self, prompt: Sequence[int]) -> None:
        """See :class:`~engine.drafters.base.Drafter`."""
        self._prompt = len(prompt)

    def draft(self, history: Sequence[int], limit: int) -> Draft:
        """See :class:`~engine.drafters.base.Drafter`."""
        said = len(history) - self._prompt
        tokens = self._answer[said : said + limit]
        return Draft(tokens=tokens, drafter=self.name) if tokens else NOTHING

    def forget(self) -> None:
        """Nothing is learned."""


class EngineWorker:
    """Handlers of the requests ``load``, ``ids``, ``generate`` and ``costs``."""

    def __init__(self) -> None:
        self.session = Session()
        self._id = 0

    def _next(self) -> int:
        self._id += 1
        self.session.abort.clear()
        return self._id

    def load(
        self,
        target: str,
        draft: str | None,
        mode: ExactnessMode,
        context: int,
        threads: int | None,
        gpu_layers: GpuLayers = 0,
    ) -> dict[str, Any]:
        events: list[Event] = []
        settings = LoadSettings(
            target=ModelFile(path=target, gpu_layers=gpu_layers),
            draft=ModelFile(path=draft, gpu_layers=gpu_layers) if draft else None,
            context=context,
            threads=threads,
            mode=mode,
        )
        self.session.load(Load(id=self._next(), settings=settings), events.append)
        last = events[-1]
        if not isinstance(last, Loaded):
            raise RuntimeError(f"loading failed: {last}")
        if draft and last.pair.draft is None:
            raise RuntimeError(f"the draft was refused: {last.pair.draft_refused}")
        info = last.pair
        return {
            "badge": info.badge,
            "backend": info.backend,
            "threads": info.threads,
            "context": info.context,
            "template": info.template.name,
            "notes": list(info.notes),
            "gpu_layers": info.target.gpu_layers,
            "size_bytes": info.target.size_bytes,
            "weight_bytes": weight_bytes(Path(target)),
            "versions": backend.versions(),
            "system_info": backend.system_info().strip(),
        }

    def ids(self, text: str) -> dict[str, Any]:
        """The rendered prompt, so that peers get the very same tokens."""
        pair = self.session.pair
        assert pair is not None
        prompt = build_prompt(pair.template, pair.target.model.vocabulary, (Message(role="user", content=text),))
        return {"ids": list(prompt.ids)}

    def generate(
        self,
        text: str,
        speculation: SpeculationMode,
        temperature: float,
        seed: int,
        max_tokens: int,
        draft_max: int | None = None,
        oracle: Sequence[int] | None = None,
    ) -> dict[str, Any]:
        """One answer from an empty history. ``oracle``: the answer, for a drafter that proposes it."""
        pair = self.session.pair
        assert pair is not None
        self.session.forget()
        settings = GenerateSettings(
            messages=(Message(role="user", content=text),),
            sampling=Sampling(temperature=temperature),
            seed=seed,
            speculation=speculation,
            draft_max=draft_max,
            max_tokens=max_tokens,
        )
        events: list[Event] = []
        lookup = pair.lookup
        try:
            if oracle is not None:
                pair.lookup = Oracle(oracle)  # type: ignore[assignment]
            self.session.generate(Generate(id=self._next(), settings=settings), events.append)
        finally:
            pair.lookup = lookup
        last = events[-1]
        if not isinstance(last, Finished):
            raise RuntimeError(f"no answer: {last}")
        stats, receipt = last.stats, last.receipt
        rate = stats.decode_tokens_per_second
        return {
            "tokens": list(last.token_ids),
            "seconds": stats.total_seconds,
            "decode_seconds": stats.output_tokens / rate if rate else 0.0,
            "prompt_tokens": stats.prompt_tokens,
            "cached": stats.prompt_tokens_cached,
            "prefill_seconds": stats.prefill_seconds,
            "draft_prefill_seconds": stats.draft_prefill_seconds,
            "draft_seconds": stats.draft_seconds,
            "verify_seconds": stats.verify_seconds,
            "choose_seconds": stats.choose_seconds,
            "passes": stats.target_passes,
            "widths": {str(width): count for width, count in stats.pass_widths.items()},
            "drafted": stats.drafted,
            "accepted": stats.accepted,
            "rejected": stats.rejected,
            "finish": last.finish_reason,
            "draft_max": receipt.draft_max if receipt else None,
            "badge": receipt.mode if receipt else None,
            "notes": list(receipt.notes) if receipt else [],
        }

    def costs(self, behind: int, widest: int, repeats: int) -> dict[str, Any]:
        """Median seconds of a target pass over n tokens, n = 1..widest, and of a draft's pass over one token, each
        behind ``behind`` tokens. The widths take turns, so a change of load meets all of them."""
        pair = self.session.pair
        assert pair is not None
        self.session.forget()
        target = pair.target.context
        ids = pair.target.model.vocabulary.tokenize(FILLER * 40, parse_special=False)
        ids = (ids * (1 + (behind + widest) // len(ids)))[: behind + widest]
        draft = pair.draft.context if pair.draft is not None else None
        contexts: list[tuple[Context, range]] = [(target, range(1, widest + 1))]
        if draft is not None:
            contexts.append((draft, range(1, 2)))
        medians: list[list[float]] = []
        for context, widths in contexts:
            while context.length < behind:
                context.decode(ids[context.length : behind][: context.chunk], rows=0)
            times: dict[int, list[float]] = {width: [] for width in widths}
            for repeat in range(repeats + 1):  # the first round warms up
                for width in widths:
                    started = time.perf_counter()
                    context.decode(ids[behind : behind + width])
                    if repeat:
                        times[width].append(time.perf_counter() - started)
                    context.truncate(behind)
            medians.append([statistics.median(times[width]) for width in widths])
        self.session.forget()
        return {"behind": behind, "verify": medians[0], "draft": medians[1][0] if draft is not None else None}


def main() -> None:
    worker = EngineWorker()
    serve({"load": worker.load, "ids": worker.ids, "generate": worker.generate, "costs": worker.costs})
    worker.session.unload()


if __name__ == "__main__":
    main()
