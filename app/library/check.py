"""Does every entry of the catalogue still resolve on the hub? For the release, and for a user's own entries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from app.library.catalog import Catalog, ModelSource, Pair, Role
from app.library.choice import choose
from app.library.hub import Hub
from app.library.hub_answer import Repo
from app.library.hub_errors import Code, HubError
from engine.files.sizes import size_words

_ABOUT_THE_HUB: frozenset[Code] = frozenset(
    {"offline", "offline-mode", "timeout", "proxy", "certificate", "endpoint", "rate-limit", "cancelled"}
)
"""Errors that say nothing about an entry: the next one would fail in the same way."""


@dataclass(frozen=True)
class EntryCheck:
    """One file of one pair."""

    pair: str
    role: Role
    origin: str
    """The repository, or the Python package."""
    ok: bool
    words: str
    """What it resolves to, or what does not."""


def check_catalogue(catalog: Catalog, hub: Hub) -> Iterator[EntryCheck]:
    """Ask the hub for every entry, one after the other. Raises :class:`HubError` when the hub itself is the trouble."""
    repos: dict[tuple[str, str | None], Repo | HubError] = {}
    for pair in catalog.pair:
        for role, source in pair.sources:
            if source.repo is None:
                yield EntryCheck(pair.name, role, str(source.package), True, "travels in a Python package")
                continue
            key = (source.repo, source.revision)
            if key not in repos:
                repos[key] = _ask(hub, *key)
            yield _check(pair, role, source, source.repo, repos[key])


def _ask(hub: Hub, repo: str, revision: str | None) -> Repo | HubError:
    try:
        return hub.repo(repo, revision)
    except HubError as error:
        if error.code in _ABOUT_THE_HUB:
            raise
        return error


def _check(pair: Pair, role: Role, source: ModelSource, origin: str, repo: Repo | HubError) -> EntryCheck:
    if isinstance(repo, HubError):
        return EntryCheck(pair.name, role, origin, False, str(repo))
    try:
        files = choose(repo.id, repo.files, pattern=source.file, quant=source.quant)
    except HubError as error:
        return EntryCheck(pair.name, role, origin, False, str(error))
    size = sum(file.size for file in files)
    if size == 0:
        return EntryCheck(pair.name, role, origin, False, f"{files[0].path} is empty on the hub.")
    notes = [files[0].path + (f" and {len(files) - 1} more parts" if len(files) > 1 else ""), size_words(size)]
    if source.size is not None and source.size != size:
        notes.append(f"the catalogue says {source.size:,} bytes, the hub {size:,}")
    if repo.gated != pair.gated and (repo.gated or role == "target"):
        notes.append("gated on the hub" if repo.gated else "not gated on the hub")
    return EntryCheck(pair.name, role, origin, True, ", ".join(notes))
