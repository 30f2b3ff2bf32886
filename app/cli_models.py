"""``slipstream models`` and its commands. What they do is in ``app.commands.models``, imported when it is needed."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from app.cli_parts import Command, Commands

models = typer.Typer(
    name="models",
    help="Models on this machine and in the catalogue: list, fetch, check, delete.",
    epilog="Without a command, slipstream models lists them.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    cls=Commands,
)


def _flag(name: str, help_text: str) -> Any:
    return typer.Option(name, help=help_text, metavar="")


Yes = Annotated[bool, _flag("--yes", "Agree beforehand, without a question.")]
AsJson = Annotated[bool, _flag("--json", "Print one JSON object.")]


@models.callback(invoke_without_command=True)
def start(ctx: typer.Context) -> None:
    """Models on this machine and in the catalogue: list, fetch, check, delete."""
    if ctx.invoked_subcommand is None:
        from app.commands.models.listing import run_list

        raise typer.Exit(run_list(False))


@models.command("list", cls=Command)
def list_models(as_json: AsJson = False) -> None:
    """Every pair of the catalogue and every model file on this disk, with its state."""
    from app.commands.models.listing import run_list

    raise typer.Exit(run_list(as_json))


@models.command(cls=Command)
def pull(
    wanted: Annotated[
        str,
        typer.Argument(
            metavar="NAME|OWNER/REPO[:QUANT]|OWNER/REPO/FILE", help="A pair of the catalogue, or a model of the hub."
        ),
    ],
    yes: Yes = False,
    dry_run: Annotated[bool, _flag("--dry-run", "Show the plan and fetch nothing.")] = False,
    replace: Annotated[bool, _flag("--replace", "Replace your own files in its way, after a question.")] = False,
) -> None:
    """Fetch a model: the plan first, then the bytes. Ctrl+C pauses; the same command goes on."""
    from app.commands.models.pull import run_pull

    raise typer.Exit(run_pull(wanted, yes=yes, dry_run=dry_run, replace=replace))


@models.command(cls=Command)
def rm(name: Annotated[str, typer.Argument(help="What to delete.")], yes: Yes = False) -> None:
    """Delete what Slipstream fetched. Files of other tools are never touched."""
    from app.commands.models.keeping import run_rm

    raise typer.Exit(run_rm(name, yes=yes))


@models.command(cls=Command)
def check(
    target: Annotated[str | None, typer.Argument(help="The model that answers.", show_default=False)] = None,
    draft: Annotated[str | None, typer.Argument(help="The one that would propose.", show_default=False)] = None,
    context: Annotated[int | None, typer.Option(metavar="N", help="Context window in tokens.")] = None,
    as_json: AsJson = False,
    catalogue: Annotated[bool, _flag("--catalogue", "Ask the hub whether every pair is still there.")] = False,
) -> None:
    """Does a pair work here: vocabulary, memory, and whether drafting can pay. Nothing is loaded."""
    from app.commands.models.checking import run_check

    raise typer.Exit(run_check(target, draft, context=context, as_json=as_json, catalogue=catalogue))


@models.command(cls=Command)
def add(
    folder: Annotated[str, typer.Argument(help="A folder with model files.")],
    forget: Annotated[bool, _flag("--forget", "Look there no longer; the files stay.")] = False,
) -> None:
    """Use the models of a folder where they lie."""
    from app.commands.models.keeping import run_add

    raise typer.Exit(run_add(folder, forget=forget))


@models.command(cls=Command)
def verify(
    name: Annotated[str | None, typer.Argument(help="Not given: everything fetched.", show_default=False)] = None,
) -> None:
    """Read files whole and compare them with the hashes that the hub announced."""
    from app.commands.models.keeping import run_verify

    raise typer.Exit(run_verify(name))


@models.command(cls=Command)
def where(
    name: Annotated[str | None, typer.Argument(help="Not given: the folders.", show_default=False)] = None,
) -> None:
    """The files of a model, or the folders that are looked at."""
    from app.commands.models.listing import run_where

    raise typer.Exit(run_where(name))
