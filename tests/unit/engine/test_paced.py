"""Pacing on a simulated machine: time is a number, so what would have paid is known."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest

from engine.cost import CostModel, CostProfile
from engine.drafters.base import NOTHING, Draft, NoDrafter
from engine.drafters.lookup import LookupDrafter
from engine.drafters.paced import PacedDrafter
from engine.pacing import Pacer, PacingProfile, not_worth_it
from tests.unit.engine.machines import (
    CLIFF,
    CPU,
    DEEP,
    Fixed,
    Machine,
    SimulatedModel,
    answer,
    copying,
    novel,
    paced,
    prose,
    ratio,
)


@pytest.mark.parametrize("times", [CPU, DEEP, CLIFF], ids=["cpu", "deep", "cliff"])
@pytest.mark.parametrize("text", [novel, prose], ids=["novel", "prose"])
def test_it_is_never_slower_than_plain(text: Callable[..., list[int]], times: dict[int, float]) -> None:
    for seed in range(4):
        assert ratio(text(500, seed), times, prompt=200) > 0.97


def test_a_copy_is_drafted_at_length_even_where_passes_are_dear() -> None:
    assert ratio(copying(800), CPU, prompt=400) > 1.3
    assert ratio(copying(800), DEEP, prompt=400) > 2.8


@pytest.mark.parametrize("times", [CPU, DEEP, CLIFF], ids=["cpu", "deep", "cliff"])
@pytest.mark.parametrize("text", [prose, copying], ids=["prose", "copying"])
def test_it_keeps_up_with_the_best_fixed_length(text: Callable[..., list[int]], times: dict[int, float]) -> None:
    pacer = Pacer()
    pacer.cost.adopt(times)  # the self-test has been here
    ours, best = 0.0, dict.fromkeys(range(1, 8), 0.0)
    plain = 0.0
    for seed in range(5):  # one conversation after the other: what was learned is kept
        said = text(600, seed)
        machine = Machine(said, times)
        seconds, _ = answer(machine, paced(machine, pacer), 300, pacer)
        ours += seconds
        plain += answer(Machine(said, times), NoDrafter(), 300)[0]
        for length in best:
            best[length] += answer(Machine(said, times), Fixed(length), 300)[0]
    assert ours < 1.05 * min(plain, *best.values())


def test_a_change_of_load_is_taken_as_load() -> None:
    """A neighbour makes everything three times slower in mid-answer: drafting goes on as before."""
    said = copying(1600)
    quiet, _ = answer(m := Machine(said, CPU), paced(m, p := Pacer()), 800, p)
    busy = Machine(said, CPU, load=lambda place: 3.0 if place > 1100 else 1.0)
    pacer = Pacer()
    seconds, _ = answer(busy, paced(busy, pacer), 800, pacer)
    plain, _ = answer(Machine(said, CPU, load=busy.load), NoDrafter(), 800)
    assert plain / seconds > 1.25
    assert seconds < 3 * quiet
    assert pacer.cost.ratio(8) == pytest.approx(CPU[8], rel=0.25)


def test_a_change_of_text_is_noticed() -> None:
    """Novel text, then a copy of it: drafting starts soon after the copy does."""
    first = novel(400)
    said = first + first
    machine = Machine(said, CPU)
    pacer = Pacer()
    seconds, stats = answer(machine, paced(machine, pacer), 100, pacer)
    plain, _ = answer(Machine(said, CPU), NoDrafter(), 100)
    assert plain / seconds > 1.25
    assert stats.accepted > 300


def test_a_draft_of_noise_costs_next_to_nothing() -> None:
    said = novel(800)
    machine = Machine(said, DEEP)
    pacer = Pacer(draft_ratio_guess=0.02)
    model = SimulatedModel(machine, accuracy=0.0, seconds=0.02, prefill=0.002)
    seconds, _ = answer(machine, paced(machine, pacer, model), 200, pacer)
    plain, _ = answer(Machine(said, DEEP), NoDrafter(), 200)
    assert plain / seconds > 0.97
    assert model.asked < 80


def test_a_draft_as_dear_as_the_target_is_never_asked() -> None:
    said = novel(400)
    machine = Machine(said, DEEP)
    pacer = Pacer(draft_ratio_guess=1.0)
    model = SimulatedModel(machine, accuracy=1.0, seconds=1.0, prefill=0.1)
    seconds, _ = answer(machine, paced(machine, pacer, model), 200, pacer)
    assert model.asked == 0
    assert seconds < 1.03 * answer(Machine(said, DEEP), NoDrafter(), 200)[0]


def test_a_good_draft_is_used_and_gains() -> None:
    said = novel(600)
    machine = Machine(said, DEEP)
    pacer = Pacer(draft_ratio_guess=0.08)
    model = SimulatedModel(machine, accuracy=0.9, seconds=0.08, prefill=0.008)
    seconds, stats = answer(machine, paced(machine, pacer, model), 200, pacer)
    plain, _ = answer(Machine(said, DEEP), NoDrafter(), 200)
    assert plain / seconds > 2
    assert stats.drafters["draft"].acceptance is not None


def test_a_middling_draft_is_used_by_its_margins() -> None:
    said = novel(900)
    machine = Machine(said, DEEP)
    pacer = Pacer(draft_ratio_guess=0.1)
    model = SimulatedModel(machine, accuracy=0.5, seconds=0.1, prefill=0.01)
    seconds, _ = answer(machine, paced(machine, pacer, model), 200, pacer)
    plain, _ = answer(Machine(said, DEEP), NoDrafter(), 200)
    assert plain / seconds > 1.1


def test_what_long_passes_cost_is_found_out_at_once() -> None:
    machine = Machine(novel(300), DEEP)
    pacer = Pacer(draft_ratio_guess=0.08)
    assert not pacer.cost.explored
    answer(machine, paced(machine, pacer, SimulatedModel(machine, 0.9, 0.08, 0.008)), 200, pacer)
    assert pacer.cost.explored
    assert pacer.cost.ratio(8) == pytest.approx(DEEP[8], rel=0.1)
    assert Pacer(pacer.profile()).cost.explored  # and not again in the next run


def test_a_draft_of_noise_is_not_used_to_find_out_anything() -> None:
    machine = Machine(novel(500), CPU)
    pacer = Pacer(draft_ratio_guess=0.1)
    model = SimulatedModel(machine, 0.0, 0.1, 0.001)
    seconds, stats = answer(machine, paced(machine, pacer, model), 200, pacer)
    assert max(stats.pass_widths) <= 2
    assert seconds < 300 * 1.03


def test_a_draft_that_cannot_pay_is_named_with_the_reason() -> None:
    machine = Machine(novel(600), CPU)
    drafter = paced(machine, pacer := Pacer(draft_ratio_guess=1.0), SimulatedModel(machine, 0.99, 1.0, 0.1))
    answer(machine, drafter, 100, pacer)
    assert drafter.note == (
        "the draft model is not worth it here: a token of it takes 1.00 of a plain pass, by the sizes of the files, "
        "too much even if it were always right"
    )


def test_what_few_proposals_told_says_so() -> None:
    for proposals, said in ((1, " (measured on 1 proposal)"), (15, " (measured on 15 proposals)"), (16, "")):
        cost = CostModel()
        cost.observe_pass(1, 0.01)
        for _ in range(proposals):
            cost.observe_draft(1, 0.1)
        note = not_worth_it(cost, 8, None)
        assert note is not None
        assert f"takes 10.00 of a plain pass{said}, too much even if it were always right" in note


def test_a_draft_that_guesses_badly_is_named_with_what_was_measured() -> None:
    machine = Machine(novel(1500), DEEP)
    drafter = paced(machine, pacer := Pacer(draft_ratio_guess=0.1), SimulatedModel(machine, 0.02, 0.1, 0.01))
    for _ in range(2):
        machine.now, machine.length = 0.0, 0
        answer(machine, drafter, 100, pacer)
        note, drafter = drafter.note, paced(machine, pacer, SimulatedModel(machine, 0.02, 0.1, 0.01))
    assert note is not None
    assert re.fullmatch(
        r"the draft model is not worth it here: a token of it takes 0\.\d\d of a plain pass, so \d\d % of its "
        r"proposals would have to be right; lately [0-5] % were",
        note,
    )


def test_a_draft_that_pays_is_not_spoken_of() -> None:
    machine = Machine(novel(600), DEEP)
    drafter = paced(machine, pacer := Pacer(draft_ratio_guess=0.1), SimulatedModel(machine, 0.9, 0.1, 0.01))
    answer(machine, drafter, 100, pacer)
    assert drafter.note is None


def test_what_reading_the_prompt_costs_the_draft_is_learned() -> None:
    machine = Machine(novel(900), DEEP)
    pacer = Pacer(draft_ratio_guess=0.1)
    answer(machine, paced(machine, pacer, SimulatedModel(machine, 0.9, 0.1, 0.03)), 500, pacer)
    assert pacer.cost.draft_prefill_cost(100) == pytest.approx(3.0, rel=0.2)


def test_a_long_prompt_is_not_read_by_the_draft_for_a_short_answer() -> None:
    said = novel(2020)
    machine = Machine(said, DEEP)
    pacer = Pacer(draft_ratio_guess=0.3)
    model = SimulatedModel(machine, accuracy=0.9, seconds=0.3, prefill=0.06)
    drafter = PacedDrafter(LookupDrafter(), model, pacer, 0.7, lambda: 20)  # type: ignore[arg-type]
    answer(machine, drafter, 2000, pacer)
    assert model.asked == 0


def test_both_together_are_never_under_the_draft_alone() -> None:
    said = copying(900)
    alone = Machine(said, DEEP)
    model = SimulatedModel(alone, 0.85, 0.1, 0.01)

    class Alone:
        name = "draft"

        def begin(self, prompt: Sequence[int]) -> None:
            model.begin(prompt)

        def draft(self, history: Sequence[int], limit: int) -> Draft:
            return model.draft(history, min(limit, 7)) if limit else NOTHING

    draft_alone, _ = answer(alone, Alone(), 450)
    both = Machine(said, DEEP)
    pacer = Pacer(draft_ratio_guess=0.1)
    together, stats = answer(both, paced(both, pacer, SimulatedModel(both, 0.85, 0.1, 0.01)), 450, pacer)
    assert together < draft_alone
    assert set(stats.drafters) == {"lookup", "draft"}


def test_what_was_learned_survives_as_json() -> None:
    pacer = Pacer()
    machine = Machine(copying(800), CPU)
    answer(machine, paced(machine, pacer), 400, pacer)
    kept = PacingProfile.model_validate_json(pacer.profile().model_dump_json())
    again = Pacer(kept)
    assert again.cost.ratio(8) == pytest.approx(pacer.cost.ratio(8))
    assert again.lookup(0.7).probability(24) == pytest.approx(pacer.lookup(0.7).probability(24))
    first = answer(m := Machine(copying(800, 3), CPU), paced(m, p := Pacer()), 400, p)[0]
    later = answer(m := Machine(copying(800, 3), CPU), paced(m, again), 400, again)[0]
    assert later < first * 1.02


def test_what_is_learned_about_a_width_counts_at_once() -> None:
    cost = Pacer().cost
    cost.observe_pass(1, 0.01)
    before = [cost.ratio(width) for width in range(1, 9)]
    for _ in range(5):
        cost.observe_pass(1, 0.01)
        cost.observe_pass(4, 0.04)
    assert cost.ratio(4) == pytest.approx(4.0)
    assert cost.ratio(3) > before[2], "its neighbours are interpolated anew"
    cost.adopt({4: 1.5})
    assert cost.ratio(4) == 1.5


def test_a_dearer_pass_behind_a_wide_one_is_charged_to_the_draft_and_not_to_plain_decoding() -> None:
    cost = Pacer().cost
    for _ in range(20):
        for width, seconds in ((1, 0.010), (1, 0.010), (4, 0.015), (1, 0.013)):
            cost.observe_pass(width, seconds)
    assert cost.unit == pytest.approx(0.010, rel=0.02)
    assert cost.ratio(4) == pytest.approx(1.5, rel=0.02)
    cost.observe_pass(1, 0.010)
    _, rate = cost.best_length([1.0, 1.0, 1.0])
    assert rate == pytest.approx(4 / (1.5 + 0.3), rel=0.02)
    assert cost.best_length([0.0]) == (0, 1.0)
    cost.observe_pass(4, 0.015)
    _, rate = cost.best_length([1.0, 1.0, 1.0])
    assert rate == pytest.approx(4 / 1.5, rel=0.02)  # while drafting goes on, nothing falls due
    assert cost.best_length([0.0]) == (0, 1.0)  # and putting it off is no gain


@pytest.mark.parametrize(
    ("narrow", "widest"),
    [
        ({2: 1.94, 4: 2.76, 8: 4.09}, 6.78),
        ({2: 1.47, 4: 1.96, 8: 2.57}, 3.74),
        ({2: 1.42, 4: 1.81, 8: 2.41}, 3.39),
        ({2: 2.04, 4: 2.83, 8: 3.55}, 5.11),
    ],
)
def test_passes_wider_than_any_that_was_seen_are_guessed_as_they_were_measured(
    narrow: dict[int, float], widest: float
) -> None:
    """The four models of docs/benchmark.md: V(16) from V(2), V(4) and V(8)."""
    assert CostModel(CostProfile(ratios=narrow)).ratio(16) == pytest.approx(widest, rel=0.08)


def test_a_load_that_comes_while_only_wide_passes_run_is_noticed_by_the_probes() -> None:
    cost = Pacer().cost
    for _ in range(10):
        cost.observe_pass(1, 0.010)
    for _ in range(12):
        for _ in range(32):
            cost.observe_pass(4, 0.030)
        cost.observe_pass(1, 0.020)
    assert cost.unit == pytest.approx(0.020, rel=0.1)
