"""The shelf: everything that commands and the Models screen do with models, behind one door.

Looking, judging and deleting need no network; :meth:`Shelf.plan` and :meth:`Shelf.check_catalogue` ask the hub, and
:meth:`Shelf.start` fetches. Calls may be made from any thread. Words for people come as they are to be shown, except
that foreign names in them have still to be cleaned.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app import paths
from app.chats.readonly import UnreadableStoreError
from app.history.groups import History
from app.history.speeds import latest_speeds
from app.library.added_folders import AddedFolderError, add_folder, added_folders, remove_folder
from app.library.best import best_pair, missing_bytes
from app.library.details import at_path, begun_facts, check_facts, draft_facts, draft_verdict, model_facts, pair_facts
from app.library.entries import all_entries, pair_entry, place_words
from app.library.found import OURS, PACKAGE
from app.library.getting import Downloads
from app.library.inventory import Inventory, PairHere, same_model, take_inventory
from app.library.local import LocalModel
from app.library.outside import named_by_path
from app.library.records import (
    Check,
    Entry,
    Fact,
    Getting,
    Listing,
    Offer,
    Removal,
    ShelfError,
    State,
    Suggestion,
    Verified,
)
from app.library.removals import removal_of_begun, removal_of_model, removal_of_pair, remove_files
from app.library.replacing import Watch
from app.library.room import Room, look
from app.library.speed_facts import speed_facts
from app.library.verify import verify_model

if TYPE_CHECKING:
    from app.library.check import EntryCheck
    from app.library.transfer.patience import Patience
    from engine.protocol import Device


class Shelf:
    """The models of this machine and of the catalogue. Make one; it remembers its last look at the disk."""

    def __init__(self, *, patience: Patience | None = None) -> None:
        self._downloads = Downloads(patience)
        self._seen: Inventory | None = None
        self._gpus: tuple[Device, ...] = ()
        self._history = History()
        """As it was at the last look; to move in the list does not ask the store again."""
        self._lock = threading.Lock()

    # ------------------------------------------------------------------------------------------------- looking

    def listing(self) -> Listing:
        """Look at catalogue and disk anew."""
        inventory, room = self._look(), self._room()
        history, complaint = self._read_history()
        entries = list(all_entries(inventory, room, latest_speeds(history.answers)))
        known = {entry.key for entry in entries}
        entries += [_coming(one) for one in self.downloads() if one.key not in known and one.running]
        return Listing(
            entries=tuple({entry.key: entry for entry in entries}.values()),
            complaints=(*inventory.complaints, *([complaint] if complaint else [])),
            free_disk=room.disk,
            memory=room.memory,
            free_memory=room.free_memory,
            cores=room.cores,
            free_gpu_memory=room.on_gpus if room.gpus else None,
        )

    def _read_history(self) -> tuple[History, str]:
        """How fast models were here, and a sentence about what of it cannot be read."""
        try:
            self._history = History.read(paths.chats_file())
        except UnreadableStoreError as error:
            self._history = History()
            return self._history, str(error)
        return self._history, self._history.left_out

    def see_gpus(self, gpus: Sequence[Device]) -> None:
        """What the engine said of GPUs with memory of their own; until then main memory alone counts."""
        self._gpus = tuple(gpus)

    def suggestion(self) -> Suggestion:
        """For somebody who has used nothing but the starter: the pair that suits this machine best, and how many
        models of other tools are here. Asks no hub."""
        inventory, room = self._look(), self._room()
        best = best_pair(inventory.pairs, room)
        found = Counter(model.origin for model in inventory.models if model.usable and model.origin != PACKAGE)
        starter = next(iter(inventory.pairs))
        return Suggestion(
            starter=pair_entry(starter, inventory.models_dir, room, {}),
            best=pair_entry(best, inventory.models_dir, room, {}) if best is not None else None,
            missing=missing_bytes(best) if best is not None else 0,
            found=tuple(found.most_common()),
        )

    def details(self, key: str, target: str = "") -> Sequence[Fact]:
        """What there is to say about an entry of the list; ``target``: path of the model that answers now."""
        inventory, room = self._known(), self._room()
        for here in inventory.pairs:
            if here.pair.name == key:
                return self._with_speeds(tuple(pair_facts(here, inventory, room)), *_files(here))
        for model in inventory.models:
            if inventory.name(model) == key:
                facts = tuple(model_facts(model, inventory, room, at_path(inventory, target)))
                return self._with_speeds(facts, str(model.path))
        for begun in inventory.begun:
            if begun.name == key:
                return tuple(begun_facts(begun))
        return (Fact("about", key),)

    def find(self, wanted: str) -> PairHere | LocalModel:
        """The pair or the model on this disk that ``wanted`` means."""
        inventory = self._known()
        if (pair := inventory.catalog.find(wanted)) is not None:
            return next(here for here in inventory.pairs if here.pair.name == pair.name)
        found = same_model(inventory, wanted)
        if len(found) == 1:
            return found[0]
        if found:
            where = ", ".join(str(model.path) for model in found)
            raise ShelfError(f"{wanted} is {len(found)} models on this disk: {where}. Name one by its path.")
        if (outside := named_by_path(wanted)) is not None:
            return outside
        raise ShelfError(f"Nothing on this disk is called {wanted}. See: slipstream models list")

    def files(self, wanted: str) -> list[Path]:
        """Where its files are."""
        found = self.find(wanted)
        models = found.models if isinstance(found, PairHere) else (found,)
        return [part for model in models for part in model.parts]

    def judge(self, target: str, draft: str) -> tuple[bool, str]:
        """Whether the file ``draft`` may draft for the file ``target``, and why."""
        inventory = self._known()
        answering, proposing = at_path(inventory, target), at_path(inventory, draft)
        if answering is None or proposing is None:
            return False, f"{draft if proposing is None else target} was not found on this disk"
        verdict = draft_verdict(answering, proposing, inventory)
        return verdict.can_draft, verdict.reason

    def check(self, target: str, draft: str | None = None, context: int | None = None) -> Check:
        """Whether a pair can be used here, by its files alone; without ``draft`` what else may draft for the target."""
        one, other = self._one_model(target), self._one_model(draft, "draft") if draft is not None else None
        found = self.find(target)
        if other is None and isinstance(found, PairHere) and found.draft is not None and found.draft.usable:
            other = found.draft.model
        usable, facts = check_facts(one, other, self._known(), self._room(), context)
        others = draft_facts(one, self._known()) if draft is None and one.usable else ()
        return Check(usable, (*facts, *others))

    # ------------------------------------------------------------------------------------------------ fetching

    def plan(self, wanted: str) -> Offer:
        """What fetching ``wanted`` would mean: NAME, OWNER/REPO[:QUANT] or OWNER/REPO/FILE. Asks the hub, unless all
        of it is here."""
        from app.library.planning import offer_for  # loads the HTTP library

        return offer_for(wanted, self._look(), self._room())

    def replacing(self, offer: Offer, watch: Watch = lambda path, done, total: None) -> Offer:
        """The same download, replacing the user's files that lie in its way. Reads them whole: its text says what
        would be lost. Only :meth:`start` changes anything."""
        from app.library.planning import replacing_offer

        return replacing_offer(offer, watch)

    def start(self, offer: Offer) -> None:
        """Begin to fetch; returns at once."""
        from app.library.planning import errand_for

        if offer.refusal:
            raise ShelfError(offer.refusal)
        self._downloads.start(errand_for(offer))

    def downloads(self) -> Sequence[Getting]:
        """Every download of this run of the program, as it is now. Never waits."""
        return self._downloads.snapshots()

    def pause(self, key: str) -> None:
        """Close its connections; what has arrived stays."""
        self._downloads.pause(key)

    def resume(self, key: str) -> None:
        """Go on after a pause or a failure."""
        self._downloads.resume(key)

    def cancel(self, key: str) -> None:
        """End it, and delete what has arrived of files that are not whole."""
        self._downloads.cancel(key)

    def close(self) -> None:
        """End all downloads; what has arrived stays for the next time. Takes a second at most."""
        self._downloads.close()

    def check_catalogue(self) -> Iterator[EntryCheck]:
        """Ask the hub whether every file of the catalogue is still there."""
        from app.library.planning import catalogue_checks

        return catalogue_checks(self._known().catalog)

    # ----------------------------------------------------------------------------------------- keeping in order

    def removal(self, key: str) -> Removal:
        """What deleting an entry would free; only files that Slipstream fetched are ever deleted."""
        inventory = self._look()
        if (getting := self._downloads.find(key)) is not None and getting.running:
            raise ShelfError(f"{getting.title} is being fetched now; pause or cancel it first.")
        for begun in inventory.begun:
            if begun.name == key:
                return removal_of_begun(begun.name, [part.path for part in begun.parts])
        found = self.find(key)
        if isinstance(found, PairHere):
            return removal_of_pair(found, inventory)
        return removal_of_model(found, inventory.name(found), inventory)

    def remove(self, removal: Removal) -> int:
        """Delete as planned; returns the bytes that are free again."""
        if removal.refusal:
            raise ShelfError(removal.refusal)
        freed = remove_files(removal.files, paths.models_dir())
        self._downloads.forget(removal.key)
        return freed

    def verify(self, wanted: str | None, watch: Callable[[str, int, int], None]) -> Iterator[Verified]:
        """Read files whole and compare them with the hashes kept: those of ``wanted``, or all that have one."""
        inventory = self._look()
        if wanted is None:
            models = [model for model in inventory.models if model.origin == OURS]
        else:
            found = self.find(wanted)
            models = list(found.models) if isinstance(found, PairHere) else [found]
            if not models:
                raise ShelfError(f"Nothing of {wanted} is on this disk. Get it with: slipstream models pull {wanted}")
        for model in models:
            yield from verify_model(model, watch)

    def add_folder(self, folder: Path) -> tuple[Path, int]:
        """Look for models in a folder of the user's from now on; returns it, and how many models are in it."""
        try:
            kept = add_folder(paths.model_folders_file(), folder)
        except AddedFolderError as error:
            raise ShelfError(str(error)) from error
        inside = [model for model in self._look().models if model.path.is_relative_to(kept)]
        return kept, sum(model.usable for model in inside)

    def remove_folder(self, folder: Path) -> bool:
        """Look there no longer; the files stay. False when it was not looked at before."""
        try:
            return remove_folder(paths.model_folders_file(), folder)
        except AddedFolderError as error:
            raise ShelfError(str(error)) from error

    def folders(self) -> list[tuple[str, Path]]:
        """Every place models are looked for in that exists, and what it is."""
        from app.library.places import places

        inventory = self._known()
        found = [("models folder", paths.models_dir())]
        for place in places(paths.models_dir(), inventory.catalog, added_folders(paths.model_folders_file())):
            folder = getattr(place, "folder", None)
            if isinstance(folder, Path) and folder.is_dir() and folder != paths.models_dir():
                found.append((place.origin, folder))
        return found

    # ------------------------------------------------------------------------------------------------- helpers

    def _with_speeds(self, facts: tuple[Fact, ...], target: str, draft: str = "") -> tuple[Fact, ...]:
        """How fast these files were here, behind what says what they are."""
        at = next((number for number, fact in enumerate(facts, start=1) if fact.label == "about"), 0)
        return (*facts[:at], *speed_facts(self._history.of_files(target, draft)), *facts[at:])

    def _look(self) -> Inventory:
        with self._lock:
            self._seen = take_inventory()
            return self._seen

    def _room(self) -> Room:
        return look(paths.models_dir(), self._gpus)

    def _known(self) -> Inventory:
        with self._lock:
            seen = self._seen
        return seen or self._look()

    def _one_model(self, wanted: str, role: str = "target") -> LocalModel:
        found = self.find(wanted)
        if isinstance(found, LocalModel):
            return found
        source = found.target if role == "target" or found.draft is None else found.draft
        if source.model is None:
            raise ShelfError(
                f"{source.source.file} of {found.pair.name} is not on this disk. "
                f"Get it with: slipstream models pull {found.pair.name}"
            )
        return source.model


def _files(here: PairHere) -> tuple[str, str]:
    """Where the files of a pair are, as far as they are here."""
    target, draft = here.target.model, here.draft.model if here.draft is not None else None
    return str(target.path) if target is not None else "", str(draft.path) if draft is not None else ""


def _coming(getting: Getting) -> Entry:
    """A download of which nothing is on the disk yet."""
    return Entry(
        getting.key,
        getting.title,
        State.PARTLY,
        place=place_words(OURS),
        size=getting.total,
        here=getting.done,
        fetchable=True,
        own=True,
    )
