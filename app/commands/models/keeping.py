"""``slipstream models rm``, ``add`` and ``verify``: keeping what is on the disk in order."""

from __future__ import annotations

from pathlib import Path

from app.commands.errors import FAILED, CommandError, say
from app.commands.models.common import confirmed, open_shelf, show
from app.commands.stdout import Progress
from app.percent import share
from engine.files.sizes import size_words


def run_rm(name: str, *, yes: bool) -> int:
    """Delete what Slipstream fetched of ``name``: what goes and what stays is shown first."""
    shelf = open_shelf()
    removal = shelf.removal(name)
    if removal.refusal:
        raise CommandError(removal.refusal)
    show("\n".join([*(f"delete {file}" for file in removal.files), *removal.kept]))
    question = f"Delete {removal.title} and free {size_words(removal.freed)}?"
    if not yes and not confirmed(question, "Nothing was deleted"):
        say("Nothing was deleted.")
        return FAILED
    show(removal.done(shelf.remove(removal)))
    return 0


def run_add(named: str, *, forget: bool) -> int:
    """Look for models in a folder from now on, or no longer."""
    if not named.strip():  # as a path it would be the current folder
        raise CommandError("No folder was named: the name is empty. The current folder is named by a dot.")
    shelf, folder = open_shelf(), Path(named)
    if forget:
        if not shelf.remove_folder(folder):
            raise CommandError(f"{folder} was not looked at before; nothing was changed.")
        show(f"{folder} is not looked at any more; its files stay where they are.")
        return 0
    kept, models = shelf.add_folder(folder)
    found = f"{models} model{'s' * (models != 1)}" if models else "no model yet"
    show(f"Models in {kept} are used where they lie: {found}. See: slipstream models list")
    return 0


def run_verify(name: str | None) -> int:
    """Read files whole and compare them; exit code 1 when one is not what was announced."""
    progress = Progress()

    def watch(file: str, done: int, total: int) -> None:
        progress.show(f"reading {file} {share(done, total)}")

    damaged = looked = 0
    for found in open_shelf().verify(name, watch):
        progress.clear()
        show(found.words)
        looked += 1
        damaged += found.whole is False
    if not looked:
        say("There is no file that Slipstream fetched yet; nothing was compared.")
    return FAILED if damaged else 0
