"""What is measured, in which order: each pair's workers, and blocks of variants that are compared to each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from engine.machine import ENGINE_DEFAULTS
from engine.protocol import SpeculationMode
from tests.bench.pairs import PairFiles
from tests.bench.worker import Kind

FIXED = (2, 4, 8)
ORACLE_LENGTHS = (1, 2, 3, 4, 5, 6, 7)
PEER_LOOKUP = (2, 10)
GREEDY, WARM = 0.0, 0.7
OUR_ENVIRONMENT = " (our environment)"


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """A process to start. ``draft``: the name of one of the pair's drafts; ``lookup``: a peer's num_pred_tokens."""

    kind: Kind
    mode: Literal["exact", "fast"] = "fast"
    draft: str | None = None
    lookup: int | None = None
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to answer. ``oracle``: proposals come from the plain answer."""

    name: str
    worker: WorkerSpec
    speculation: SpeculationMode = "off"
    draft_max: int | None = None
    oracle: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """Variants that are run side by side on every prompt, so that their times can be divided by each other.

    ``share``: the part of the prompts it uses (1: all; 0: the first of each category; -n: n prompts in all).
    ``must``: may overdraw its pair's time; ``again``: is repeated while time is left.
    """

    name: str
    variants: tuple[Variant, ...]
    temperatures: tuple[float, ...] = (GREEDY,)
    share: int = 1
    must: bool = False
    again: bool = False


@dataclass(frozen=True, slots=True)
class PairPlan:
    """``weight``: this pair's part of the time, in minutes on the machine it was planned on."""

    pair: PairFiles
    weight: float
    blocks: tuple[Block, ...] = field(default=())


def plan_pair(pair: PairFiles) -> PairPlan:
    """The blocks of one pair, the most telling first."""
    return _plan_draft_pair(pair) if pair.drafts else _plan_lookup_pair(pair)


def _plan_lookup_pair(pair: PairFiles) -> PairPlan:
    ours = WorkerSpec("engine", pair.mode)
    plain, auto = Variant("plain", ours), Variant("auto", ours, "auto")
    fixed = tuple(Variant(f"fixed {length}", ours, "lookup", length) for length in FIXED)
    fast: tuple[Variant, ...] = ()
    if pair.mode == "exact":
        fast = (Variant("plain fast", WorkerSpec("engine", "fast")),)
    peers = _peers()
    blocks = [
        Block("greedy", (plain, auto, *fixed), must=True),
        Block("warm", (plain, auto), (WARM,), must=True),
        Block("peers", (plain, *fast, auto, *peers), share=1 if pair.key == "a" else 0, must=pair.key == "a"),
        _oracle(plain, ours),
    ]
    if pair.key == "a":
        environment = tuple(sorted(ENGINE_DEFAULTS.items()))
        blocks.append(Block("peers, our environment", (plain, *fast, *_peers(environment)), share=0))
    blocks.append(Block("repeats", (plain, auto), (GREEDY, WARM), again=True))
    return PairPlan(pair, 18.0 if pair.key == "a" else 15.0, tuple(blocks))


def _plan_draft_pair(pair: PairFiles) -> PairPlan:
    workers = {name: WorkerSpec("engine", pair.mode, draft=name) for name in pair.drafts}
    first = next(iter(workers))
    plain = Variant("plain", workers[first])
    alone = [Variant(f"draft {name}", worker, "draft") for name, worker in workers.items()]
    auto = [Variant(f"auto {name}", worker, "auto") for name, worker in workers.items()]
    all_of_them = (plain, *(variant for two in zip(alone, auto, strict=True) for variant in two))
    fixed = tuple(Variant(f"fixed {length} {first}", workers[first], "draft", length) for length in FIXED)
    return PairPlan(
        pair,
        37.0,
        (
            Block("greedy", (*all_of_them, *fixed), must=True),
            Block("warm", all_of_them, (WARM,), share=0),
            _oracle(plain, workers[first]),
            Block("repeats", all_of_them, (GREEDY, WARM), again=True),
        ),
    )


def _oracle(plain: Variant, worker: WorkerSpec) -> Block:
    lengths = (Variant(f"oracle {length}", worker, "lookup", length, oracle=True) for length in ORACLE_LENGTHS)
    return Block("oracle", (plain, *lengths), share=-4)


def _peers(environment: tuple[tuple[str, str], ...] = ()) -> tuple[Variant, ...]:
    """``Llama`` as a user runs it, and apart, with the variables our engine sets."""
    suffix = OUR_ENVIRONMENT if environment else ""
    plain = Variant(f"Llama plain{suffix}", WorkerSpec("peer", environment=environment))
    return (
        plain,
        *(
            Variant(f"Llama lookup {length}{suffix}", WorkerSpec("peer", lookup=length, environment=environment))
            for length in PEER_LOOKUP
        ),
    )
