"""What events tell of models, pairs and answers."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from engine.protocol.record import Record, Rollback, SpeculationMode, Thinking
from engine.protocol.requests import GenerateSettings


class ModelInfo(Record):
    """A loaded model file."""

    path: str
    name: str = Field(description="general.name of the file, else the file's stem")
    architecture: str
    size_bytes: int
    fingerprint: str = Field(description="SHA-256 over the size, the first and the last MiB")
    sha256: str | None = Field(None, description="of the whole file; None until it was read, and in older records")
    layers: int
    gpu_layers: int = Field(description="layers really offloaded")
    context_trained: int
    vocabulary: int


class ThoughtMarkers(Record):
    """What stands before and behind a thinking block in the text of an answer."""

    open: str
    close: str


class TemplateInfo(Record):
    """Which chat template renders the conversation."""

    name: str = Field(description="'model' when it is the file's own, else the fallback's name")
    sha256: str
    notes: tuple[str, ...] = ()
    thinking: Thinking = Field("none", description="whether answers begin with thinking, and can be told not to")
    markers: tuple[ThoughtMarkers, ...] = Field((), description="of thinking blocks, those that the template knows")


PLAIN_ONLY = "this model keeps one running state; speculation needs to take tokens back"
"""Why a target is decoded plainly (:data:`Rollback` ``none``)."""


class SelfTestResult(Record):
    """How exact a target is on this machine (:mod:`engine.selftest`). ``widths``: the largest W such that passes of
    1..W tokens agree bit by bit; 1 when none does."""

    widths: int
    prefill: bool = Field(description="prefill in chunks leaves the same cache as decoding one by one")
    reuse: bool = Field(description="a prefix that was cut and continued is as good as a fresh one")
    threads: tuple[int, ...] = Field((), description="smaller numbers of threads that agree bit by bit, too")
    context: int = Field(description="tokens of context up to which this was compared")
    ratios: dict[int, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        description="time of a pass by width, over a plain pass"
    )
    plain_seconds: float
    prefill_tokens_per_second: float
    fast_plain_seconds: float = Field(description="a plain pass with the fast settings: what exactness costs")
    fast_prefill_tokens_per_second: float
    other_cores: float | None = Field(None, description="work of other programs meanwhile; None where that is unknown")

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
        return f"passes of more than {self.widths} token{'s' * (self.widths > 1)} round differently from single ones"


class PairInfo(Record):
    """What is loaded now, for the status line."""

    target: ModelInfo
    draft: ModelInfo | None
    draft_refused: str | None = Field(None, description="why a draft that was asked for is not used")
    template: TemplateInfo
    context: int
    threads: int
    backend: str = Field(description="for example 'CPU' or 'CUDA0 (NVIDIA RTX 4090)'")
    build: str = Field("", description="as Receipt.build; empty: not told")
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


class AttachedFile(Record):
    """A file whose text went along with the conversation, as it was then."""

    path: str = Field(description="as the user named it")
    sha256: str
    modified: str = Field(description="when the file had been changed last, UTC, ISO 8601; empty: not known")


class Receipt(Record):
    """What is needed to check an answer and to make it again. Stored with the answer."""

    version: int = 1
    created: str = Field(description="UTC, ISO 8601")
    target: ModelInfo
    draft: ModelInfo | None
    draft_refused: str | None = None
    template: TemplateInfo
    prompt_ids: tuple[int, ...] = Field(description="all that stood before the first new token")
    continued_from: int = Field(
        0, description="so many of the last prompt_ids are the answer's own beginning, which was continued; 0: none"
    )
    starts_in_thought: bool = Field(
        False, description="the prompt itself opens a thinking block: the answer, its beginning included, starts in one"
    )
    dropped_messages: int = Field(0, description="oldest messages left out of the prompt (system messages never are)")
    settings: GenerateSettings = Field(
        description="as requested, without messages and answer so far (prompt_ids has them)"
    )
    seed: int
    drafter: str = Field(description="'none', 'lookup', 'draft' or 'lookup+draft': what could propose")
    draft_max: int = Field(description="longest draft really allowed")
    mode: str
    backend: str
    threads: int
    context: int
    prefill_chunk: int
    passes: str = Field("", description="by which passes the cache was filled; left out in exact mode, where it is one")
    stop: tuple[str, ...] = Field((), description="stop strings that the chat template needs")
    versions: dict[str, str]
    build: str = Field("", description="hash of llama.cpp's instruction sets and options; empty in older receipts")
    notes: tuple[str, ...] = Field((), description="everything that was done otherwise than asked, and why")
    attachments: tuple[AttachedFile, ...] = Field(
        (), description="files that the conversation quotes; added by the app, since the engine sees only the prompt"
    )
    seal: str = Field("", description="over what makes the answer; added by the app, empty in older receipts")
    text_sha256: str = Field("", description="of the answer's whole text; added by the app, empty in older receipts")
    text_lengths: tuple[int, ...] = Field(
        (), description="characters of the answer's text that each token completed; empty in older receipts"
    )


class Difference(Record):
    """The first token of an answer that was chosen otherwise when it was made again. Probabilities are the target's
    own, before temperature and filters."""

    index: int = Field(description="place in the answer, from 0")
    expected: int
    chosen: int
    expected_probability: float
    chosen_probability: float
    width: int = Field(description="tokens of the pass that chose")


class Outgrown(Record):
    """A conversation that does not fit the context, and what leaving out its oldest turns would make of it."""

    tokens: int = Field(description="that would have to be sent, the answer so far included")
    context: int = Field(description="tokens that the window holds")
    dropped: int = Field(description="oldest messages to leave out (system messages never are); 0: that does not help")
    left: int = Field(description="tokens that would still have to be sent")


class ErrorCode(StrEnum):
    """What went wrong, for code; people read :attr:`Failed.message`."""

    NO_SUCH_FILE = "no_such_file"
    NOT_GGUF = "not_gguf"
    TRUNCATED_GGUF = "truncated_gguf"
    LOAD_FAILED = "load_failed"
    BROKEN_MODEL = "broken_model"
    NO_MODEL = "no_model"
    PROMPT_TOO_LARGE = "prompt_too_large"
    TEMPLATE_FAILED = "template_failed"
    CANCELLED = "cancelled"
    BAD_REQUEST = "bad_request"
    BAD_SETTINGS = "bad_settings"
    ENGINE_STOPPED = "engine_stopped"
    INTERNAL = "internal"


class Device(Record):
    name: str
    description: str
    kind: Literal["cpu", "gpu", "igpu", "accelerator"]
    memory_total: int
    memory_free: int
