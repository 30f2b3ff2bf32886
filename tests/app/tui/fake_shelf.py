"""A scripted library: what is on its shelf and what the hub would say are written down beforehand."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.library.records import Entry, Fact, Getting, Listing, Offer, Phase, Removal, ShelfError, State, Suggestion
from engine.protocol import Device
from tests.app.tui.fake_client import MODEL_PATH

GB = 10**9
DRAFT_PATH = "/models/Qwen/Qwen3-0.6B-GGUF/Qwen3-0.6B-Q8_0.gguf"
MISTRAL_PATH = "/studio/mistral-7b-instruct-v0.3.Q4_K_M.gguf"

STARTER = Entry(
    "smollm2-135m", "SmolLM2-135M + lookup", State.READY, size=98_362_432, here=98_362_432, memory=300_000_000,
    fits=True, target=MODEL_PATH, context=8192, speed=42.1, factor=1.04,
)  # fmt: skip
QWEN = Entry(
    "qwen3-4b", "Qwen3-4B with 0.6B", State.ABSENT, size=3_136_726_944, memory=5_800_000_000, fits=True, fetchable=True,
    context=8192,
)  # fmt: skip
PARTLY = Entry(
    "llama-3.1-8b", "Llama-3.1-8B with 3.2-1B", State.PARTLY, size=6_241_822_240, here=1_321_083_008,
    memory=8_100_000_000, fits=True, fetchable=True, own=True,
)  # fmt: skip
LARGE = Entry(
    "qwen3-32b", "Qwen3-32B with 0.6B", State.ABSENT, size=20_401_595_712, memory=22_400_000_000, fits=False,
    fetchable=True,
)  # fmt: skip
DRAFT = Entry(
    "Qwen3-0.6B-Q8_0", "Qwen3-0.6B Q8_0", State.READY, place="on this disk", size=639_446_688, here=639_446_688,
    memory=1_500_000_000, fits=True, target=DRAFT_PATH, own=True,
)  # fmt: skip
MISTRAL = Entry(
    "mistral-7b-instruct-v0.3.Q4_K_M", "mistral-7b-instruct-v0.3 Q4_K_M", State.IN_PLACE,
    place="on this disk (LM Studio)", size=4_372_812_000, here=4_372_812_000, memory=5_900_000_000, fits=True,
    target=MISTRAL_PATH, speed=6.3,
)  # fmt: skip
CUT = Entry(
    "cut", "cut Q4_0", State.BROKEN, place="on this disk (LM Studio)", size=7_000_000, here=7_000_000,
    trouble="the file is cut off: 7 of 8 MB are there",
)  # fmt: skip
EVERYTHING = (STARTER, QWEN, PARTLY, LARGE, DRAFT, MISTRAL, CUT)

PLAN = """Qwen3-4B with 0.6B
  The first choice for a laptop with 8 GB and no GPU.

  target  Qwen3-4B-Q4_K_M.gguf   2.5 GB  to fetch  Qwen/Qwen3-4B-GGUF
  draft   Qwen3-0.6B-Q8_0.gguf   639 MB  to fetch  Qwen/Qwen3-0.6B-GGUF

  licence  Apache-2.0, https://www.apache.org/licenses/LICENSE-2.0
  memory   about 5.8 GB of 22.0 GB, fits
  disk     53.0 GB free, 49.9 GB afterwards, in /home/you/models
  total    3.1 GB, 3.1 GB to fetch"""


def getting(done: int, phase: Phase = Phase.FETCHING, *, entry: Entry = QWEN, **more: Any) -> Getting:
    """A download of ``entry`` with ``done`` bytes here."""
    values: dict[str, Any] = {"speed": 12_000_000.0 if phase is Phase.FETCHING else 0.0, "unfinished": done, **more}
    return Getting(entry.key, entry.title, phase, done, entry.size or 0, **values)


@dataclass
class FakeShelf:
    """Behaves like :class:`app.library.shelf.Shelf`."""

    entries: Sequence[Entry] = EVERYTHING
    complaints: tuple[str, ...] = ()
    refusal: str = ""
    """Why plans are refused."""
    in_the_way: tuple[str, ...] = ()
    """Files of the user's where downloads would go."""
    plan_error: str = ""
    """Why no plan can be made."""
    listing_error: str = ""
    removal_refusal: str = ""
    removed: tuple[str, ...] = ("/models/one.gguf",)
    """What a deletion would delete."""
    verdict: tuple[bool, str] = (True, "same vocabulary; a token costs 0.26 of a pass (by the sizes)")
    hub_answers: threading.Event = field(default_factory=threading.Event)
    """Plans wait for it; set from the start."""
    suggested: Suggestion | None = None
    looks: threading.Event = field(default_factory=threading.Event)
    """Suggestions wait for it; set from the start."""
    gpus: Sequence[Device] = ()
    """What was said of GPUs."""
    moving: dict[str, Getting] = field(default_factory=dict)
    did: list[tuple[str, str]] = field(default_factory=list)
    closed: bool = False
    folded: tuple[Entry, ...] = ()
    """Drafts that stand in the rows of their pairs."""
    used: tuple[str, str] = ("", "")
    """The pair that answers, as the list was last asked for it."""
    arrived: str = ""
    """What the details say of a download."""

    def __post_init__(self) -> None:
        self.hub_answers.set()
        self.looks.set()

    def listing(self, used: tuple[str, str] = ("", "")) -> Listing:
        self.used = used
        if self.listing_error:
            raise ShelfError(self.listing_error)
        return Listing(
            tuple(self.entries), self.complaints, free_disk=53 * GB, memory=24 * GB, free_memory=22 * GB, cores=2,
            folded=self.folded,
        )  # fmt: skip

    def see_gpus(self, gpus: Sequence[Device]) -> None:
        self.gpus = gpus

    def suggestion(self) -> Suggestion:
        self.looks.wait(10)
        if self.suggested is None:
            raise ShelfError("There is nothing to suggest.")
        return self.suggested

    def details(self, key: str, target: str = "") -> Sequence[Fact]:
        entry = next(entry for entry in (*self.entries, *self.folded) if entry.key == key)
        facts = [
            Fact("about", f"All about {entry.title}."),
            Fact("licence", "Apache-2.0, https://www.apache.org/licenses/LICENSE-2.0"),
            Fact(
                "draft", "same vocabulary; a token costs 0.26 of a pass (by the sizes), which pays from 35 % accepted"
            ),
            Fact("memory", "About 5.8 GB of memory at 8,192 tokens of context; 22.0 GB are free."),
            Fact("", "weights 2.5 GB · KV cache 1.2 GB · draft weights 639 MB · draft KV cache 940 MB"),
        ]
        facts = [*facts, Fact("target", self.arrived)] if self.arrived else facts
        return [*facts, Fact("trouble", entry.trouble, "warn")] if entry.trouble else facts

    def plan(self, wanted: str) -> Offer:
        self.did.append(("plan", wanted))
        self.hub_answers.wait(10)
        if self.plan_error:
            raise ShelfError(self.plan_error)
        entry = next((entry for entry in self.entries if entry.key == wanted), QWEN)
        return Offer(wanted, entry.title, PLAN, self.refusal, (entry.size or 0) - entry.here, self.in_the_way)

    def replacing(self, offer: Offer) -> Offer:
        self.did.append(("replacing", offer.key))
        lost = "\n".join(
            f"  replaces {path}, 12 bytes, changed 2026-11-30 01:07: lost for good" for path in self.in_the_way
        )
        head, _, rest = PLAN.partition("\n\n")
        return replace(offer, text=f"{head}\n\n{lost}\n\n{rest}", refusal="", replaceable=(), replaced=self.in_the_way)

    def start(self, offer: Offer) -> None:
        self.did.append(("start", offer.key))
        entry = next((entry for entry in self.entries if entry.key == offer.key), QWEN)
        self.moving[offer.key] = getting(0, Phase.WAITING, entry=replace(entry, key=offer.key))

    def downloads(self) -> Sequence[Getting]:
        return tuple(self.moving.values())

    def pause(self, key: str) -> None:
        self.did.append(("pause", key))
        self.moving[key] = replace(self.moving[key], phase=Phase.PAUSED, speed=0.0)

    def resume(self, key: str) -> None:
        self.did.append(("resume", key))
        self.moving[key] = replace(self.moving[key], phase=Phase.FETCHING)

    def cancel(self, key: str) -> None:
        self.did.append(("cancel", key))
        self.moving[key] = replace(self.moving[key], phase=Phase.CANCELLED, trouble="")

    def removal(self, key: str) -> Removal:
        self.did.append(("removal", key))
        entry = next(entry for entry in self.entries if entry.key == key)
        kept = ("Qwen3-0.6B-Q8_0.gguf stays: Qwen3-8B with 0.6B needs it, too.",)
        refusal = self.removal_refusal
        return Removal(key, entry.title, () if refusal else self.removed, entry.here, kept, refusal)

    def remove(self, removal: Removal) -> int:
        self.did.append(("remove", removal.key))
        self.entries = tuple(entry for entry in self.entries if entry.key != removal.key)
        return removal.freed

    def judge(self, target: str, draft: str) -> tuple[bool, str]:
        self.did.append(("judge", draft))
        return self.verdict

    def close(self) -> None:
        self.closed = True
