"""The commands and their options. What they do is in ``app.commands``, imported when it is needed."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from app import __version__
from app.cli_models import models
from app.cli_parts import Command, Commands


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


MODEL, ANSWER, MACHINE = "Model", "Answer", "Machine"

Model = Annotated[str | None, typer.Option(metavar="PATH|NAME", help="The model that answers.", rich_help_panel=MODEL)]
Draft = Annotated[
    str | None,
    typer.Option(
        metavar="PATH|NAME", help="A smaller model of the same vocabulary that proposes.", rich_help_panel=MODEL
    ),
]
SpeculationMode = Annotated[
    Speculation | None, typer.Option(help="Who may propose tokens. The answer stays the same.", rich_help_panel=MODEL)
]
DraftMax = Annotated[
    int | None, typer.Option(metavar="N", help="Longest draft, in tokens.", rich_help_panel=MODEL, show_default=False)
]
Temperature = Annotated[
    float | None, typer.Option(metavar="T", help="0: always the likeliest token.", rich_help_panel=ANSWER)
]
TopK = Annotated[int | None, typer.Option(metavar="K", help="Only the K likeliest; 0: all.", rich_help_panel=ANSWER)]
TopP = Annotated[
    float | None, typer.Option(metavar="P", help="Only the likeliest that reach P together.", rich_help_panel=ANSWER)
]
MinP = Annotated[
    float | None, typer.Option(metavar="P", help="Only those with P of the likeliest's chance.", rich_help_panel=ANSWER)
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
SAMPLER = "Samplers"


def _number(help_text: str, metavar: str = "X") -> Any:
    return typer.Option(metavar=metavar, help=help_text, rich_help_panel=SAMPLER)


TypicalP = Annotated[float | None, _number("Locally typical tokens that reach P together; 1: off.", "P")]
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
XtcThreshold = Annotated[float | None, _number("XTC: what counts as likely.", "P")]
LogitBias = Annotated[list[str] | None, _number("Add BIAS to a token's logit; repeatable.", "ID=BIAS")]
GrammarFile = Annotated[Path | None, _number("The answer follows this GBNF grammar.", "FILE")]
JsonSchemaFile = Annotated[Path | None, _number("The answer is JSON that fits this schema.", "FILE")]
OverflowPolicy = Annotated[
    Overflow | None,
    typer.Option(help="When the conversation outgrows the context window.", rich_help_panel=MACHINE),
]
Context = Annotated[int | None, typer.Option(metavar="N", help="Context window in tokens.", rich_help_panel=MACHINE)]
Threads = Annotated[int | None, typer.Option(metavar="N", help="CPU threads.", rich_help_panel=MACHINE)]
ExactMode = Annotated[
    Mode | None,
    typer.Option("--mode", help="exact: speculation cannot change a bit; fast: kernels may.", rich_help_panel=MACHINE),
]
GpuLayers = Annotated[
    str | None, typer.Option(metavar="auto|all|N", help="Layers of the model on a GPU.", rich_help_panel=MACHINE)
]
DraftGpuLayers = Annotated[
    str | None, typer.Option(metavar="auto|all|N", help="Layers of the draft on a GPU.", rich_help_panel=MACHINE)
]
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


app = typer.Typer(
    name="slipstream",
    help="Chat with a model on your own machine. Speculative decoding makes it faster; the answer stays the same.",
    epilog="Without a command, slipstream opens the chat.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    cls=Commands,
)
app.add_typer(models)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"slipstream {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def start(
    ctx: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.", metavar=""),
    ] = False,
    plain: Plain = False,
    model: Model = None,
    draft: Draft = None,
    speculation: SpeculationMode = None,
    draft_max: DraftMax = None,
    preset: Preset = None,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    min_p: MinP = None,
    system: System = None,
    context: Context = None,
    threads: Threads = None,
    mode: ExactMode = None,
    gpu_layers: GpuLayers = None,
    draft_gpu_layers: DraftGpuLayers = None,
) -> None:
    """Open the chat unless a command was given; that takes the options before it as well."""
    options = {name: value for name, value in locals().items() if name not in ("ctx", "version", "plain")}
    if ctx.invoked_subcommand is None:
        from app.commands.chat import open_chat

        raise typer.Exit(open_chat(options, plain=plain))
    given = {name: str(value) for name, value in (options | {"plain": plain or None}).items() if value is not None}
    ctx.default_map = {ctx.invoked_subcommand: given}


@app.command(cls=Command)
def chat(
    plain: Plain = False,
    model: Model = None,
    draft: Draft = None,
    speculation: SpeculationMode = None,
    draft_max: DraftMax = None,
    preset: Preset = None,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    min_p: MinP = None,
    system: System = None,
    context: Context = None,
    threads: Threads = None,
    mode: ExactMode = None,
    gpu_layers: GpuLayers = None,
    draft_gpu_layers: DraftGpuLayers = None,
) -> None:
    """Open the chat in this terminal. Without one it goes line by line: each line of standard input is a message, the
    answers go to standard output, what is said about them to standard error."""
    options = {name: value for name, value in locals().items() if name != "plain"}
    from app.commands.chat import open_chat

    raise typer.Exit(open_chat(options, plain=plain, by_name=True))


@app.command(cls=Command)
def ask(
    prompt: Annotated[
        str | None, typer.Argument(help="What to ask. Standard input, when piped, is appended.", show_default=False)
    ] = None,
    model: Model = None,
    draft: Draft = None,
    speculation: SpeculationMode = None,
    draft_max: DraftMax = None,
    preset: Preset = None,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    min_p: MinP = None,
    system: System = None,
    seed: Seed = None,
    max_tokens: MaxTokens = None,
    stop: Stop = None,
    typical_p: TypicalP = None,
    top_n_sigma: TopNSigma = None,
    repeat_penalty: RepeatPenalty = None,
    repeat_last_n: RepeatLastN = None,
    frequency_penalty: FrequencyPenalty = None,
    presence_penalty: PresencePenalty = None,
    dry_multiplier: DryMultiplier = None,
    dry_base: DryBase = None,
    dry_allowed_length: DryAllowedLength = None,
    dry_penalty_last_n: DryPenaltyLastN = None,
    dry_sequence_breaker: DryBreaker = None,
    xtc_probability: XtcProbability = None,
    xtc_threshold: XtcThreshold = None,
    logit_bias: LogitBias = None,
    grammar_file: GrammarFile = None,
    json_schema_file: JsonSchemaFile = None,
    overflow: OverflowPolicy = None,
    context: Context = None,
    threads: Threads = None,
    mode: ExactMode = None,
    gpu_layers: GpuLayers = None,
    draft_gpu_layers: DraftGpuLayers = None,
    as_json: AsJson = False,
) -> None:
    """Print one answer; the figures go to stderr."""
    options = dict(locals())
    from app.commands.ask import run_ask

    raise typer.Exit(run_ask(options))


@app.command(cls=Command)
def compare(
    prompt: Annotated[
        str | None, typer.Argument(help="What to ask. Standard input, when piped, is appended.", show_default=False)
    ] = None,
    ways: Annotated[
        str, typer.Option(metavar="A,B", help="Ways to answer: off, lookup, draft, auto; lookup:4; auto=DRAFT.gguf.")
    ] = "off,auto",
    runs: Annotated[int, typer.Option(min=1, max=100, metavar="N", help="Runs of each way, in alternating order.")] = 3,
    last: Annotated[bool, typer.Option("--last", help="Answer once more what was answered last.", metavar="")] = False,
    chat: Annotated[int | None, typer.Option(metavar="ID", help="The same for this chat.", show_default=False)] = None,
    model: Model = None,
    draft: Draft = None,
    preset: Preset = None,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    min_p: MinP = None,
    system: System = None,
    seed: Seed = None,
    max_tokens: MaxTokens = None,
    context: Context = None,
    threads: Threads = None,
    mode: ExactMode = None,
    gpu_layers: GpuLayers = None,
    draft_gpu_layers: DraftGpuLayers = None,
    as_json: AsJson = False,
) -> None:
    """Answer in several ways, from the same start to the same end, and say what the difference is."""
    options = dict(locals())
    from app.commands.compare import run_compare

    raise typer.Exit(run_compare(options))


@app.command(cls=Command)
def bench(
    model: Model = None,
    draft: Draft = None,
    ways: Annotated[
        str, typer.Option(metavar="A,B", help="Ways to answer; the first is what the others are held against.")
    ] = "off,auto",
    prompts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own prompts, one JSON object a line.", show_default=False)
    ] = None,
    categories: Annotated[
        str | None, typer.Option(metavar="A,B", help="Only these kinds of work.", show_default=False)
    ] = None,
    each: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="At most N prompts of a kind.", show_default=False)
    ] = None,
    runs: Annotated[int, typer.Option(min=1, max=100, metavar="N", help="Runs of each way on each prompt.")] = 3,
    preset: Preset = None,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    min_p: MinP = None,
    system: System = None,
    seed: Seed = None,
    max_tokens: MaxTokens = None,
    context: Context = None,
    threads: Threads = None,
    mode: ExactMode = None,
    gpu_layers: GpuLayers = None,
    draft_gpu_layers: DraftGpuLayers = None,
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print one line a run.", metavar="")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print a table for a page.", metavar="")] = False,
) -> None:
    """Measure ways to answer on many prompts, by kind of work."""
    options = dict(locals())
    from app.commands.bench import run_bench_command

    raise typer.Exit(run_bench_command(options))


@app.command(cls=Command)
def score(
    model: Model = None,
    draft: Draft = None,
    own_chats: Annotated[
        bool,
        typer.Option("--own-chats", help="Replay your own latest requests, on this machine only.", metavar=""),
    ] = False,
    runs: Annotated[int, typer.Option(min=1, max=100, metavar="N", help="Runs of each way on each prompt.")] = 2,
    preset: Preset = None,
    temperature: Temperature = None,
    max_tokens: MaxTokens = None,
    context: Context = None,
    threads: Threads = None,
    mode: ExactMode = None,
    gpu_layers: GpuLayers = None,
    draft_gpu_layers: DraftGpuLayers = None,
    as_json: AsJson = False,
) -> None:
    """Say whether speculation pays on this machine with this pair, and what limits it."""
    options = dict(locals())
    from app.commands.score import run_score

    raise typer.Exit(run_score(options))


@app.command(cls=Command)
def speeds(as_json: AsJson = False) -> None:
    """Say how fast each pair really was here, by mode, and where it has become slower."""
    from app.commands.speeds import show_speeds

    raise typer.Exit(show_speeds(as_object=as_json))


class Manner(StrEnum):
    """How an answer is made again."""

    AS_WAS = "as-was"
    PASSES = "passes"
    OFF = "off"
    LOOKUP = "lookup"
    DRAFT = "draft"
    AUTO = "auto"


AnswerName = Annotated[str, typer.Argument(metavar="ANSWER", help="Its number, or the word last.")]


@app.command(cls=Command)
def replay(
    answer: AnswerName = "last",
    how: Annotated[
        Manner, typer.Option(help="By the passes it was made by, or anew with this kind of speculation.")
    ] = Manner.AS_WAS,
    count: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="With last: the newest N answers.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Make an answer again from its receipt and compare it token by token."""
    from app.commands.replay import run_replay

    raise typer.Exit(run_replay({"answer": answer, "how": how.value, "count": count, "as_json": as_json}))


