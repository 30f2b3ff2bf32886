"""From what a person wants to an offer, and from an offer that was accepted to a download. Loads the HTTP library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from app import paths
from app.library.arrived import why_no_model
from app.library.catalog import Catalog
from app.library.check import EntryCheck, check_catalogue
from app.library.choice import split_name
from app.library.entries import may_delete
from app.library.getting import Errand
from app.library.hub import Hub, endpoint_in_use
from app.library.hub_errors import HubError
from app.library.inventory import Inventory, PairHere
from app.library.local import LocalModel
from app.library.names import PairWish, parse_wish
from app.library.origins import Origin, forget_origin, is_damaged, own_origin, write_origin
from app.library.plan import Memory, Plan, PlannedFile, find_pair, make_plan
from app.library.plan_text import plan_text
from app.library.present import REPLACED
from app.library.records import Offer, ShelfError
from app.library.replacing import Watch, look_at, why_it_stays
from app.library.room import Room
from app.library.transfer.errors import TransferError
from app.library.transfer.existing import kept_of
from app.library.transfer.leftovers import tidy
from app.library.transfer.wanted import Arrived, Wanted
from app.library.upstream import upstream
from engine.files.shape import Shape
from engine.files.sizes import size_words

WORKING_MEMORY = 0.8e9
"""Bytes for caches and buffers, where nothing is known of a model but its size."""


def offer_for(wanted: str, inventory: Inventory, room: Room) -> Offer:
    """What fetching ``wanted`` would mean. :class:`ShelfError` when that cannot be said."""
    here = None
    try:
        wish = parse_wish(wanted, endpoint_in_use())
        if isinstance(wish, PairWish):
            pair = find_pair(wish.name, inventory.catalog)
            here = next(one for one in inventory.pairs if one.pair.name == pair.name)
            if here.whole and not any(may_delete(part, inventory.models_dir) for m in here.models for part in m.parts):
                return _all_here(here)
        plan = make_plan(
            wish, hub=Hub(), catalog=inventory.catalog, models_dir=inventory.models_dir, estimate=_Estimating(room)
        )
    except HubError as error:
        if here is not None and here.whole:  # whether the hub has another version now can be asked some other time
            return _all_here(here)
        raise ShelfError(str(error)) from error
    plan = _with_files_elsewhere(plan, inventory) if here is None else _with_files_in_place(plan, here)
    return _offer_of(_with_memory_of_headers(plan, inventory, room))


def replacing_offer(offer: Offer, watch: Watch) -> Offer:
    """The same offer, with the user's files that lie in its way replaced. They are read whole, since the text of the
    offer says what would be lost; ``watch`` is told how far that is."""
    plan = offer.work
    if not isinstance(plan, Plan) or not offer.replaceable:
        return offer
    standing = tuple(look_at(file.destination, watch) for file in plan.in_the_way)
    return _offer_of(replace(plan, replacing=standing))


def errand_for(offer: Offer) -> Errand:
    """The download that was agreed to."""
    plan = offer.work
    if not isinstance(plan, Plan):
        raise ShelfError(f"{offer.title} has nothing to be fetched.")
    missing = [one for one in _sets(plan) if any(file.state != "here" for file in one)]
    files = [file for one in missing for file in one]
    origins = {file.destination: _origin(file) for file in files}
    replaced = {file.destination for file in files if file.state in REPLACED}
    agreed = {standing.path: standing for standing in plan.replacing}
    hub = Hub()

    def begun() -> None:
        try:
            paths.ensure(plan.models_dir)
        except paths.FolderError as error:
            raise TransferError("no_permission", str(error)) from error
        for file in files:
            if not file.destination.exists():
                forget_origin(file.destination)  # of a file that is gone: whatever is put here is not that one

    def whole(file: Arrived) -> None:
        # First the note, then the name: a full disk must not leave a file that nobody knows we fetched.
        write_origin(file.path, origins[file.path], file.bytes_at)

    def may_replace(path: Path) -> bool:
        if (standing := agreed.get(path)) is not None:
            return standing.is_there and not why_it_stays(path, plan.models_dir)
        return path in replaced and not path.is_symlink() and (own_origin(path) is not None or is_damaged(path))

    return Errand(
        key=offer.key,
        title=offer.title,
        sets=tuple(tuple(_wanted(file, hub) for file in one) for one in missing),
        begun=begun,
        whole=whole,
        why_unusable=why_no_model,
        replace=may_replace,
    )


def catalogue_checks(catalog: Catalog) -> Iterator[EntryCheck]:
    """Each file of the catalogue as the hub has it. :class:`ShelfError` when the hub itself is the trouble."""
    try:
        yield from check_catalogue(catalog, Hub())
    except HubError as error:
        raise ShelfError(str(error)) from error


def _offer_of(plan: Plan) -> Offer:
    refusal = plan.refusal or ""
    text = plan_text(plan).removesuffix(refusal).rstrip()
    foreign = plan.in_the_way
    if plan.complete:
        for file in plan.files:
            if file.repo is not None:
                tidy(file.destination)
        refusal = f"{plan.title} is here already; nothing is to be fetched.{_left_over(plan)}"
    return Offer(
        key=plan.pair.name if plan.pair is not None else plan.title,
        title=plan.title,
        text=text,
        refusal=refusal,
        missing=plan.to_fetch,
        replaceable=() if any(file.stays for file in foreign) else tuple(str(file.destination) for file in foreign),
        replaced=tuple(str(standing.path) for standing in plan.replacing),
        work=plan,
    )


def _left_over(plan: Plan) -> str:
    """What lies beside whole files of a download that nobody needs any more, and what deletes it; empty for nothing."""
    left = [file for file in plan.files if file.repo is not None and kept_of(file.destination)]
    if not left:
        return ""
    size = size_words(sum(kept_of(file.destination) for file in left))
    ways = ", ".join(dict.fromkeys(f"slipstream models rm {_begun_name(file)}" for file in left))
    return f" {size} of a download that is not needed any more lie beside it; this deletes them: {ways}"


def _begun_name(file: PlannedFile) -> str:
    """What a download of ``file`` is called while it has not ended: a split model by its first part."""
    name = split_name(f"{file.repo}/{file.name}")
    return f"{name.stem}-00001-of-{name.count:05}.gguf" if name.count else f"{file.repo}/{file.name}"


def _all_here(here: PairHere) -> Offer:
    where = ", ".join(str(model.path) for model in here.models)
    refusal = f"{here.pair.title} is here already; nothing is to be fetched."
    return Offer(here.pair.name, here.pair.title, f"its files: {where}", refusal)


def _with_files_in_place(plan: Plan, here: PairHere) -> Plan:
    """Files that another tool keeps on this disk need not be fetched: they are read there."""
    files = list(plan.files)
    for source in here.sources:
        wanted = [file for file in files if file.role == source.role and file.state != "here"]
        if not wanted or not source.usable or source.model is None:
            continue
        model = source.model
        if any(file.state in REPLACED and file.destination in model.parts for file in wanted):
            continue
        there = PlannedFile(
            source.role, model.path.name, f"read in place, {model.origin}", model.path, model.size, "here", model.size
        )
        files = [there if file.role == source.role else file for file in files]
    return replace(plan, files=tuple(dict.fromkeys(files)))


def _with_files_elsewhere(plan: Plan, inventory: Inventory) -> Plan:
    """The same for what was named on the hub: another tool has fetched these very files from there."""
    places = [place for model in inventory.models if model.usable for place in (model, *model.copies)]
    files: list[PlannedFile] = []
    for wanted in _sets(plan):
        there = None
        if all(file.state in ("absent", "partial") for file in wanted):
            there = next((place for place in places if _are(place, wanted)), None)
        if there is None:
            files += wanted
        else:
            origin = f"read in place, {there.origin}"
            files.append(
                PlannedFile(wanted[0].role, there.path.name, origin, there.path, there.size, "here", there.size)
            )
    return replace(plan, files=tuple(files))


def _with_memory_of_headers(plan: Plan, inventory: Inventory, room: Room) -> Plan:
    """Where all files are here, their headers tell what the list and ``check`` tell; sizes alone say much less."""
    places = [place for model in inventory.models for place in (model, *model.copies)]
    shapes: dict[str, Shape] = {}
    for files in _sets(plan):
        here = {file.destination for file in files if file.state == "here"}
        model = next((place for place in places if place.usable and place.path in here), None)
        if model is None or len(here) < len(files):
            return plan
        shapes[files[0].role] = model.shape
    if (target := shapes.get("target")) is None:
        return plan
    own = target if plan.drafter != "lookup" else None  # a pair may draft with its own target
    fit = room.fit(target, shapes.get("draft", own), plan.pair.context if plan.pair is not None else None)
    return replace(plan, memory=Memory(fit.needed, room.main, room.words(fit.needed)))


def _are(model: LocalModel, wanted: list[PlannedFile]) -> bool:
    """Whether the model's files are those of the hub: by repository, path and size, and by hash where that is known."""
    known = [upstream(part, model.origin) for part in model.parts]
    if len(known) != len(wanted) or model.size != sum(file.size for file in wanted):
        return False
    return all(
        file is not None
        and (file.repo.casefold(), file.path) == ((one.repo or "").casefold(), one.name)
        and (file.sha256 is None or one.sha256 is None or file.sha256 == one.sha256)
        for file, one in zip(known, sorted(wanted, key=lambda one: one.name), strict=True)
    )


