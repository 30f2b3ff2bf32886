"""The commands and their options. What they do is in ``app.commands``, imported when it is needed."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from app import __version__


class Speculation(StrEnum):
    """Who may propose tokens."""

    OFF = "off"
    LOOKUP = "lookup"
    DRAFT = "draft"
    AUTO = "auto"


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
System = Annotated[str | None, typer.Option(metavar="TEXT", help="The system prompt.", rich_help_panel=ANSWER)]
Seed = Annotated[
    int | None, typer.Option(metavar="N", help="Same seed, same answer. Not given: drawn.", rich_help_panel=ANSWER)
]
MaxTokens = Annotated[int | None, typer.Option(metavar="N", help="Stop after N tokens.", rich_help_panel=ANSWER)]
Stop = Annotated[
    list[str] | None, typer.Option(metavar="TEXT", help="Stop before this text; repeatable.", rich_help_panel=ANSWER)
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
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

app = typer.Typer(
    name="slipstream",
    help="Chat with a model on your own machine. Speculative decoding makes it faster; the answer stays the same.",
    epilog="Without a command, slipstream opens the chat.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"slipstream {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Open the chat unless a command was given."""
    if context.invoked_subcommand is None:
        from app.commands.chat import open_chat

        raise typer.Exit(open_chat({}))


@app.command()
def chat(
    model: Model = None,
    draft: Draft = None,
    speculation: SpeculationMode = None,
    draft_max: DraftMax = None,
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
    """Open the chat in this terminal."""
    options = dict(locals())
    from app.commands.chat import open_chat

    raise typer.Exit(open_chat(options))


@app.command()
def ask(
    prompt: Annotated[
        str | None, typer.Argument(help="What to ask. Standard input, when piped, is appended.", show_default=False)
    ] = None,
    model: Model = None,
    draft: Draft = None,
    speculation: SpeculationMode = None,
    draft_max: DraftMax = None,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    min_p: MinP = None,
    system: System = None,
    seed: Seed = None,
    max_tokens: MaxTokens = None,
    stop: Stop = None,
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


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Say what is here, what works, and what is wrong."""
    from app.commands.doctor import run_doctor

    raise typer.Exit(run_doctor(as_json))


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
