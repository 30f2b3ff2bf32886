"""A scripted engine in this process: what it will say, and where it waits, is written down beforehand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field

from app.tui.ports import AnswerEvent, LoadEvent
from engine.protocol import (
    Counted,
    Described,
    Device,
    ErrorCode,
    Failed,
    Finished,
    FinishReason,
    GenerateSettings,
    Loaded,
    Loading,
    LoadSettings,
    Message,
    ModelFile,
    ModelInfo,
    PairInfo,
    Prefilling,
    Progress,
    Receipt,
    Replay,
    Replayed,
    SelfTested,
    SelfTestResult,
    Started,
    TemplateInfo,
    TextDelta,
    ThoughtMarkers,
)
from engine.stats import Stats

THINK = ThoughtMarkers(open="<think>", close="</think>")
TEMPLATE = TemplateInfo(name="model", sha256="0" * 64, thinking="switchable", markers=(THINK,))
MODEL_PATH = "/models/SmolLM2-135M-Instruct.Q4_1.gguf"
LOAD = LoadSettings(target=ModelFile(path=MODEL_PATH))


def model(path: str = MODEL_PATH, name: str = "Smollm2 135M 8k Lc100K Mix1 Ep2") -> ModelInfo:
    return ModelInfo(
        path=path,
        name=name,
        architecture="llama",
        size_bytes=98_000_000,
        fingerprint="f" * 64,
        layers=30,
        gpu_layers=0,
        context_trained=8192,
        vocabulary=49152,
    )


def pair_of(settings: LoadSettings) -> PairInfo:
    """The pair that was asked for."""
    draft = model(settings.draft.path) if settings.draft else None
    return pair(draft=draft, context=settings.context or 8192).model_copy(
        update={"target": model(settings.target.path)}
    )


def pair(*, draft: ModelInfo | None = None, refused: str | None = None, context: int = 8192) -> PairInfo:
    return PairInfo(
        target=model(),
        draft=draft,
        draft_refused=refused,
        template=TEMPLATE,
        context=context,
        threads=2,
        backend="CPU",
        badge="exact settings, untested",
        load_seconds=0.4,
    )


def stats(output: int = 47, *, accepted: int = 18, rejected: int = 10, prompt: int = 31, **more: object) -> Stats:
    passes = max(1, output - accepted)
    values: dict[str, object] = {
        "prompt_tokens": prompt,
        "output_tokens": output,
        "target_passes": passes,
        "drafted": accepted + rejected,
        "accepted": accepted,
        "rejected": rejected,
        "acceptance": accepted / (accepted + rejected) if accepted + rejected else None,
        "tokens_per_pass": output / passes,
        "decode_tokens_per_second": 38.7,
        "time_to_first_token": 0.31,
        "total_seconds": 1.5,
    }
    return Stats.model_validate({**values, **more})


def receipt(drafter: str = "lookup", *, refused: str | None = None, notes: tuple[str, ...] = ()) -> Receipt:
    return Receipt(
        created="2026-11-29T15:00:00Z",
        target=model(),
        draft=None,
        draft_refused=refused,
        template=TEMPLATE,
        prompt_ids=(1, 2, 3),
        settings=GenerateSettings(messages=()),
        seed=7,
        drafter=drafter,
        draft_max=10,
        mode="exact settings, untested",
        backend="CPU",
        threads=2,
        context=8192,
        prefill_chunk=512,
        versions={},
        notes=notes,
    )


@dataclass(frozen=True)
class Wait:
    """The script stands still here until :meth:`FakeClient.go` is called with this name, or a cancel comes."""

    name: str


@dataclass(frozen=True)
class Crash:
    """The engine process dies."""

    signal: str = "signal 9, killed; out of memory?"


Step = AnswerEvent | Wait | Crash


def says(text: str, *, size: int = 4) -> list[Step]:
    """``text`` in pieces of ``size`` characters."""
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return [TextDelta(id=0, text=piece, token_ids=(1,), sources="t", completed=(len(piece),)) for piece in pieces]


def starts(proof: Receipt | None = None) -> Started:
    return Started(id=0, receipt=proof or receipt())


def unread(read: Prefilling) -> Stats:
    """Of an answer that was stopped while its prompt was read."""
    prompt = read.total + 1
    return stats(0, accepted=0, rejected=0, prompt=prompt, prompt_tokens_unread=prompt - read.done)


def reads(done: int, total: int) -> Prefilling:
    return Prefilling(id=0, done=done, total=total)


def counts(figures: Stats | None = None, drafter: str = "lookup") -> Progress:
    return Progress(id=0, stats=figures or stats(), drafter=drafter)


def ends(
    text: str,
    *,
    reason: FinishReason = "stop",
    figures: Stats | None = None,
    proof: Receipt | None = None,
) -> Finished:
    return Finished(
        id=0,
        finish_reason=reason,
        text=text,
        token_ids=(1, 2),
        sources="tl",
        stats=figures or stats(),
        receipt=proof or receipt(),
    )


def answer(text: str, **more: object) -> list[Step]:
    """A whole answer."""
    return [reads(31, 31), *says(text), ends(text, **more)]  # type: ignore[arg-type]


def failure(code: ErrorCode, message: str) -> Failed:
    return Failed(id=0, code=code, message=message)


@dataclass
class FakeClient:
    """Behaves like EngineClient. ``scripts``: one list of steps for each answer; ``loads``: the steps of each load."""

    scripts: list[Sequence[Step]] = field(default_factory=list)
    loads: list[Sequence[LoadEvent | Wait]] = field(default_factory=list)
    pair: PairInfo | None = None
    asked: list[GenerateSettings] = field(default_factory=list)
    cancels: int = 0
    loaded: list[LoadSettings] = field(default_factory=list)
    """Every pair that was asked for."""
    replayed: list[Replay] = field(default_factory=list)
    replies: list[Replayed | Failed] = field(default_factory=list)
    """What comes of replays; when there is nothing left all tokens are the same."""
    tested: SelfTestResult | None = None
    """What the self-test finds; None: this model cannot be tested."""
    closed: bool = False
    on_pair_change: Callable[[PairInfo], None] = field(default=lambda pair: None)
    devices: tuple[Device, ...] = ()
    """GPUs that the engine found."""
    at_once: int = 0
    """The largest number of answers that were in the making at one time."""
    _gates: dict[str, asyncio.Event] = field(default_factory=dict)
    _cancelled: asyncio.Event | None = None
    _load_cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    _making: int = 0

    running = True
    pid = None

    async def start(self) -> None:
        pass

    def go(self, name: str) -> None:
        """Let the script pass this :class:`Wait`."""
        self._gate(name).set()

    def _gate(self, name: str) -> asyncio.Event:
        return self._gates.setdefault(name, asyncio.Event())

    async def load(self, settings: LoadSettings) -> AsyncGenerator[LoadEvent, None]:
        self.loaded.append(settings)
        self._load_cancelled = asyncio.Event()
        self.pair = None
        steps = self.loads.pop(0) if self.loads else [Loading(id=0, what="target", fraction=1.0)]
        for step in steps:
            await asyncio.sleep(0)
            if isinstance(step, Wait):
                await self._first(self._gate(step.name), self._load_cancelled)
                if self._load_cancelled.is_set():
                    yield failure(ErrorCode.CANCELLED, "Loading was stopped.")
                    return
                continue
            if isinstance(step, Loaded):
                self.pair = step.pair
            yield step
            if isinstance(step, (Loaded, Failed)):
                return
        self.pair = pair_of(settings)
        yield Loaded(id=0, pair=self.pair)

    async def generate(self, settings: GenerateSettings) -> AsyncGenerator[AnswerEvent, None]:
        self.asked.append(settings)
        self._cancelled = asyncio.Event()
        self._making += 1
        self.at_once = max(self.at_once, self._making)
        try:
            if self.pair is None:
                async for event in self.load(self.loaded[-1] if self.loaded else LOAD):
                    yield event
                    if isinstance(event, Failed):
                        return
            steps = self.scripts.pop(0) if self.scripts else answer("Yes.")
            said = ""
            read: Prefilling | None = None
            for step in steps:
                await asyncio.sleep(0)
                if isinstance(step, Wait):
                    await self._wait(step)
                if self._cancelled.is_set():
                    yield ends(said, reason="cancelled", figures=unread(read) if read and not said else None)
                    return
                if isinstance(step, Crash):
                    self.pair = None
                    yield failure(
                        ErrorCode.ENGINE_STOPPED,
                        f"The engine stopped ({step.signal}). What arrived so far is kept; send again to start a new "
                        "engine.",
                    )
                    return
                if isinstance(step, Prefilling):
                    read = step
                if isinstance(step, TextDelta):
                    said += step.text
                if not isinstance(step, Wait):
                    yield step
        finally:
            self._making -= 1
            self._cancelled = None

    async def count(
        self, messages: Sequence[Message] = (), *, text: str | None = None, thinking: bool | None = None
    ) -> Counted | Failed:
        """A token a word, and four around each message."""
        await asyncio.sleep(0)
        if self.pair is None:
            return failure(ErrorCode.NO_MODEL, "No model is loaded, so tokens cannot be counted.")
        said = [message.content for message in messages] if text is None else [text]
        tokens = sum(len(words.split()) + (4 if text is None else 0) for words in said)
        return Counted(id=0, tokens=tokens, context=self.pair.context)

    async def _wait(self, step: Wait) -> None:
        assert self._cancelled is not None
        await self._first(self._gate(step.name), self._cancelled)

    @staticmethod
    async def _first(*events: asyncio.Event) -> None:
        waits = [asyncio.ensure_future(event.wait()) for event in events]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def cancel(self) -> None:
        self.cancels += 1
        self._load_cancelled.set()
        if self._cancelled is not None:
            self._cancelled.set()

    async def replay(self, wanted: Replay) -> AsyncGenerator[Loading | Loaded | Prefilling | Replayed | Failed, None]:
        self.replayed.append(wanted)
        yield self.replies.pop(0) if self.replies else Replayed(id=0, compared=len(wanted.token_ids))

    async def self_test(self) -> SelfTested | Failed:
        await asyncio.sleep(0)
        if self.tested is None:
            return failure(ErrorCode.BAD_REQUEST, "This model keeps running states.")
        return SelfTested(id=0, result=self.tested)

    async def describe(self) -> Described | Failed:
        return Described(
            id=0,
            versions={},
            system_info="",
            devices=self.devices,
            gpu_offload=bool(self.devices),
            threads=2,
            cores="2 cores",
            environment={},
            exact_settings={},
        )

    async def close(self) -> None:
        self.closed = True
        if self._cancelled is not None:
            self._cancelled.set()
