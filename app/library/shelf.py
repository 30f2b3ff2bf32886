"""The shelf: everything that commands and the Models screen do with models, behind one door.

Looking, judging and deleting need no network; :meth:`Shelf.plan` and :meth:`Shelf.check_catalogue` ask the hub, and
:meth:`Shelf.start` fetches. Calls may be made from any thread. Words for people come as they are to be shown, except
that foreign names in them have still to be cleaned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from app import paths
from app.library.added_folders import AddedFolderError, add_folder, added_folders, remove_folder
from app.library.found import OURS
from app.library.inventory import Inventory, PairHere
from app.library.looking import Looking
from app.library.records import Getting, Offer, Removal, ShelfError, Verified
from app.library.removals import removal_of_begun, removal_of_model, removal_of_pair, remove_files
from app.library.replacing import Watch
from app.library.verify import verify_model

if TYPE_CHECKING:
    from app.library.check import EntryCheck


class Shelf(Looking):
    """The models of this machine and of the catalogue. Make one; it remembers its last look at the disk. What changes
    nothing is in :class:`app.library.looking.Looking`."""

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
                return removal_of_begun(begun)
        try:
            found = self.find(key)
        except ShelfError:
            called = [begun for begun in inventory.begun if begun.is_called(key)]
            if len(called) != 1:
                raise
            return removal_of_begun(called[0])
        plan = (
            removal_of_pair(found, inventory)
            if isinstance(found, PairHere)
            else removal_of_model(found, inventory.name(found), inventory)
        )
        if (waiting := self._waits_for(plan, inventory)) is not None:
            raise ShelfError(f"{waiting.title} is being fetched now and needs this; pause or cancel it first.")
        return plan

    def _waits_for(self, plan: Removal, inventory: Inventory) -> Getting | None:
        """A download of a pair that has files among those which would go: it would end with a hole."""
        running = {getting.key: getting for getting in self.downloads() if getting.running}
        for here in inventory.pairs:
            if (getting := running.get(here.pair.name)) is not None:
                needed = {str(part) for model in here.models for part in model.parts}
                if not needed.isdisjoint(plan.files):
                    return getting
        return None

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
