"""The words that cross the process boundary: requests in, events out, one JSON object a line.

Every request carries an ``id`` chosen by the client; every event carries the ``id`` of the request it belongs to
(0: the process itself). Events of one request end with exactly one :class:`Loaded`, :class:`Finished`,
:class:`Described`, :class:`SelfTested` or :class:`Failed`.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from pydantic_core import PydanticSerializationError

from engine.stats import Stats

MAX_LINE_BYTES = 16 * 1024 * 1024
"""Longest line either side accepts; asyncio's own default of 64 KiB cannot carry a pasted document."""

SpeculationMode = Literal["off", "lookup", "draft", "auto"]
ExactnessMode = Literal["auto", "exact", "fast"]
FinishReason = Literal["stop", "length", "cancelled"]
LoadingWhat = Literal["target", "draft"]
GpuLayers = int | Literal["auto", "all"]
Rollback = Literal["full", "bounded", "none"]
"""What a model's memory can take back: a tail of any length, a few tokens of the last pass, or nothing."""
Overflow = Literal["stop", "drop-oldest"]
"""What becomes of a conversation that outgrows the context: it is refused, or its oldest turns are left out."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


# ---------------------------------------------------------------------------------------------- what requests hold


class Message(_Record):
    """One turn of a conversation, as it was said."""

    role: Literal["system", "user", "assistant"]
    content: str


class Sampling(_Record):
    """How the target's distribution becomes one choice: llama.cpp's names, values and order of links.

    logit bias, penalties, DRY, top_n_sigma, top_k, typical_p, top_p, min_p, XTC, temperature; a grammar stands above
    them all. The defaults from ``typical_p`` on change nothing. Temperature 0 takes the largest logit behind all
    links. Penalties and DRY see the prompt and every emitted token; a grammar sees the answer only. Without ``top_k``
    and ``top_n_sigma`` the filters work on the whole vocabulary, which costs milliseconds a token.
    """

    temperature: float = Field(0.7, ge=0, le=10)
    top_k: int = Field(40, ge=0, description="0: off")
    top_p: float = Field(0.95, gt=0, le=1, description="1: off")
    min_p: float = Field(0.05, ge=0, le=1, description="0: off")
    typical_p: float = Field(1, gt=0, le=1, description="1: off")
    top_n_sigma: float = Field(0, ge=0, le=1000, description="0: off")
    repeat_penalty: float = Field(1, ge=0.01, le=100, description="1: off")
    repeat_last_n: int = Field(64, ge=-1, description="tokens that penalties look back; 0: off, -1: the whole text")
    frequency_penalty: float = Field(0, ge=-100, le=100)
    presence_penalty: float = Field(0, ge=-100, le=100)
    dry_multiplier: float = Field(0, ge=0, le=1000, description="0: DRY is off")
    dry_base: float = Field(1.75, ge=1, le=100)
    dry_allowed_length: int = Field(2, ge=1, description="repeats of this many tokens and more are penalised")
    dry_penalty_last_n: int = Field(-1, ge=-1, description="tokens that DRY looks back; 0: off, -1: the whole text")
    dry_sequence_breakers: tuple[str, ...] = ("\n", ":", '"', "*")
    xtc_probability: float = Field(0, ge=0, le=1, description="0: XTC is off")
    xtc_threshold: float = Field(0.1, ge=0, le=1, description="above 0.5 XTC is off")
    logit_bias: dict[int, Annotated[float, Field(ge=-1000, le=1000)]] = Field(
        {}, description="token id -> what is added to its logit; -1000 bans it in practice"
    )
    grammar: str | None = Field(None, description="GBNF with a rule named root; the answer's text follows it")
    json_schema: str | None = Field(None, description="a JSON schema as JSON text; the answer is JSON that fits it")


class ModelFile(_Record):
    """A GGUF on this disk and how much of it goes to a GPU (ignored by a build without one)."""

    path: str
    gpu_layers: GpuLayers = "auto"


class LoadSettings(_Record):
    """Which pair to hold in memory, and how. ``None`` lets the engine choose."""

    target: ModelFile
    draft: ModelFile | None = None
    context: int | None = Field(None, ge=16, description="context window in tokens, for target and draft alike")
    threads: int | None = Field(None, ge=1)
    mode: ExactnessMode = "auto"


class GenerateSettings(_Record):
    """One answer to be made."""

    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()
    seed: int | None = Field(None, ge=0, lt=2**63, description="None: drawn at random, reported in the receipt")
    speculation: SpeculationMode = "auto"
    draft_max: int | None = Field(None, ge=0, le=64, description="longest draft; None: the engine's choice")
    max_tokens: int | None = Field(None, ge=1, description="None: until the context is full")
    stop: tuple[str, ...] = ()
    overflow: Overflow = "stop"


class Load(_Record):
    kind: Literal["load"] = "load"
    id: int
    settings: LoadSettings


class Generate(_Record):
    kind: Literal["generate"] = "generate"
    id: int
    settings: GenerateSettings


class Cancel(_Record):
    """Stop the request ``target``, wherever it is: queued, loading, in prefill or decoding."""

    kind: Literal["cancel"] = "cancel"
    id: int
    target: int


class Describe(_Record):
    """Ask for :class:`Described`."""

    kind: Literal["describe"] = "describe"
    id: int


class SelfTest(_Record):
    """Find out now how exact the loaded target is here; otherwise that happens while nobody waits. Answered by
    :class:`SelfTested`."""

    kind: Literal["selftest"] = "selftest"
    id: int


Request = Annotated[Load | Generate | Cancel | Describe | SelfTest, Field(discriminator="kind")]

# ------------------------------------------------------------------------------------------------ what events hold


class ModelInfo(_Record):
    """A loaded model file."""

    path: str
    name: str = Field(description="general.name of the file, else the file's stem")
    architecture: str
    size_bytes: int
    fingerprint: str = Field(description="SHA-256 over the size, the first and the last MiB")
    layers: int
    gpu_layers: int = Field(description="layers really offloaded")
    context_trained: int
    vocabulary: int


class TemplateInfo(_Record):
    """Which chat template renders the conversation."""

    name: str = Field(description="'model' when it is the file's own, else the fallback's name")
    sha256: str
    notes: tuple[str, ...] = ()


PLAIN_ONLY = "this model keeps one running state; speculation needs to take tokens back"
"""Why a target is decoded plainly (:data:`Rollback` ``none``)."""


class SelfTestResult(_Record):
    """How exact a target is on this machine (:mod:`engine.selftest`). ``widths``: the largest W such that passes of
    1..W tokens agree bit by bit; 1 when none does."""

    widths: int
    prefill: bool = Field(description="prefill in chunks leaves the same cache as decoding one by one")
    reuse: bool = Field(description="a prefix that was cut and continued is as good as a fresh one")
    context: int = Field(description="tokens of context up to which this was compared")
    ratios: dict[int, float] = Field(description="time of a pass by width, over a plain pass")
    plain_seconds: float
    prefill_tokens_per_second: float
    fast_plain_seconds: float = Field(description="a plain pass with the fast settings: what exactness costs")
    fast_prefill_tokens_per_second: float

    @property
    def exact(self) -> bool:
        """Whether drafts may be verified in exact mode: W >= 4, and the cache independent of how it was filled."""
        return self.widths >= 4 and self.prefill and self.reuse

    @property
    def words(self) -> str:
        """The finding in one sentence."""
        if self.exact:
            return (
                f"passes of up to {self.widths} tokens and the prefill agree bit for bit, "
                f"tested up to {self.context} tokens of context"
            )
        if not self.prefill:
            return "reading a prompt rounds differently from decoding it"
        if not self.reuse:
            return "a reused prefix rounds differently from a fresh one"
        return f"passes of more than {self.widths} tokens round differently from single ones"


class PairInfo(_Record):
    """What is loaded now, for the status line."""

    target: ModelInfo
    draft: ModelInfo | None
    draft_refused: str | None = Field(None, description="why a draft that was asked for is not used")
    template: TemplateInfo
    context: int
    threads: int
    backend: str = Field(description="for example 'CPU' or 'CUDA0 (NVIDIA RTX 4090)'")
    badge: str = Field(description="'exact', 'exact settings, untested' or 'fast'")
    exactness: SelfTestResult | None = Field(None, description="what the self-test found; None: not tested yet")
    rollback: Rollback = Field("full", description="what the target's memory can take back, found by trying")
    notes: tuple[str, ...] = ()
    load_seconds: float

    def available(self) -> dict[SpeculationMode, str | None]:
        """Every speculation mode -> None when it can be used now, else the reason why not."""
        if self.rollback == "none":
            return {"off": None, "lookup": PLAIN_ONLY, "draft": PLAIN_ONLY, "auto": PLAIN_ONLY}
        no_draft = None if self.draft else (self.draft_refused or "no draft model chosen")
        return {"off": None, "lookup": None, "draft": no_draft, "auto": None}


class Receipt(_Record):
    """What is needed to check an answer and to make it again. Stored with the answer."""

    version: int = 1
    created: str = Field(description="UTC, ISO 8601")
    target: ModelInfo
    draft: ModelInfo | None
    draft_refused: str | None = None
    template: TemplateInfo
    prompt_ids: tuple[int, ...]
    dropped_messages: int = Field(0, description="oldest messages left out of the prompt (system messages never are)")
    settings: GenerateSettings = Field(description="as requested; the messages are left out (prompt_ids has them)")
    seed: int
    drafter: str = Field(description="'none', 'lookup', 'draft' or 'lookup+draft': what could propose")
    draft_max: int = Field(description="longest draft really allowed")
    mode: str
    backend: str
    threads: int
    context: int
    prefill_chunk: int
    versions: dict[str, str]
    notes: tuple[str, ...] = Field((), description="everything that was done otherwise than asked, and why")


class ErrorCode(StrEnum):
    """What went wrong, for code; people read :attr:`Failed.message`."""

    NO_SUCH_FILE = "no_such_file"
    NOT_GGUF = "not_gguf"
    TRUNCATED_GGUF = "truncated_gguf"
    LOAD_FAILED = "load_failed"
    NO_MODEL = "no_model"
    PROMPT_TOO_LARGE = "prompt_too_large"
    TEMPLATE_FAILED = "template_failed"
    CANCELLED = "cancelled"
    BAD_REQUEST = "bad_request"
    BAD_SETTINGS = "bad_settings"
    ENGINE_STOPPED = "engine_stopped"
    INTERNAL = "internal"


class Ready(_Record):
    """The process is up; sent once, before anything else."""

    kind: Literal["ready"] = "ready"
    id: int = 0
    pid: int
    versions: dict[str, str]


class Loading(_Record):
    kind: Literal["loading"] = "loading"
    id: int
    what: LoadingWhat
    fraction: float = Field(ge=0, le=1)


class Loaded(_Record):
    kind: Literal["loaded"] = "loaded"
    id: int
    pair: PairInfo


class Prefilling(_Record):
    """Progress of reading the prompt; ``done`` counts cached tokens too."""

    kind: Literal["prefilling"] = "prefilling"
    id: int
    done: int
    total: int


class TextDelta(_Record):
    """New text. ``sources`` has one letter a token: ``t`` the target in a pass without a draft, ``l`` proposed by
    lookup, ``d`` proposed by the draft model, ``c`` the target's correction of a rejected proposal, ``b`` the
    target's bonus token behind a wholly accepted draft. Tokens may come with text that follows later (an incomplete
    character or a possible stop string is held back), so ``text`` may be empty."""

    kind: Literal["text"] = "text"
    id: int
    text: str
    token_ids: tuple[int, ...] = ()
    sources: str = ""


class Progress(_Record):
    """The live figures, at most five times a second."""

    kind: Literal["progress"] = "progress"
    id: int
    stats: Stats
    drafter: str


class Finished(_Record):
    """An answer ended. ``text`` is the whole answer (the joined deltas equal it)."""

    kind: Literal["finished"] = "finished"
    id: int
    finish_reason: FinishReason
    text: str
    token_ids: tuple[int, ...]
    sources: str
    stats: Stats
    receipt: Receipt | None = Field(description="None only when the engine had to be killed to honour a cancel")


class Failed(_Record):
    """The request ended in an error. ``message`` is for people: what happened, what was kept, what to do."""

    kind: Literal["failed"] = "failed"
    id: int
    code: ErrorCode
    message: str
    detail: str = Field("", description="log lines or numbers for the details pane, never a traceback on screen")


class Device(_Record):
    name: str
    description: str
    kind: Literal["cpu", "gpu", "igpu", "accelerator"]
    memory_total: int
    memory_free: int


class Described(_Record):
    """Build, devices and settings of the engine, for ``doctor``."""

    kind: Literal["described"] = "described"
    id: int
    versions: dict[str, str]
    system_info: str
    devices: tuple[Device, ...]
    gpu_offload: bool
    threads: int
    cores: str = Field(description="how the thread count came about")
    environment: dict[str, str] = Field(description="variables set before the library loaded")
    exact_settings: dict[str, str]


class SelfTested(_Record):
    kind: Literal["selftested"] = "selftested"
    id: int
    result: SelfTestResult


class PairChanged(_Record):
    """Something became known about the loaded pair while nobody asked (``id`` 0): the badge, for the status line."""

    kind: Literal["pair"] = "pair"
    id: int = 0
    pair: PairInfo


Event = Annotated[
    Ready
    | Loading
    | Loaded
    | Prefilling
    | TextDelta
    | Progress
    | Finished
    | Failed
    | Described
    | SelfTested
    | PairChanged,
    Field(discriminator="kind"),
]

REQUESTS: TypeAdapter[Load | Generate | Cancel | Describe | SelfTest] = TypeAdapter(Request)
EVENTS: TypeAdapter[
    Ready
    | Loading
    | Loaded
    | Prefilling
    | TextDelta
    | Progress
    | Finished
    | Failed
    | Described
    | SelfTested
    | PairChanged
] = TypeAdapter(Event)


def encode(record: BaseModel) -> bytes:
    """One JSON line, newline included. Lone surrogates become replacement marks: a line is always valid UTF-8."""
    try:
        return record.model_dump_json().encode() + b"\n"
    except PydanticSerializationError:  # text that came in by way of surrogateescape, or from a damaged file
        text = json.dumps(record.model_dump(mode="python"), ensure_ascii=False)
        return text.encode("utf-8", "replace") + b"\n"
