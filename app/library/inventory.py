"""What there is: the pairs of the catalogue and the models on this disk, brought together. No network, ever."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from app import paths
from app.library.added_folders import added_folders
from app.library.catalog import Catalog, ModelSource, Pair, Role
from app.library.choice import quant_of
from app.library.facts import FactStore
from app.library.found import OLLAMA, OURS, PACKAGE
from app.library.left_out import left_out_words
from app.library.local import LocalModel, look_alike, scan
from app.library.measured import MeasuredCosts
from app.library.ollama import LATEST
from app.library.partly import Begun, together
from app.library.places import places
from app.library.resolve import packaged_file
from app.library.transfer.leftovers import Unfinished, find_unfinished
from app.library.upstream import Upstream, upstream
from app.library.user_catalog import load_catalog
from app.library.verdicts import Measured
from app.library.words import CUT, of_words


@dataclass(frozen=True, slots=True)
class SourceHere:
    """A file that the catalogue names, and what there is of it."""

    role: Role
    source: ModelSource
    model: LocalModel | None = None
    """Whole or not; None: nothing of it is at its place."""
    begun: int = 0
    """Bytes of a download that has not ended."""

    @property
    def usable(self) -> bool:
        return self.model is not None and self.model.usable

    @property
    def size(self) -> int | None:
        """Bytes once it is whole; None: the catalogue does not say, and it is not here."""
        return self.model.size if self.usable and self.model is not None else self.source.size

    @property
    def here(self) -> int:
        """Bytes on this disk."""
        return (self.model.size if self.model is not None and self.model.fault is None else 0) + self.begun

    def partly(self, pair: str) -> str:
        """That it is not whole, and how to go on; empty where no download of it has begun."""
        if not self.begun:
            return ""
        here = of_words(self.begun, self.source.size)
        return f"{self.source.file} is not whole: {here} are here; this continues it: slipstream models pull {pair}"


@dataclass(frozen=True, slots=True)
class PairHere:
    """A pair of the catalogue, and what there is of its files."""

    pair: Pair
    target: SourceHere
    draft: SourceHere | None
    """None: prompt lookup, which needs no file."""

    @property
    def sources(self) -> tuple[SourceHere, ...]:
        return (self.target,) if self.draft is None else (self.target, self.draft)

    @property
    def whole(self) -> bool:
        """Whether all its files can be used."""
        return all(source.usable for source in self.sources)

    @property
    def size(self) -> int | None:
        """Bytes of all files once they are whole; None: not known."""
        sizes = [source.size for source in self.sources]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    @property
    def models(self) -> tuple[LocalModel, ...]:
        return tuple(source.model for source in self.sources if source.model is not None)


@dataclass(frozen=True, slots=True)
class Inventory:
    """One look at catalogue and disk."""

    models_dir: Path
    catalog: Catalog
    pairs: tuple[PairHere, ...]
    models: tuple[LocalModel, ...]
    """All of the disk, those of pairs among them."""
    begun: tuple[Begun, ...]
    complaints: tuple[str, ...]
    names: dict[Path, str]
    """What each model is called on the command line: its file's name where that tells, else its path."""
    measured: Measured
    """What drafts were measured to cost here."""

    @property
    def loose(self) -> Iterator[LocalModel]:
        """Models that belong to no pair that is whole."""
        used = {model.path for here in self.pairs if here.whole for model in here.models}
        return (model for model in self.models if model.path not in used)

    @property
    def folded(self) -> Iterator[LocalModel]:
        """Models that are here as drafts of whole pairs alone, and so have no line of their own."""
        whole = [here for here in self.pairs if here.whole]
        targets = {here.target.model.path for here in whole if here.target.model is not None}
        drafts = {here.draft.model.path for here in whole if here.draft is not None and here.draft.model is not None}
        return (model for model in self.models if model.path in drafts - targets)

    def begun_anew(self, models: Iterable[LocalModel]) -> Iterator[Begun]:
        """Downloads of files of ``models``, which are here, that have not ended."""
        paths_here = {part for model in models for part in model.parts}
        return (one for one in self.begun if any(part.path in paths_here for part in one.parts))

    def name(self, model: LocalModel) -> str:
        """What it is called on the command line."""
        return self.names.get(model.path, str(model.path))


def take_inventory() -> Inventory:
    """Look at the catalogue, at our own folder and at those of other tools. Blocking; a second at first, less later."""
    models_dir = paths.models_dir()
    loaded = load_catalog(paths.catalog_file())
    store = FactStore(paths.model_facts_file())
    found = scan(places(models_dir, loaded.catalog, added_folders(paths.model_folders_file())), store)
    unfinished = {one.path: one for one in find_unfinished(models_dir)}
    pairs = tuple(_pair_here(pair, models_dir, found.models, unfinished) for pair in loaded.catalog.pair)
    of_pairs = {path for here in pairs for path in _missing_paths(here, models_dir, unfinished)}
    return Inventory(
        models_dir=models_dir,
        catalog=loaded.catalog,
        pairs=pairs,
        models=found.models,
        begun=tuple(together((one for path, one in unfinished.items() if path not in of_pairs), models_dir)),
        complaints=(*loaded.complaints, *left_out_words(found.left_out)),
        names=_names(found.models, loaded.catalog),
        measured=MeasuredCosts(paths.engine_cache_dir(), store),
    )


