"""What is on the shelf, as far as looking tells: the list, what there is to say of an entry, whether a pair fits."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app import paths
from app.chats.readonly import UnreadableStoreError
from app.history.groups import History
from app.history.speeds import latest_speeds
from app.library.best import best_pair, missing_bytes
from app.library.details import (
    at_path,
    begun_facts,
    check_facts,
    coming_fact,
    draft_facts,
    draft_verdict,
    model_facts,
    pair_facts,
)
from app.library.entries import all_entries, model_entry, pair_entry, place_words
from app.library.found import OURS, PACKAGE
from app.library.getting import Downloads
from app.library.inventory import Inventory, PairHere, SourceHere, same_model, take_inventory
from app.library.local import LocalModel
from app.library.outside import named_by_path
from app.library.partly import all_begun
from app.library.records import (
    Check,
    Entry,
    Fact,
    Getting,
    Listing,
    Phase,
    ShelfError,
    State,
    Suggestion,
    by_place,
)
from app.library.resolve import NO_NAME
from app.library.room import Room, look
from app.library.speed_facts import speed_facts
from app.library.used_pair import KEY, used_entry, used_facts
from engine.files.limits import wrong_context

if TYPE_CHECKING:
    from app.library.transfer.patience import Patience
    from engine.protocol import Device


class Looking:
    """The half of :class:`app.library.shelf.Shelf` that changes nothing. It remembers its last look at the disk."""

    def __init__(self, *, patience: Patience | None = None) -> None:
        self._downloads = Downloads(patience)
        self._seen: Inventory | None = None
        self._gpus: tuple[Device, ...] = ()
        self._history = History()
        """As it was at the last look; to move in the list does not ask the store again."""
        self._used = ("", "")
        """Of the row for the pair in use."""
        self._lock = threading.Lock()

    def listing(self, used: tuple[str, str] = ("", "")) -> Listing:
        """Look at catalogue and disk anew. ``used``: paths of the target and of the draft that answer now; the pair has
        a row also where these were put together by hand."""
        inventory, room = self._look(), self._room()
        history, complaint = self._read_history()
        moving = {file.name: one.key for one in self.downloads() if one.running for file in one.files}
        begun = {one.name: one.name.rpartition("/")[2] for one in inventory.begun}
        speeds = latest_speeds(history.answers)
        entries = [  # what a pair's download fetches is seen at the pair
            entry
            for entry in all_entries(inventory, room, speeds)
            if moving.get(begun.get(entry.key, ""), entry.key) == entry.key
        ]
        known = {entry.key for entry in entries}
        entries += [_coming(one) for one in self.downloads() if one.key not in known and one.running]
        answering = at_path(inventory, used[0])
        folded = []
        for model in inventory.folded:
            row = model_entry(model, inventory, room, speeds)
            if model is answering:  # a row that is in use is never hidden in that of a pair
                entries.append(row)
            else:
                folded.append(row)
        entries = by_place(entries)
        if (pair := used_entry(used, entries, inventory, room, speeds)) is not None:
            self._used, entries = used, [pair, *entries]
        return Listing(
            entries=tuple({entry.key: entry for entry in entries}.values()),
            complaints=(*inventory.complaints, *([complaint] if complaint else [])),
            free_disk=room.disk,
            memory=room.memory,
            free_memory=room.free_memory,
            cores=room.cores,
            free_gpu_memory=room.on_gpus if room.gpus else None,
            folded=tuple(folded),
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
        getting = self._downloads.find(key)
        moving = getting if getting is not None and getting.phase not in (Phase.DONE, Phase.CANCELLED) else None
        if key == KEY:
            return self._with_speeds(tuple(used_facts(self._used, inventory, room)), *self._used)
        for here in inventory.pairs:
            if here.pair.name == key:
                facts = tuple(pair_facts(_as_it_moves(here, moving), inventory, room))
                return self._with_speeds(facts, *_files(here))
        for model in inventory.models:
            if inventory.name(model) == key:
                facts = tuple(model_facts(model, inventory, room, at_path(inventory, target)))
                return self._with_speeds(facts, str(model.path))
        for begun in inventory.begun:
            if begun.name == key:
                return tuple(begun_facts(begun, moving))
        return (coming_fact(moving.done, moving.total) if moving is not None else Fact("about", key),)

    def find(self, wanted: str) -> PairHere | LocalModel:
        """The pair or the model on this disk that ``wanted`` means."""
        if not wanted.strip():
            raise ShelfError(NO_NAME)
        inventory = self._known()
        if (pair := inventory.catalog.find(wanted)) is not None:
            return next(here for here in inventory.pairs if here.pair.name == pair.name)
        found = same_model(inventory, wanted)
        if len(found) == 1:
            return found[0]
        if found:
            where = ", ".join(str(model.path) for model in found)
            raise ShelfError(f"{wanted} is {len(found)} models on this disk: {where}. Name one by its path.")
        if (begun := next((one for one in all_begun(inventory.models_dir) if one.is_called(wanted)), None)) is not None:
            raise ShelfError(f"{begun.words}.")
        if (outside := named_by_path(wanted)) is not None:
            return outside
        raise ShelfError(f"Nothing on this disk is called {wanted}. See: slipstream models list")

    def models(self, wanted: str) -> tuple[LocalModel, ...]:
        """The models that ``wanted`` means, as the disk is now: of a pair those of its files that are here."""
        self._look()
        found = self.find(wanted)
        return found.models if isinstance(found, PairHere) else (found,)

    def files(self, wanted: str) -> list[Path]:
        """Where its files are."""
        found = self.find(wanted)
        models = found.models if isinstance(found, PairHere) else (found,)
        return [part for model in models for part in model.parts]

    def unfinished(self, wanted: str) -> list[str]:
        """A sentence about each download of its files that has not ended."""
        found = self.find(wanted)
        partly: list[str] = []
        if isinstance(found, PairHere):
            partly = [words for source in found.sources if (words := source.partly(found.pair.name))]
        models = found.models if isinstance(found, PairHere) else (found,)
        partly += [begun.words for begun in self._known().begun_anew(models)]
        return [f"{words}." for words in partly]

    def judge(self, target: str, draft: str) -> tuple[bool, str]:
        """Whether the file ``draft`` may draft for the file ``target``, and why."""
        inventory = self._known()
        answering, proposing = (_wherever(inventory, path) for path in (target, draft))
        if answering is None or proposing is None:
            return False, f"{draft if proposing is None else target} was not found on this disk"
        verdict = draft_verdict(answering, proposing, inventory)
        return verdict.can_draft, verdict.reason

    def check(self, target: str, draft: str | None = None, context: int | None = None) -> Check:
        """Whether a pair can be used here, by its files alone; without ``draft`` what else may draft for the target."""
        if wrong := wrong_context(context):
            raise ShelfError(wrong)
        one, other = self._one_model(target), self._one_model(draft, "draft") if draft is not None else None
        found = self.find(target)
        if other is None and isinstance(found, PairHere) and found.draft is not None and found.draft.usable:
            other = found.draft.model
        check = check_facts(one, other, self._known(), self._room(), context)
        others = draft_facts(one, self._known()) if draft is None and one.usable else ()
        return replace(check, facts=(*check.facts, *others))

    def downloads(self) -> Sequence[Getting]:
        """Every download of this run of the program, as it is now. Never waits."""
        return self._downloads.snapshots()

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
        if source.begun:
            raise ShelfError(f"{source.partly(found.pair.name)}.")
        if source.model is None:
            raise ShelfError(
                f"{source.source.file} of {found.pair.name} is not on this disk. "
                f"Get it with: slipstream models pull {found.pair.name}"
            )
        return source.model


def _wherever(inventory: Inventory, path: str) -> LocalModel | None:
    """The model that the file at ``path`` is, also where nothing is looked for."""
    return at_path(inventory, path) or (named_by_path(path) if Path(path).is_file() else None)


def _files(here: PairHere) -> tuple[str, str]:
    """Where the files of a pair are, as far as they are here."""
    target, draft = here.target.model, here.draft.model if here.draft is not None else None
    return str(target.path) if target is not None else "", str(draft.path) if draft is not None else ""


def _as_it_moves(here: PairHere, getting: Getting | None) -> PairHere:
    """The pair with what has arrived of it by now, where it is being fetched: the last look may be minutes old."""
    if getting is None:
        return here
    target, draft = (_so_far(source, getting) if source is not None else None for source in (here.target, here.draft))
    return replace(here, target=target or here.target, draft=draft)


def _so_far(source: SourceHere, getting: Getting) -> SourceHere:
    coming = [file.done for file in getting.files if source.source.is_called(file.name)]
    return replace(source, begun=sum(coming)) if coming and not source.usable else source


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
