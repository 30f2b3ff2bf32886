"""Which pair is offered first on which machine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.library.best import best_pair, missing_bytes
from app.library.catalog import catalog
from app.library.inventory import PairHere, SourceHere
from app.library.room import Room
from engine.protocol import Device

GB = 10**9


def nothing_here() -> list[PairHere]:
    """The shipped catalogue on a disk with none of it."""
    found = []
    for pair in catalog().pair:
        sources = {role: SourceHere(role, source) for role, source in pair.sources}
        found.append(PairHere(pair, sources["target"], sources.get("draft")))
    return found


def machine(memory: float, cores: int, *, free: float | None = None, disk: float = 200, gpu: float = 0) -> Room:
    """``memory`` GB, of which ``free`` can be had; ``gpu``: GB of a graphics card."""
    cards = [
        Device(
            name="CUDA0", description="a card", kind="gpu", memory_total=round(gpu * GB), memory_free=round(gpu * GB)
        )
    ]
    have = memory - 1.2 if free is None else free
    return Room(round(disk * GB), round(memory * GB), round(have * GB), cores, tuple(cards if gpu else ()))


def best(room: Room) -> str | None:
    found = best_pair(nothing_here(), room)
    return found.pair.name if found is not None else None


@pytest.mark.parametrize(
    ("room", "name"),
    [
        (machine(8.2, 4), "qwen3-4b"),
        (machine(8.2, 8), "qwen3-4b"),
        (machine(16.6, 6), "qwen3-8b"),
        (machine(24, 2), "qwen3-4b"),
        (machine(24, 8), "qwen3-8b"),
        (machine(64, 16), "qwen3-8b"),  # a larger one would be there, and be too slow to talk with
        (machine(4.1, 4, free=2.0), None),
        (machine(8.2, 4, free=4.5), "smollm2-1.7b"),  # a browser has the rest
        (machine(16.6, 1), "smollm2-1.7b"),
    ],
)  # fmt: skip
def test_without_a_gpu(room: Room, name: str | None) -> None:
    assert best(room) == name


def test_a_gpu_that_holds_a_pair_is_fast_enough_for_it() -> None:
    assert best(machine(32, 8, gpu=24.5)) == "qwen3-32b"
    assert best(machine(16.6, 6, gpu=17)) == "gpt-oss-20b"
    assert best(machine(64, 16, gpu=2)) == "qwen3-8b", "too small a card to count"


def test_a_disk_that_is_too_small_takes_a_smaller_pair() -> None:
    assert best(machine(24, 8, disk=4)) == "qwen3-4b"
    assert best(machine(24, 8, disk=0.5)) is None


def test_what_is_here_already_needs_no_room_on_the_disk() -> None:
    pairs = nothing_here()
    number = next(number for number, here in enumerate(pairs) if here.pair.name == "qwen3-8b")
    begun = replace(pairs[number], target=replace(pairs[number].target, begun=5_000_000_000))
    assert missing_bytes(begun) == 5_027_783_488 + 639_446_688 - 5_000_000_000
    pairs[number] = begun
    found = best_pair(pairs, machine(24, 8, disk=1))
    assert found is begun


def test_neither_the_starter_nor_gated_pairs_are_offered() -> None:
    pairs = [replace(here, pair=here.pair.model_copy(update={"gated": True})) for here in nothing_here()]
    assert best_pair(pairs, machine(64, 16)) is None
    assert best_pair(nothing_here()[:1], machine(64, 16)) is None


def test_where_the_system_does_not_say_how_much_memory_there_is_nothing_is_offered() -> None:
    assert best_pair(nothing_here(), Room(200 * GB, None, None, 8)) is None
