"""What the client asks for."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from engine.protocol.record import ContextSize, ExactnessMode, GpuLayers, Overflow, Record, SpeculationMode

MOST: Final = 2**31 - 1
"""Of tokens: llama.cpp counts them in C's int, and no vocabulary or text is longer."""


class Message(Record):
    """One turn of a conversation, as it was said."""

    role: Literal["system", "user", "assistant"]
    content: str


class Sampling(Record):
    """How the target's distribution becomes one choice: llama.cpp's names, values and order of links.

    logit bias, penalties, DRY, top_n_sigma, top_k, typical_p, top_p, min_p, XTC, temperature; a grammar stands above
    them all. The defaults from ``typical_p`` on change nothing. Temperature 0 takes the largest logit behind all
    links. Penalties and DRY see the prompt and every emitted token; a grammar sees the answer only. Without ``top_k``
    and ``top_n_sigma`` the filters work on the whole vocabulary, which costs milliseconds a token.
    """

    temperature: float = Field(0.7, ge=0, le=10)
    top_k: int = Field(40, ge=0, le=MOST, description="0: off")
    top_p: float = Field(0.95, gt=0, le=1, description="1: off")
    min_p: float = Field(0.05, ge=0, le=1, description="0: off")
    typical_p: float = Field(1, gt=0, le=1, description="1: off")
    top_n_sigma: float = Field(0, ge=0, le=1000, description="0: off")
    repeat_penalty: float = Field(1, ge=0.01, le=100, description="1: off")
    repeat_last_n: int = Field(
        64, ge=-1, le=MOST, description="tokens that penalties look back; 0: off, -1: the whole text"
    )
    frequency_penalty: float = Field(0, ge=-100, le=100)
    presence_penalty: float = Field(0, ge=-100, le=100)
    dry_multiplier: float = Field(0, ge=0, le=1000, description="0: DRY is off")
    dry_base: float = Field(1.75, ge=1, le=100)
    dry_allowed_length: int = Field(2, ge=1, le=MOST, description="repeats of this many tokens and more are penalised")
    dry_penalty_last_n: int = Field(
        -1, ge=-1, le=MOST, description="tokens that DRY looks back; 0: off, -1: the whole text"
    )
    dry_sequence_breakers: tuple[str, ...] = ("\n", ":", '"', "*")
    xtc_probability: float = Field(0, ge=0, le=1, description="0: XTC is off")
    xtc_threshold: float = Field(0.1, ge=0, le=1, description="above 0.5 XTC is off")
    logit_bias: dict[int, Annotated[float, Field(ge=-1000, le=1000)]] = Field(
        {}, description="token id -> what is added to its logit; -1000 bans it in practice"
    )
    grammar: str | None = Field(None, description="GBNF with a rule named root; the answer's text follows it")
    json_schema: str | None = Field(None, description="a JSON schema as JSON text; the answer is JSON that fits it")


class ModelFile(Record):
    """A GGUF on this disk and how much of it goes to a GPU (ignored by a build without one)."""

    path: str
    gpu_layers: GpuLayers = "auto"


class LoadSettings(Record):
    """Which pair to hold in memory, and how. ``None`` lets the engine choose."""

    target: ModelFile
    draft: ModelFile | None = None
    draft_refused: str | None = Field(None, description="without a draft: why the one that was wanted is left out")
    context: ContextSize | None = Field(None, description="context window in tokens, for target and draft alike")
    threads: int | None = Field(None, ge=1)
    mode: ExactnessMode = "auto"


class AnswerSoFar(Record):
    """The beginning of an answer that was stopped, to be continued as if it never had been: token for token, given the
    messages, the settings and the seed (the receipt has it) that it was begun with, whoever drafts.

    ``token_ids``: the tokens that were chosen (of all parts, where it was continued before); they count whenever there
    are any, and ``text`` is then what they spell. Only ``text`` (no ids were kept, for example after a crash) is read
    into tokens that spell it, none of them a control token: a good continuation, but not the very same.
    """

    token_ids: tuple[int, ...] = ()
    text: str = ""


class GenerateSettings(Record):
    """One answer to be made.

    ``prompt_ids``: a prompt as it stands in a receipt, to be continued as it is; ``messages`` are then not looked at.
    ``fresh``: from an empty history, as in a process that has read nothing yet, so that runs can be compared.
    """

    messages: tuple[Message, ...]
    prompt_ids: tuple[int, ...] = ()
    fresh: bool = False
    answer_so_far: AnswerSoFar | None = Field(None, description="behind the messages: what the answer begins with")
    sampling: Sampling = Sampling()
    seed: int | None = Field(None, ge=0, lt=2**63, description="None: drawn at random, reported in the receipt")
    speculation: SpeculationMode = "auto"
    draft_max: int | None = Field(None, ge=0, le=64, description="longest draft; None: the engine's choice")
    max_tokens: int | None = Field(
        None,
        ge=1,
        le=MOST,
        description="of what is new (an answer so far does not count); None: until the context is full",
    )
    stop: tuple[str, ...] = ()
    overflow: Overflow = "stop"
    thinking: bool | None = Field(
        None, description="think before answering, where the chat template lets one choose; None: what it does itself"
    )


class Load(Record):
    kind: Literal["load"] = "load"
    id: int
    settings: LoadSettings


class Generate(Record):
    kind: Literal["generate"] = "generate"
    id: int
    settings: GenerateSettings


class Cancel(Record):
    """Stop the request ``target``, wherever it is: queued, loading, in prefill or decoding."""

    kind: Literal["cancel"] = "cancel"
    id: int
    target: int


class Describe(Record):
    """Ask for :class:`Described`."""

    kind: Literal["describe"] = "describe"
    id: int


class SelfTest(Record):
    """Find out now how exact the loaded target is here; otherwise that happens while nobody waits. Answered by
    :class:`SelfTested`."""

    kind: Literal["selftest"] = "selftest"
    id: int


class Replay(Record):
    """Make an answer again on the loaded target, by the passes of its receipt, and hold every choice against
    ``token_ids``. Answered by :class:`Replayed`.

    ``passes``: how the cache was filled (:mod:`engine.passes`); empty: the prompt in chunks, then token by token.
    ``continued_from``: so many of the last ``prompt_ids`` are the answer's own beginning, as in a receipt. ``watch``:
    ids whose probability at the last position is wanted, too.
    """

    kind: Literal["replay"] = "replay"
    id: int
    prompt_ids: tuple[int, ...]
    token_ids: tuple[int, ...]
    continued_from: int = Field(0, ge=0)
    passes: str = ""
    sampling: Sampling = Sampling()
    seed: int = Field(ge=0, lt=2**63)
    watch: tuple[int, ...] = ()


class Count(Record):
    """How many tokens a text takes, or with ``text`` None the prompt that ``messages`` make: rendered by the chat
    template, the opening of the answer included, nothing left out. Answered by :class:`Counted`; nothing is decoded.
    Like every request it waits until those before it are done, so while an answer is made it is answered behind it.
    """

    kind: Literal["count"] = "count"
    id: int
    messages: tuple[Message, ...] = ()
    text: str | None = None
    thinking: bool | None = Field(None, description="as in GenerateSettings")


Request = Annotated[Load | Generate | Cancel | Describe | SelfTest | Replay | Count, Field(discriminator="kind")]