def _sets(plan: Plan) -> list[list[PlannedFile]]:
    """The files of one part of the pair are one model."""
    roles = dict.fromkeys(file.role for file in plan.files)
    return [[file for file in plan.files if file.role == role] for role in roles]


def _wanted(file: PlannedFile, hub: Hub) -> Wanted:
    if file.url is None:
        raise ShelfError(f"{file.name} cannot be fetched from the hub: it travels in a {file.origin}.")

    def headers() -> Mapping[str, str]:
        try:
            return hub.headers()
        except HubError as error:  # the file with the token, since the plan was made
            raise TransferError("token", str(error), file.destination) from error

    return Wanted(file.url, file.destination, file.size, sha256=file.sha256, etag=file.blob, headers=headers)


def _origin(file: PlannedFile) -> Origin:
    blob = file.blob if file.blob is not None and len(file.blob) == 40 else None
    return Origin(file.repo or "", file.revision or "", file.name, file.size, file.sha256, blob)


class _Estimating:
    """Judges memory for a plan: as the catalogue says, else by the size of the files."""

    def __init__(self, room: Room) -> None:
        self._room = room

    def __call__(self, *, target: int, draft: int, context: int | None, stated: int | None) -> Memory:
        needed = stated or round((target + draft) * 1.05 + WORKING_MEMORY)
        return Memory(needed, self._room.main, self._room.words(needed))
