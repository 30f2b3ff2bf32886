"""The models that are on this disk already, whoever brought them: used where they lie.

Only headers are read. A model cut into parts is one model, which is whole when all its parts are; a file that is seen
at several places is one model, too, where it is known to be the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from app import paths
from app.library.added_folders import added_folders
from app.library.catalog import catalog
from app.library.facts import FactStore, FileFacts
from app.library.found import Candidate, Place
from app.library.naming import model_name
from app.library.origins import is_damaged, own_origin
from app.library.places import places
from app.library.roles import WHY_NOT, Role
from app.library.sets import FileSet, facts_of_parts, fault_of_parts, fault_of_single, file_sets
from app.library.walk import LeftOut
from engine.files.fingerprint import WHOLE
from engine.files.pairing import Vocabulary
from engine.files.shape import Shape


@dataclass(frozen=True, slots=True)
class LocalModel:
    """One model on this disk. ``path`` is what the engine is given: the file, or the first of its parts."""

    path: Path
    parts: tuple[Path, ...]
    origin: str
    name: str
    size: int
    """Bytes of all parts that are here."""
    facts: FileFacts
    """Of the first part."""
    shape: Shape
    """Of the whole model."""
    parameters: int
    fault: str | None = None
    """Why the files cannot be used, in one phrase; None: they are whole."""
    unreadable: bool = False
    """Whether that is something which more bytes would not mend."""
    instead: str = ""
    """What to do about it, where fetching it again would not mend it, either."""
    also_at: tuple[Path, ...] = ()
    """Where the same file was seen as well."""
    copies: tuple[LocalModel, ...] = field(default=(), repr=False, compare=False)
    """The model as it is there: with the path, the parts and the origin of that place."""

    @property
    def role(self) -> Role:
        return self.facts.role

    @property
    def architecture(self) -> str | None:
        return self.facts.architecture

    @property
    def quantization(self) -> str | None:
        return self.facts.quantization

    @property
    def title(self) -> str:
        """Name and quantization, as a list shows them."""
        return f"{self.name} {self.quantization or ''}".strip()

    @property
    def context_trained(self) -> int | None:
        return self.facts.context_trained

    @property
    def vocabulary(self) -> Vocabulary | None:
        return self.facts.vocabulary

    @property
    def size_label(self) -> str:
        """``135M``, ``4B``: how many parameters; empty where nothing is known."""
        return self.facts.size_label or parameter_words(self.parameters)

    @property
    def why_not(self) -> str | None:
        """Why it can be neither target nor draft, in one phrase; None when it can."""
        return self.fault or WHY_NOT.get(self.role)

    @property
    def usable(self) -> bool:
        """Whether it can be talked to."""
        return self.why_not is None


@dataclass(frozen=True, slots=True)
class LocalScan:
    """What a look at the disk found."""

    models: tuple[LocalModel, ...]
    left_out: tuple[LeftOut, ...]

    def at(self, path: Path) -> LocalModel | None:
        """The model that the file at ``path`` is, or is a part or a copy of."""
        return next((m for m in self.models if path in (m.path, *m.parts, *m.also_at)), None)


def never() -> bool:
    """Nobody gives up."""
    return False


def scan_disk(*, cancelled: Callable[[], bool] = never) -> LocalScan:
    """Look everywhere models are known to be kept. Takes a second at first and a fraction of it later; blocking."""
    everywhere = places(paths.models_dir(), catalog(), added_folders(paths.model_folders_file()))
    return scan(everywhere, FactStore(paths.model_facts_file()), cancelled=cancelled)


def scan(
    everywhere: Iterable[Place], store: FactStore | None = None, *, cancelled: Callable[[], bool] = never
) -> LocalScan:
    """Look at ``everywhere``, earlier places first: they keep what is seen twice. Never raises for what lies there.

    ``cancelled`` is asked between files; what was found until then is the answer.
    """
    store = store or FactStore()
    models: list[LocalModel] = []
    left_out: list[LeftOut] = []
    for found in file_sets(_candidates(everywhere, cancelled)):
        if cancelled():
            break
        one = found if isinstance(found, LeftOut) else model_of(found, store)
        if isinstance(one, LeftOut):
            left_out.append(one)
        else:
            models.append(one)
    models = _without_copies(models, store)
    if not cancelled():
        store.save()
    return LocalScan(tuple(models), tuple(dict.fromkeys(left_out)))


def parameter_words(parameters: int) -> str:
    """``135M``, ``1.7B``, ``14B``."""
    if parameters <= 0:
        return ""
    amount, unit = (parameters / 1e9, "B") if parameters >= 999_500_000 else (parameters / 1e6, "M")
    return f"{amount:.1f}{unit}" if amount < 9.95 else f"{amount:.0f}{unit}"


def _candidates(everywhere: Iterable[Place], cancelled: Callable[[], bool]) -> Iterator[Candidate | LeftOut]:
    for place in everywhere:
        for found in place.find():
            if cancelled():
                return
            yield found


def model_of(found: FileSet, store: FactStore) -> LocalModel | LeftOut:
    """The model that a set of files is."""
    first = found.first
    facts = store.facts(first.path, found.status)
    if facts.foreign and first.renamed:
        what = first.name or first.path.name
        return LeftOut(first.path, first.origin, f"{what} is kept in another format than GGUF", what, expected=True)
    model = LocalModel(
        path=first.path,
        parts=tuple(path for _, path in sorted(found.parts.items())),
        origin=first.origin,
        name=model_name(first.path, facts.general_name, first.name),
        size=facts.size,
        facts=facts,
        shape=facts.shape,
        parameters=facts.parameters,
        fault=fault_of_single(facts, renamed=first.renamed) if found.count == 1 else None,
        unreadable=found.count == 1 and facts.unreadable,
        instead=facts.instead if found.count == 1 else "",
    )
    if found.count == 1:
        return _with_names(replace(model, fault=model.fault or _damage(model)), found)
    parts = facts_of_parts(found, store)
    fault = fault_of_parts(found, parts)
    faulty = [part for part in parts.values() if fault is not None and part.fault and fault.endswith(part.fault)]
    whole = replace(
        model,
        size=sum(part.size for part in parts.values()),
        shape=replace(
            model.shape,
            weights=sum(part.shape.weights for part in parts.values()),
            embeddings=sum(part.shape.embeddings for part in parts.values()),
            repacked=sum(part.shape.repacked for part in parts.values()),
        ),
        parameters=sum(part.parameters for part in parts.values()),
        fault=fault,
        unreadable=any(part.unreadable for part in faulty),
        instead=next((part.instead for part in faulty), ""),
    )
    return _with_names(replace(whole, fault=whole.fault or _damage(whole)), found)


def _damage(model: LocalModel) -> str | None:
    """What ``models verify`` found out of a file and nobody has put right since."""
    damaged = next((part for part in model.parts if is_damaged(part)), None)
    if damaged is None:
        return None
    return f"{damaged.name} is damaged: its hash is not the one the hub announced"


def _with_names(model: LocalModel, found: FileSet) -> LocalModel:
    """``model`` with the other names that its files have."""
    copies: list[LocalModel] = []
    for other in found.also:
        parts = tuple(path for _, path in sorted(other.parts.items()))
        name = model_name(other.first.path, model.facts.general_name, other.first.name)
        if len(parts) == len(model.parts):
            copies.append(replace(model, path=other.first.path, parts=parts, origin=other.first.origin, name=name))
    return replace(model, also_at=tuple(other.first.path for other in found.also), copies=tuple(copies))


def _without_copies(models: list[LocalModel], store: FactStore) -> list[LocalModel]:
    """Files that are known to be equal are one model, at the place that was looked at first.

    Looking alike is not enough: two files of one size that begin and end alike may differ in between.
    """
    alike = Counter((model.size, len(model.parts)) for model in models)
    originals: dict[tuple[str, ...], int] = {}
    kept: dict[int, LocalModel] = {}
    for number, model in enumerate(models):
        contents = _contents(model, store) if alike[model.size, len(model.parts)] > 1 and not model.fault else None
        original = originals.setdefault(contents, number) if contents is not None else number
        if original == number:
            kept[number] = model
        else:
            first = kept[original]
            kept[original] = replace(
                first,
                also_at=(*first.also_at, model.path, *model.also_at),
                copies=(*first.copies, replace(model, also_at=(), copies=()), *model.copies),
            )
    return list(kept.values())


def _contents(model: LocalModel, store: FactStore) -> tuple[str, ...] | None:
    """What is in the files, for comparing; None where that is not known of all of them without reading gigabytes."""
    known: list[str] = []
    for part in model.parts:
        try:
            status = part.stat()
            hashed = store.fingerprint(part, status) if status.st_size <= WHOLE else _announced(part)
        except OSError:
            return None
        if hashed is None:
            return None
        known.append(f"{status.st_size} {hashed}")
    return tuple(known)


def _announced(part: Path) -> str | None:
    """The hash that a file had when we fetched it; None where that is not known."""
    origin = own_origin(part)
    return origin.expected if origin is not None else None


def look_alike(one: LocalModel, other: LocalModel) -> bool:
    """Whether two models have one file name and size, and nothing is known to differ. They may be the same and may
    not: who names them by that means the one that was looked at first."""
    if (one.path.name.casefold(), one.size, len(one.parts)) != (
        other.path.name.casefold(),
        other.size,
        len(other.parts),
    ):
        return False
    if one.size <= WHOLE * len(one.parts):
        return False  # these were compared whole
    hashes = zip(map(_announced, one.parts), map(_announced, other.parts), strict=True)
    return all(None in both or both[0] == both[1] for both in hashes)