@app.command(cls=Command)
def receipt(answer: AnswerName = "last", as_json: AsJson = False) -> None:
    """Print what an answer was made of: what the model was shown and said, token by token."""
    from app.commands.replay import show_receipt

    raise typer.Exit(show_receipt({"answer": answer, "as_json": as_json}))


class Topic(StrEnum):
    """What there is to explain."""

    FIGURES = "figures"
    SETTINGS = "settings"


@app.command("help", cls=Command)
def explain(topic: Annotated[Topic, typer.Argument(help="What to explain.")] = Topic.FIGURES) -> None:
    """Explain every figure that is shown beside answers and in tables, or print a settings.toml to begin with."""
    from app.commands.explain import print_figures, print_settings

    (print_settings if topic is Topic.SETTINGS else print_figures)()


@app.command(cls=Command)
def doctor(
    as_json: AsJson = False,
    self_test: Annotated[
        bool,
        typer.Option("--self-test", help="Also find out how exact the chosen model is on this machine.", metavar=""),
    ] = False,
    model: Model = None,
) -> None:
    """Say what is here, what works, and what is wrong."""
    from app.commands.doctor import run_doctor

    raise typer.Exit(run_doctor(as_json, self_test=self_test, model=model))


def main() -> None:
    """The console script: runs a command; whatever goes wrong becomes one line on stderr and an exit code."""
    try:
        code = app(standalone_mode=False)
    except KeyboardInterrupt:
        code = 130
    except Exception as error:
        from app.commands.failing import explain

        code = explain(error)
    sys.exit(code)
