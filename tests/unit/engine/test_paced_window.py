"""A draft's window that is full: lookup goes on, and it is told where the draft would have proposed."""

from __future__ import annotations

from engine.drafters.base import NoDrafter
from engine.drafters.lookup import LookupDrafter
from engine.drafters.paced import PacedDrafter
from engine.pacing import Pacer
from tests.unit.engine.machines import DEEP, Machine, SimulatedModel, answer, copying, novel, paced


def test_a_full_window_of_the_draft_leaves_lookup_at_work() -> None:
    said = copying(800)
    machine, pacer = Machine(said, DEEP), Pacer(draft_ratio_guess=0.05)
    model = SimulatedModel(machine, accuracy=0.98, seconds=0.05, prefill=0.002)
    model.window = 100
    seconds, stats = answer(machine, paced(machine, pacer, model), 400, pacer)
    plain, _ = answer(Machine(said, DEEP), NoDrafter(), 400)
    assert plain / seconds > 2
    assert model.asked == 0
    assert stats.accepted > 200


def full_from_the_start(
    said: list[int], prompt: int, accuracy: float, cost: float, remaining: int | None = None
) -> str | None:
    """The note of an answer behind a prompt that is longer than the draft's window."""
    machine, pacer = Machine(said, DEEP), Pacer(draft_ratio_guess=cost)
    model = SimulatedModel(machine, accuracy, seconds=cost, prefill=cost / 5)
    model.window = 100
    drafter = PacedDrafter(LookupDrafter(), model, pacer, 0.7, lambda: remaining)  # type: ignore[arg-type]
    answer(machine, drafter, prompt, pacer)
    assert model.asked == 0
    return drafter.note


def test_that_the_window_of_the_draft_is_full_is_told_where_it_would_have_proposed() -> None:
    assert full_from_the_start(novel(400), 200, accuracy=0.9, cost=0.1) == "full"
    assert full_from_the_start(copying(800), 400, accuracy=0.9, cost=0.1) == "full"


def test_nothing_is_told_of_the_window_of_a_draft_that_nobody_wanted() -> None:
    short = full_from_the_start(novel(2020), 2000, accuracy=0.9, cost=0.3, remaining=20)
    assert short is None, "the answer was too short to read the prompt for"
    dear = full_from_the_start(novel(400), 200, accuracy=0.99, cost=2.0)
    assert dear is not None
    assert dear.startswith("the draft model is not worth it here: ")
    machine, pacer = Machine(novel(400), DEEP), Pacer(draft_ratio_guess=0.1)
    drafter = paced(machine, pacer, model := SimulatedModel(machine, 0.9, 0.1, 0.01))
    answer(machine, drafter, 200, pacer)
    assert model.asked > 0
    assert drafter.note is None, "a window with room"


def test_of_a_draft_that_is_not_worth_it_only_that_is_told() -> None:
    """It would have been tried now and then; that it could not be is no news."""
    machine, pacer = Machine(novel(1500), DEEP), Pacer(draft_ratio_guess=0.1)
    answer(machine, paced(machine, pacer, SimulatedModel(machine, 0.02, 0.1, 0.01)), 100, pacer)
    machine.now, machine.length = 0.0, 0
    drafter = paced(machine, pacer, model := SimulatedModel(machine, 0.02, 0.1, 0.01))
    model.window = 100
    answer(machine, drafter, 100, pacer)
    assert model.note == "full"
    assert drafter.note is not None
    assert drafter.note.startswith("the draft model is not worth it here: ")
