"""What the shelf hands out: plain frozen records, made for a list, a question or a line of progress."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol

from engine.files.sizes import size_words

if TYPE_CHECKING:
    from engine.protocol import Device


class State(StrEnum):
    """What there is of an entry on this disk; the value is how it is said."""

    READY = "ready"
    IN_PLACE = "ready, read in place"
    PARTLY = "partly here"
    ABSENT = "not here"
    BROKEN = "not whole"
    UNREADABLE = "not readable"
    OTHER = "no chat model"


USABLE = (State.READY, State.IN_PLACE)
FAULTY = (State.BROKEN, State.UNREADABLE)

Tone = Literal["plain", "good", "warn"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the list: a pair of the catalogue, or a model file on this disk."""

    key: str
    """Its name, as ``--model`` and ``slipstream models`` take it; the path for a file without a name of its own."""
    title: str
    state: State
    place: str = ""
    """The heading it stands under: empty for the catalogue, else where the file was found."""
    size: int | None = None
    """Bytes of all its files once they are whole."""
    here: int = 0
    """Bytes of them that are on this disk."""
    memory: int | None = None
    """Bytes that weights, caches and buffers take, estimated."""
    fits: bool | None = None
    """Whether that fits into this machine's memory; None: not known."""
    target: str = ""
    """Path of the file that answers, where it can be used now."""
    draft: str = ""
    """Path of the file that proposes, where there is one and it can be used now."""
    context: int | None = None
    """Tokens of context to start it with; None: the engine chooses."""
    fetchable: bool = False
    """Whether what is missing can be fetched from the hub."""
    own: bool = False
    """Whether it has files that Slipstream fetched and may remove."""
    trouble: str = ""
    """Why it is not whole, in one sentence."""
    speed: float | None = None
    """Tokens a second, as measured here; None: not measured."""
    factor: float | None = None
    """That speed over plain decoding, where both were measured."""

    @property
    def usable(self) -> bool:
        """Whether it can answer now."""
        return bool(self.target)


def by_place(entries: Iterable[Entry]) -> list[Entry]:
    """``entries`` with those of one place together, places and rows in the order in which they came."""
    places: dict[str, list[Entry]] = {}
    for entry in entries:
        places.setdefault(entry.place, []).append(entry)
    return [entry for rows in places.values() for entry in rows]


@dataclass(frozen=True, slots=True)
class Fact:
    """One line about an entry."""

    label: str
    text: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Listing:
    """Everything that can be chosen, and what there is room for."""

    entries: tuple[Entry, ...]
    complaints: tuple[str, ...] = ()
    """Sentences about what could not be read: the user's catalogue, a folder."""
    free_disk: int | None = None
    memory: int | None = None
    free_memory: int | None = None
    cores: int | None = None
    free_gpu_memory: int | None = None
    """Bytes that models can have of GPUs; None: there is none, or no engine has said so yet."""
    folded: tuple[Entry, ...] = ()
    """Drafts of pairs that are whole: they stand in their pair's row, and have one of their own for who asks for them
    by name."""

    def find(self, key: str) -> Entry | None:
        """The entry of this key."""
        return next((entry for entry in self.entries if entry.key == key), None)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What somebody can begin with who has used nothing but the starter."""

    starter: Entry
    best: Entry | None
    """The pair of the catalogue that suits this machine best; None: none fits."""
    missing: int = 0
    """Bytes of it to fetch, as far as sizes are known."""
    found: tuple[tuple[str, int], ...] = ()
    """Where models were found on this disk, and how many that can be used, most first."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What a download would do; nothing has been fetched yet."""

    key: str
    title: str
    text: str
    """The plan, line by line."""
    refusal: str = ""
    """Why it is not started; empty: it can be."""
    missing: int = 0
    """Bytes to fetch."""
    replaceable: tuple[str, ...] = ()
    """Paths of the user's own files that lie in its way: with the person's consent, they can be replaced."""
    replaced: tuple[str, ...] = ()
    """Paths of those that starting it replaces."""
    work: object = field(default=None, repr=False)
    """For whoever starts it."""


class Phase(StrEnum):
    """Where a download is."""

    WAITING = "waiting"
    FETCHING = "fetching"
    CHECKING = "checking"
    STALLED = "will try again"
    PAUSED = "paused"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DONE = "done"


