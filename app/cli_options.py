"""The options that several commands share: their types, and the groups in which commands take them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer


class Speculation(StrEnum):
    """Who may propose tokens."""

    OFF = "off"
    LOOKUP = "lookup"
    DRAFT = "draft"
    AUTO = "auto"


class Overflow(StrEnum):
    """What to do with a conversation that outgrows the context window."""

    STOP = "stop"
    DROP_OLDEST = "drop-oldest"


class Mode(StrEnum):
    """Whether passes of every width must round alike."""

    AUTO = "auto"
    EXACT = "exact"
    FAST = "fast"


MODEL, ANSWER, SAMPLER, MACHINE = "Model", "Answer", "Samplers", "Machine"

Model = Annotated[str | None, typer.Option(metavar="PATH|NAME", help="The model that answers.", rich_help_panel=MODEL)]
ModelOrPair = Annotated[
    str | None,
    typer.Option("--model", "--pair", metavar="PATH|NAME", help="The model that answers.", rich_help_panel=MODEL),
]
Draft = Annotated[
    str | None,
    typer.Option(
        metavar="PATH|NAME",
        help="A smaller model with the same vocabulary that proposes tokens.",
        rich_help_panel=MODEL,
    ),
]
SpeculationMode = Annotated[
    Speculation | None,
    typer.Option(
        help="Who may propose tokens: nobody, the text so far, the draft model, or whatever pays. The answer stays the "
        "same.",
        rich_help_panel=MODEL,
    ),
]
DraftMax = Annotated[
    int | None,
    typer.Option(metavar="N", help="At most N tokens are proposed at once.", rich_help_panel=MODEL, show_default=False),
]
Temperature = Annotated[
    float | None,
    typer.Option(metavar="T", help="How freely tokens are chosen; 0: always the likeliest.", rich_help_panel=ANSWER),
]
TopK = Annotated[int | None, typer.Option(metavar="K", help="Only the K likeliest; 0: all.", rich_help_panel=ANSWER)]
TopP = Annotated[
    float | None,
    typer.Option(metavar="P", help="Only the likeliest that reach P together; 1: off.", rich_help_panel=ANSWER),
]
MinP = Annotated[
    float | None,
    typer.Option(metavar="P", help="Only those with P of the likeliest's chance; 0: off.", rich_help_panel=ANSWER),
]
Preset = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="precise, balanced, creative or one of settings.toml.", rich_help_panel=ANSWER),
]
System = Annotated[
    str | None, typer.Option(metavar="TEXT", help="The system prompt, or the name of one.", rich_help_panel=ANSWER)
]
Seed = Annotated[
    int | None, typer.Option(metavar="N", help="Same seed, same answer. Not given: drawn.", rich_help_panel=ANSWER)
]
MaxTokens = Annotated[int | None, typer.Option(metavar="N", help="Stop after N tokens.", rich_help_panel=ANSWER)]
Stop = Annotated[
    list[str] | None, typer.Option(metavar="TEXT", help="Stop before this text; repeatable.", rich_help_panel=ANSWER)
]


def _number(help_text: str, metavar: str = "X") -> Any:
    return typer.Option(metavar=metavar, help=help_text, rich_help_panel=SAMPLER)


TypicalP = Annotated[
    float | None, _number("Only the tokens about as surprising as usual that reach P together; 1: off.", "P")
]
TopNSigma = Annotated[float | None, _number("Only those within N standard deviations of the best; 0: off.", "N")]
RepeatPenalty = Annotated[float | None, _number("Divide the logits of tokens that were said; 1: off.")]
RepeatLastN = Annotated[int | None, _number("How far penalties look back; -1: the whole text.", "N")]
FrequencyPenalty = Annotated[float | None, _number("Subtract per time a token was said.")]
PresencePenalty = Annotated[float | None, _number("Subtract once from tokens that were said.")]
DryMultiplier = Annotated[float | None, _number("DRY: penalise what would repeat a sequence; 0: off.")]
DryBase = Annotated[float | None, _number("DRY: growth with the length of the repeat.")]
DryAllowedLength = Annotated[int | None, _number("DRY: repeats shorter than N are free.", "N")]
DryPenaltyLastN = Annotated[int | None, _number("DRY: how far it looks back; -1: the whole text.", "N")]
DryBreaker = Annotated[list[str] | None, _number("DRY: a text that no repeat reaches across; repeatable.", "TEXT")]
XtcProbability = Annotated[float | None, _number("XTC: chance of leaving out the likeliest tokens; 0: off.", "P")]
XtcThreshold = Annotated[float | None, _number("XTC: the chance from which on a token counts as likely.", "P")]
LogitBias = Annotated[list[str] | None, _number("Add BIAS to a token's logit; repeatable.", "ID=BIAS")]
GrammarFile = Annotated[Path | None, _number("The answer follows this GBNF grammar.", "FILE")]
JsonSchemaFile = Annotated[Path | None, _number("The answer is JSON that fits this schema.", "FILE")]
OverflowPolicy = Annotated[
    Overflow | None,
    typer.Option(
        help="Where the text does not fit the context: stop sends nothing, drop-oldest leaves out the oldest turns.",
        rich_help_panel=MACHINE,
    ),
]
Context = Annotated[
    int | None,
    typer.Option(metavar="N", help="Context window in tokens; not given: what fits.", rich_help_panel=MACHINE),
]
Threads = Annotated[
    int | None, typer.Option(metavar="N", help="CPU threads; not given: the usable cores.", rich_help_panel=MACHINE)
]
ExactMode = Annotated[
    Mode | None,
    typer.Option(
        "--mode",
        help="exact: speculation never changes the answer; fast: it may, at a near tie; auto: exact on a CPU.",
        rich_help_panel=MACHINE,
    ),
]
GpuLayers = Annotated[
    str | None,
    typer.Option(metavar="auto|all|N", help="Layers of the model on a GPU; auto: what fits.", rich_help_panel=MACHINE),
]
DraftGpuLayers = Annotated[
    str | None,
    typer.Option(metavar="auto|all|N", help="Layers of the draft on a GPU; auto: what fits.", rich_help_panel=MACHINE),
]
Prompt = Annotated[
    str | None,
    typer.Argument(metavar="PROMPT", help="What to ask. Standard input, when piped, is appended.", show_default=False),
]
RunsOfEach = Annotated[int, typer.Option(min=1, max=100, metavar="N", help="Runs of each way on each prompt.")]
Plain = Annotated[
    bool,
    typer.Option(
        "--plain",
        help="Line by line, for screen readers, dumb terminals and pipes: /help lists what can be typed. In a terminal "
        "readline marks pastes and edits the line; TERM=dumb sends no codes at all.",
        metavar="",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.", metavar="")]
AsList = Annotated[bool, typer.Option("--json", help="Print a JSON array, however many there are.", metavar="")]
WAYS: Final = (
    "Ways to answer, the others held against the first: off, lookup, draft, auto; lookup:4 drafts at most 4 tokens, "
    "auto=DRAFT.gguf uses this draft."
)

DEFAULTS: Final = (
    "What is not given is as settings.toml says; slipstream help settings shows every setting with its default."
)

PAIR: Final = {"model": Model, "draft": Draft}
PAIR_BY_NAME: Final = {"model": ModelOrPair, "draft": Draft}
SPECULATION: Final = {"speculation": SpeculationMode, "draft_max": DraftMax}
ANSWERS: Final = {
    "preset": Preset,
    "temperature": Temperature,
    "top_k": TopK,
    "top_p": TopP,
    "min_p": MinP,
    "system": System,
}
ONE_ANSWER: Final = {"seed": Seed, "max_tokens": MaxTokens}
SAMPLERS: Final = {
    "typical_p": TypicalP,
    "top_n_sigma": TopNSigma,
    "repeat_penalty": RepeatPenalty,
    "repeat_last_n": RepeatLastN,
    "frequency_penalty": FrequencyPenalty,
    "presence_penalty": PresencePenalty,
    "dry_multiplier": DryMultiplier,
    "dry_base": DryBase,
    "dry_allowed_length": DryAllowedLength,
    "dry_penalty_last_n": DryPenaltyLastN,
    "dry_sequence_breaker": DryBreaker,
    "xtc_probability": XtcProbability,
    "xtc_threshold": XtcThreshold,
    "logit_bias": LogitBias,
    "grammar_file": GrammarFile,
    "json_schema_file": JsonSchemaFile,
}
COMPUTING: Final = {
    "context": Context,
    "threads": Threads,
    "mode": ExactMode,
    "gpu_layers": GpuLayers,
    "draft_gpu_layers": DraftGpuLayers,
}
