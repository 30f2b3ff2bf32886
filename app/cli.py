"""The commands and their options. What they do is in ``app.commands``, imported when it is needed."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from app import __version__
from app.cli_models import models
from app.cli_options import (
    ANSWERS,
    COMPUTING,
    DEFAULTS,
    ONE_ANSWER,
    PAIR,
    PAIR_BY_NAME,
    SAMPLERS,
    SPECULATION,
    WAYS,
    AsJson,
    AsList,
    MaxTokens,
    Model,
    OverflowPolicy,
    Plain,
    Preset,
    Prompt,
    RunsOfEach,
    Stop,
    Temperature,
)
from app.cli_parts import Command, Commands, takes

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
@takes(PAIR, SPECULATION, ANSWERS, COMPUTING)
def start(
    ctx: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.", metavar=""),
    ] = False,
    plain: Plain = False,
    **options: Any,
) -> None:
    """Open the chat unless a command was given; that takes the options before it as well."""
    if ctx.invoked_subcommand is None:
        from app.commands.chat import open_chat

        raise typer.Exit(open_chat(options, plain=plain))
    given = {name: str(value) for name, value in (options | {"plain": plain or None}).items() if value is not None}
    ctx.default_map = {ctx.invoked_subcommand: given}


@app.command(cls=Command, epilog=DEFAULTS)
@takes(PAIR, SPECULATION, ANSWERS, COMPUTING)
def chat(plain: Plain = False, **options: Any) -> None:
    """Open the chat in this terminal. Without one it goes line by line: each line of standard input is a message, the
    answers go to standard output, what is said about them to standard error."""
    from app.commands.chat import open_chat

    raise typer.Exit(open_chat(options, plain=plain, by_name=True))


@app.command(cls=Command, epilog=DEFAULTS)
@takes(PAIR, SPECULATION, ANSWERS, ONE_ANSWER, {"stop": Stop}, SAMPLERS, {"overflow": OverflowPolicy}, COMPUTING)
def ask(prompt: Prompt = None, as_json: AsJson = False, **options: Any) -> None:
    """Print one answer; the figures go to stderr."""
    from app.commands.ask import run_ask

    raise typer.Exit(run_ask({"prompt": prompt, "as_json": as_json, **options}))


@app.command(cls=Command)
@takes(PAIR, ANSWERS, ONE_ANSWER, COMPUTING)
def compare(
    prompt: Prompt = None,
    ways: Annotated[
        str,
        typer.Option(metavar="A,B", help=WAYS),
    ] = "off,auto",
    runs: Annotated[int, typer.Option(min=1, max=100, metavar="N", help="Runs of each way, in alternating order.")] = 3,
    last: Annotated[bool, typer.Option("--last", help="Answer once more what was answered last.", metavar="")] = False,
    chat: Annotated[
        int | None,
        typer.Option(metavar="ID", help="The same in this chat; receipt tells its number.", show_default=False),
    ] = None,
    as_json: AsJson = False,
    **options: Any,
) -> None:
    """Answer in several ways, from the same start to the same end, and say what the difference is."""
    from app.commands.compare import run_compare

    raise typer.Exit(
        run_compare(
            {"prompt": prompt, "ways": ways, "runs": runs, "last": last, "chat": chat, "as_json": as_json, **options}
        )
    )


@app.command(cls=Command)
@takes(PAIR_BY_NAME, ANSWERS, ONE_ANSWER, COMPUTING)
def bench(
    ways: Annotated[
        str,
        typer.Option("--ways", "--modes", metavar="A,B", help=WAYS),
    ] = "off,auto",
    prompts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help='Your own prompts, one JSON object a line: "prompt" or "messages", and "category" if wanted.',
            show_default=False,
        ),
    ] = None,
    categories: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Only these kinds of work; of the bundled ones chat, code, edit, summarize, quote, translate, math, "
            "story.",
            show_default=False,
        ),
    ] = None,
    each: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="At most N prompts of a kind.", show_default=False)
    ] = None,
    runs: RunsOfEach = 3,
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print one line a run.", metavar="")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print a table for a page.", metavar="")] = False,
    **options: Any,
) -> None:
    """Measure ways to answer on many prompts, by kind of work."""
    from app.commands.bench import run_bench_command

    raise typer.Exit(
        run_bench_command(
            {
                "ways": ways,
                "prompts": prompts,
                "categories": categories,
                "each": each,
                "runs": runs,
                "as_json": as_json,
                "as_csv": as_csv,
                "as_markdown": as_markdown,
                **options,
            }
        )
    )


@app.command(cls=Command)
@takes(PAIR, {"preset": Preset, "temperature": Temperature, "max_tokens": MaxTokens}, COMPUTING)
def score(
    pair: Annotated[str | None, typer.Argument(metavar="PAIR", help="The same as --model.", show_default=False)] = None,
    own_chats: Annotated[
        bool,
        typer.Option("--own-chats", help="On your own latest requests; nothing leaves this machine.", metavar=""),
    ] = False,
    runs: RunsOfEach = 2,
    as_json: AsJson = False,
    **options: Any,
) -> None:
    """Say whether speculation pays on this machine with this pair, and what limits it."""
    from app.commands.score import run_score

    if pair is not None and options["model"] is not None:
        raise typer.BadParameter("It is named twice, as PAIR and with --model.")
    options["model"] = options["model"] or pair
    raise typer.Exit(run_score({"own_chats": own_chats, "runs": runs, "as_json": as_json, **options}))


@app.command(cls=Command)
def speeds(as_json: AsList = False) -> None:
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
        Manner,
        typer.Option(
            help="passes: by the passes it was made by; off, lookup, draft, auto: anew with this kind of speculation; "
            "as-was: anew as it was made, or by its passes where it was not exact."
        ),
    ] = Manner.AS_WAS,
    count: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="With last: the newest N answers.")] = 1,
    as_json: AsList = False,
) -> None:
    """Make an answer again from its receipt and compare it token by token; exit code 2 where it is another one."""
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