ENDED = (Phase.DONE, Phase.FAILED, Phase.CANCELLED)
RUNNING = (Phase.WAITING, Phase.FETCHING, Phase.CHECKING, Phase.STALLED)


@dataclass(frozen=True, slots=True)
class FileProgress:
    """One file of a download."""

    name: str
    done: int
    total: int
    phase: Phase
    speed: float = 0.0


@dataclass(frozen=True, slots=True)
class Getting:
    """A download as it is at this moment."""

    key: str
    title: str
    phase: Phase
    done: int
    total: int
    speed: float = 0.0
    """Bytes a second over the last few seconds; 0 while nothing arrives."""
    silent: bool = False
    """It is connected, and nothing has come for some seconds."""
    trouble: str = ""
    """What went wrong, what was kept, what to do: for a download that failed or waits to try again."""
    note: str = ""
    """What happened on the way that a person should know, such as a start from zero; the sentence names the file."""
    files: tuple[FileProgress, ...] = ()
    unfinished: int = 0
    """Bytes on this disk of files that are not whole: what giving it up deletes."""

    @property
    def running(self) -> bool:
        """Whether it goes on by itself."""
        return self.phase in RUNNING

    @property
    def ended(self) -> bool:
        """Whether it will not go on by itself, and nobody halted it."""
        return self.phase in ENDED

    @property
    def left(self) -> float | None:
        """Seconds that the rest takes at this speed; None while that cannot be said."""
        return (self.total - self.done) / self.speed if self.speed > 0 and self.phase is Phase.FETCHING else None

    @property
    def share(self) -> float:
        """0 to 1."""
        return min(1.0, self.done / self.total) if self.total else 0.0


@dataclass(frozen=True, slots=True)
class Removal:
    """What a deletion would do; nothing has been deleted yet."""

    key: str
    title: str
    files: tuple[str, ...]
    """Paths that go."""
    freed: int
    kept: tuple[str, ...] = ()
    """Sentences about files that stay, and why."""
    refusal: str = ""
    """Why nothing can be deleted; empty: it can be."""
    held: bool = False
    """A program has one of the files in its memory."""

    def done(self, freed: int) -> str:
        """What is said when ``freed`` bytes are deleted."""
        when = "as soon as the program that uses it now ends" if self.held else "again"
        return f"{self.title} is deleted; {size_words(freed)} are free {when}."


@dataclass(frozen=True, slots=True)
class Check:
    """Whether a pair works here: by its files alone, nothing is loaded."""

    usable: bool
    """All that was named, together."""
    facts: tuple[Fact, ...]
    words: str
    """What it comes to, in one sentence."""


@dataclass(frozen=True, slots=True)
class Verified:
    """One file after it was read whole."""

    path: str
    whole: bool | None
    """None: nothing to compare with."""
    words: str


class ShelfError(Exception):
    """Something the shelf could not do; the message is for people: what happened, what was kept, what to do."""


class Library(Protocol):
    """What the terminal interface needs of :class:`app.library.shelf.Shelf`, so that tests can put a scripted one
    in its place. Every call but :meth:`see_gpus`, :meth:`downloads`, :meth:`pause`, :meth:`resume` and :meth:`cancel`
    may take a while and belongs into a thread. All raise :class:`ShelfError`."""

    def listing(self, used: tuple[str, str] = ("", "")) -> Listing: ...

    def see_gpus(self, gpus: Sequence[Device]) -> None: ...

    def suggestion(self) -> Suggestion: ...

    def details(self, key: str, target: str = "") -> Sequence[Fact]: ...

    def plan(self, wanted: str) -> Offer: ...

    def replacing(self, offer: Offer) -> Offer: ...

    def start(self, offer: Offer) -> None: ...

    def downloads(self) -> Sequence[Getting]: ...

    def pause(self, key: str) -> None: ...

    def resume(self, key: str) -> None: ...

    def cancel(self, key: str) -> None: ...

    def removal(self, key: str) -> Removal: ...

    def remove(self, removal: Removal) -> int: ...

    def judge(self, target: str, draft: str) -> tuple[bool, str]: ...

    def close(self) -> None: ...
