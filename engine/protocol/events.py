"""What the engine process says."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from engine.protocol.record import FinishReason, LoadingWhat, Record
from engine.protocol.results import Device, Difference, ErrorCode, Outgrown, PairInfo, Receipt, SelfTestResult
from engine.stats import Stats


class Ready(Record):
    """The process is up; sent once, before anything else."""

    kind: Literal["ready"] = "ready"
    id: int = 0
    pid: int
    versions: dict[str, str]


class Loading(Record):
    kind: Literal["loading"] = "loading"
    id: int
    what: LoadingWhat
    fraction: float = Field(ge=0, le=1)


class Loaded(Record):
    kind: Literal["loaded"] = "loaded"
    id: int
    pair: PairInfo


class Started(Record):
    """An answer is begun: its prompt is made and its seed is drawn; comes before anything is read. ``receipt`` holds
    what is known then; passes, later notes and text lengths are still to come. Whoever keeps it can show and continue
    an answer whose end never came."""

    kind: Literal["started"] = "started"
    id: int
    receipt: Receipt


class Prefilling(Record):
    """Progress of reading the prompt; ``done`` counts cached tokens too. ``starts_in_thought``: see
    :class:`~engine.protocol.results.Receipt`; it is known before the first text."""

    kind: Literal["prefilling"] = "prefilling"
    id: int
    done: int
    total: int
    starts_in_thought: bool = False


class TextDelta(Record):
    """New text. ``sources`` has one letter a token: ``t`` the target in a pass without a draft, ``l`` proposed by
    lookup, ``d`` proposed by the draft model, ``c`` the target's correction of a rejected proposal, ``b`` the
    target's bonus token behind a wholly accepted draft. Tokens may come with text that follows later (an incomplete
    character or a possible stop string is held back), so ``text`` may be empty. ``completed``: characters that each
    token completes, shown now or later; those of a stop string, never."""

    kind: Literal["text"] = "text"
    id: int
    text: str
    token_ids: tuple[int, ...] = ()
    sources: str = ""
    completed: tuple[int, ...] = ()


class Progress(Record):
    """The live figures, at most five times a second."""

    kind: Literal["progress"] = "progress"
    id: int
    stats: Stats
    drafter: str


class Finished(Record):
    """An answer ended. ``text`` is the whole answer (the joined deltas equal it).

    Where an answer was continued, text, tokens, sources and figures are those of the new part. ``retracted``: so many
    characters at the end of the old text turned out to begin a stop string that the new part completed; the whole
    answer is ``old[: len(old) - retracted] + text``.
    """

    kind: Literal["finished"] = "finished"
    id: int
    finish_reason: FinishReason
    text: str
    retracted: int = 0
    token_ids: tuple[int, ...]
    sources: str
    stats: Stats
    receipt: Receipt | None = Field(description="None only when the engine had to be killed to honour a cancel")


class Failed(Record):
    """The request ended in an error. ``message`` is for people: what happened, what was kept, what to do."""

    kind: Literal["failed"] = "failed"
    id: int
    code: ErrorCode
    message: str
    detail: str = Field("", description="log lines or numbers for the details pane, never a traceback on screen")
    outgrown: Outgrown | None = Field(None, description="where a conversation was too large for the context")


class Described(Record):
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


class SelfTested(Record):
    kind: Literal["selftested"] = "selftested"
    id: int
    result: SelfTestResult


class Replayed(Record):
    """What became of an answer that was made again."""

    kind: Literal["replayed"] = "replayed"
    id: int
    compared: int = Field(description="tokens of the answer that were chosen again")
    difference: Difference | None = Field(None, description="the first one; None: all are the same")
    watched: dict[int, float] = Field({}, description="token id -> the target's probability at the last position")


class Counted(Record):
    """The answer to :class:`~engine.protocol.requests.Count`. ``context``: tokens that the window holds."""

    kind: Literal["counted"] = "counted"
    id: int
    tokens: int
    context: int


class PairChanged(Record):
    """Something became known about the loaded pair while nobody asked (``id`` 0): the badge, for the status line."""

    kind: Literal["pair"] = "pair"
    id: int = 0
    pair: PairInfo


Event = Annotated[
    Ready
    | Loading
    | Loaded
    | Started
    | Prefilling
    | TextDelta
    | Progress
    | Finished
    | Failed
    | Described
    | SelfTested
    | Replayed
    | Counted
    | PairChanged,
    Field(discriminator="kind"),
]