def is_source(source: ModelSource, model: LocalModel, models_dir: Path) -> bool:
    """Whether ``model`` is the file that the catalogue means: by its place, else by its name and size."""
    if source.package is not None and model.origin == PACKAGE:
        return packaged_file(source) == model.path
    if source.repo is None:
        return False
    inside = inside_repo(model.path, source.repo, models_dir)
    if inside is not None:
        return source.is_called(inside)
    return source.is_called(model.path.name) and (source.size is None or source.size == model.size)


def inside_repo(path: Path, repo: str, models_dir: Path) -> str | None:
    """The path inside the repository of a file that we keep of it; None for any other file."""
    folder = os.path.join(models_dir, *repo.split("/"), "")
    if not str(path).startswith(folder):  # asked of every file for every pair; pathlib takes ten times as long
        return None
    return Path(str(path)[len(folder) :]).as_posix()


def _pair_here(
    pair: Pair, models_dir: Path, models: tuple[LocalModel, ...], unfinished: dict[Path, Unfinished]
) -> PairHere:
    roles: dict[Role, SourceHere] = {}
    for role, source in pair.sources:
        seen = (place for model in models for place in (model, *(replace(c, also_at=()) for c in model.copies)))
        fitting = [model for model in seen if is_source(source, model, models_dir)]
        fitting.sort(key=lambda model: (not model.usable, model.origin != OURS))
        begun = sum(one.done for one in _begun_of(source, models_dir, unfinished))
        model = fitting[0] if fitting else None
        roles[role] = SourceHere(role, source, model, 0 if model is not None and model.usable else begun)
    return PairHere(pair, roles["target"], roles.get("draft"))


def _begun_of(source: ModelSource, models_dir: Path, unfinished: dict[Path, Unfinished]) -> Iterator[Unfinished]:
    for path, one in unfinished.items():
        inside = inside_repo(path, source.repo, models_dir) if source.repo is not None else None
        if inside is not None and source.is_called(inside):
            yield one


def _missing_paths(here: PairHere, models_dir: Path, unfinished: dict[Path, Unfinished]) -> Iterator[Path]:
    """The downloads of files that a pair lacks; what was begun of a file that it has is an entry of its own."""
    for source in here.sources:
        if not source.usable:
            yield from (one.path for one in _begun_of(source.source, models_dir, unfinished))


def _names(models: tuple[LocalModel, ...], catalog: Catalog) -> dict[Path, str]:
    stems = {model.path: model.name if model.origin == OLLAMA else model.path.stem for model in models}
    first: dict[str, LocalModel] = {}
    behind = {
        m.path for m in models if (f := first.setdefault(stems[m.path].casefold(), m)) is not m and look_alike(f, m)
    }
    taken = Counter(stem.casefold() for path, stem in stems.items() if path not in behind)
    taken += Counter(pair.name for pair in catalog.pair)
    return {
        path: stem
        if path not in behind and taken[stem.casefold()] == 1 and (path.suffix.lower() == ".gguf" or path.stem != stem)
        else str(path)
        for path, stem in stems.items()
    }


def same_model(inventory: Inventory, wanted: str) -> list[LocalModel]:
    """The models on this disk that ``wanted`` may mean: a path, a file's name, what the list calls it (also ``…end``,
    where it has cut that), or ``OWNER/REPO[:QUANT]`` or ``OWNER/REPO/FILE`` of what was fetched, by whomever."""
    path = Path(wanted).expanduser()
    places = [place for model in inventory.models for place in (model, *model.copies)]
    if known := [place for place in places if path.absolute() in (place.path, *place.parts)]:
        return known[:1]
    if wanted.startswith(CUT):
        return [model for model in inventory.models if inventory.name(model).endswith(wanted.removeprefix(CUT))]
    folded = wanted.casefold()
    named = [m for m in inventory.models if folded in _spellings(m, inventory.models_dir)]
    named = named or [copy for m in inventory.models if (copy := _copy_called(m, folded, inventory.models_dir))]
    if len(named) > 1 and len(usable := [m for m in named if m.usable]) == 1:
        return usable
    if len(named) > 1 and all(look_alike(named[0], other) for other in named[1:]):
        return named[:1]
    return named


def _copy_called(model: LocalModel, folded: str, models_dir: Path) -> LocalModel | None:
    """The model as it is at the first of its other places where it bears that name."""
    return next((copy for copy in model.copies if folded in _spellings(copy, models_dir)), None)


def _spellings(model: LocalModel, models_dir: Path) -> set[str]:
    spellings = {model.path.name, model.path.stem, model.name, model.title}
    if model.origin == OLLAMA:
        spellings.add(model.name.removesuffix(LATEST))
    try:
        inside = model.path.relative_to(models_dir).parts
    except ValueError:
        inside = ()
    known = (
        upstream(model.path, model.origin) if len(inside) <= 2 else Upstream("/".join(inside[:2]), "/".join(inside[2:]))
    )
    if known is not None:
        repo = known.repo
        spellings |= {repo, f"{repo}/{known.path}"}
        if quant := quant_of(model.path.name):
            spellings.add(f"{repo}:{quant}")
    return {spelling.casefold() for spelling in spellings}
