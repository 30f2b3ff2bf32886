"""Fewer threads beside other programs: which number, when, for how long, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from engine.step_back import WINDOW, Look, StepBack


@dataclass
class Machine:
    """A clock that stands still, and others that do what they are told."""

    others: float | None = 0.0
    now: float = 100.0
    used: list[int] = field(default_factory=list)

    def cores(self) -> float | None:
        return self.others

    def look(self) -> Look:
        return self

    def step_back(self, full: int, fewer: tuple[int, ...], processors: int) -> StepBack:
        return StepBack(full, fewer, self.used.append, processors=processors, look=self.look, clock=lambda: self.now)


def passes(machine: Machine, step_back: StepBack, count: int = 1) -> None:
    for _ in range(count):
        machine.now += WINDOW
        step_back.after_pass()


@pytest.mark.parametrize(
    ("full", "fewer", "processors", "others", "threads"),
    [
        (2, (1,), 2, 0.0, 2),
        (2, (1,), 2, 0.4, 2),
        (2, (1,), 2, 0.5, 1),
        (2, (1,), 2, 1.0, 1),
        (2, (1,), 2, 1.9, 1),
        (8, (1, 4, 7), 8, 0.9, 7),
        (8, (1, 4, 7), 8, 1.6, 4),
        (8, (1, 4, 7), 8, 4.2, 4),
        (8, (1, 4, 7), 8, 7.9, 1),
        (8, (1, 4, 7), 16, 7.9, 8),  # hyper-threads that nobody else uses
        (4, (1, 2, 3), 8, 2.0, 4),
        (4, (1, 2, 3), 8, 4.0, 4),  # bound to half of the processors, beside work on the other half
        (2, (), 2, 1.9, 2),  # nothing was found to round alike
        (2, (1,), 2, None, 2),  # the system does not tell
    ],
)
def test_processors_that_others_use_are_left_to_them(
    full: int, fewer: tuple[int, ...], processors: int, others: float | None, threads: int
) -> None:
    machine = Machine(others)
    step_back = machine.step_back(full, fewer, processors)
    passes(machine, step_back)
    assert [full, *machine.used][-1] == threads


def test_all_threads_come_back_with_the_processors() -> None:
    machine = Machine(others=1.0)
    step_back = machine.step_back(2, (1,), 2)
    passes(machine, step_back, 3)
    machine.others = 0.0
    passes(machine, step_back, 3)
    assert machine.used == [1, 2]
    step_back.end()
    assert machine.used == [1, 2]


def test_the_next_answer_begins_with_all_threads() -> None:
    machine = Machine(others=1.0)
    step_back = machine.step_back(2, (1,), 2)
    passes(machine, step_back)
    step_back.end()
    assert machine.used == [1, 2]


def test_a_look_is_taken_now_and_then_only() -> None:
    machine = Machine(others=1.0)
    step_back = machine.step_back(2, (1,), 2)
    for _ in range(50):
        step_back.after_pass()
    assert machine.used == []


def test_where_no_fewer_threads_will_do_nobody_looks() -> None:
    def look() -> Look:
        raise AssertionError("looked")

    step_back = StepBack(4, (), lambda count: None, look=look)
    step_back.after_pass()
    step_back.end()
    assert step_back.note is None


def test_what_was_done_is_said() -> None:
    machine = Machine()
    step_back = machine.step_back(8, (1, 4, 7), 8)
    passes(machine, step_back, 5)
    assert step_back.note is None
    machine.others = 1.0
    passes(machine, step_back, 2)
    assert step_back.note == "beside other programs 7 of 8 threads made 1 pass"
    machine.others = 4.0
    passes(machine, step_back, 2)
    machine.others = 0.0
    passes(machine, step_back, 2)
    assert step_back.note == "beside other programs 4 of 8 threads made 4 passes"
