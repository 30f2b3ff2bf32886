"""Promise 2 on a real model: same seed, same answer, whoever drafts and whatever happened before."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.protocol import Event, Finished, SpeculationMode, TextDelta
from tests.engine.conftest import Driver

PROMPTS = [
    "Name three rivers in Europe and say one thing about each.",
    "Repeat this list twice: apple, pear, plum, apple, pear, plum.",
    "Write a Python function that adds two numbers, then write it again with other names.",
]
TOKENS = 32


@pytest.mark.parametrize("temperature", [0.0, 0.7, 1.2])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_off_lookup_draft_and_auto_give_the_same_tokens(smol: Driver, temperature: float, seed: int) -> None:
    for prompt in PROMPTS:
        plain = smol.ask(prompt, temperature=temperature, seed=seed, max_tokens=TOKENS)
        assert plain.stats.drafted == 0
        for mode in ("lookup", "draft", "auto"):
            answer = smol.ask(prompt, speculation=mode, temperature=temperature, seed=seed, max_tokens=TOKENS)
            assert answer.token_ids == plain.token_ids, (prompt, mode)
            assert answer.text == plain.text
            assert answer.finish_reason == plain.finish_reason


@pytest.mark.parametrize("draft_max", [0, 1, 2, 5, 7, 10, 16])
def test_the_draft_length_is_a_speed_setting_only(smol: Driver, draft_max: int) -> None:
    plain = smol.ask(PROMPTS[1], temperature=0.7, seed=5, max_tokens=TOKENS)
    for mode in ("lookup", "draft"):
        answer = smol.ask(PROMPTS[1], speculation=mode, temperature=0.7, seed=5, max_tokens=TOKENS, draft_max=draft_max)
        assert answer.token_ids == plain.token_ids
        assert answer.receipt is not None
        assert answer.receipt.draft_max == min(draft_max, 7)
        assert max(answer.stats.pass_widths) <= min(draft_max, 7) + 1
        asked_for_more = any("exact mode allows 7" in note for note in answer.receipt.notes)
        assert asked_for_more == (draft_max > 7)


def test_a_draft_equal_to_the_target_is_always_accepted(smol: Driver) -> None:
    """SELF: draft with the same file; also NR-07 and NR-08 of the reports."""
    for temperature in (0.0, 0.0001, 0.7):
        answer = smol.ask(PROMPTS[0], speculation="draft", temperature=temperature, seed=4, max_tokens=64)
        assert answer.stats.drafted > 32
        assert answer.stats.acceptance == 1.0, "it rounds as the target does"
        assert answer.stats.tokens_per_pass is not None
        assert answer.stats.tokens_per_pass > 2


def test_different_seeds_give_different_answers(smol: Driver) -> None:
    texts = {smol.ask(PROMPTS[0], temperature=1.0, seed=seed, max_tokens=24).text for seed in range(6)}
    assert len(texts) >= 5


def test_a_random_seed_is_reported_and_reproduces_the_answer(smol: Driver) -> None:
    first = smol.ask(PROMPTS[0], temperature=0.9, max_tokens=24)
    assert first.receipt is not None
    again = smol.ask(PROMPTS[0], temperature=0.9, max_tokens=24, seed=first.receipt.seed, speculation="draft")
    assert again.token_ids == first.token_ids


def cancel_after(driver: Driver, characters: int) -> Callable[[Event], None]:
    seen = 0

    def watch(event: Event) -> None:
        nonlocal seen
        if isinstance(event, TextDelta):
            seen += len(event.text)
            if seen >= characters:
                driver.session.abort.set()

    return watch


FRESH_PROCESS = """
import json, sys
from tests.engine.conftest import Driver
path, turns, settings = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
driver = Driver()
driver.load(path, context=1024)
print(json.dumps(driver.ask(*turns, **settings).token_ids))
"""


def in_a_fresh_process(path: Path, turns: list[str], **settings: object) -> tuple[int, ...]:
    done = subprocess.run(
        [sys.executable, "-c", FRESH_PROCESS, str(path), json.dumps(turns), json.dumps(settings)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    return tuple(json.loads(done.stdout.splitlines()[-1]))


def test_ten_turns_a_cancel_and_an_edit_leave_no_trace(smol: Driver, smol_path: Path) -> None:
    modes: list[SpeculationMode] = ["off", "lookup", "draft", "auto"]
    turns: list[str] = []
    for i in range(10):
        turns.append(f"Question {i}: say something about the number {i}.")
        answer = smol.ask(*turns, speculation=modes[i % 4], temperature=0.7, seed=i, max_tokens=24)
        if i:
            assert answer.stats.prompt_tokens_cached > answer.stats.prompt_tokens // 2, "the prefix is reused"
        turns.append(answer.text)
    after_ten = smol.ask(*turns, "And now?", temperature=0.7, seed=99, max_tokens=32)

    stopped = smol.ask(
        *turns, "Tell a long story.", speculation="draft", max_tokens=200, on_event=cancel_after(smol, 20)
    )
    assert stopped.finish_reason == "cancelled"
    assert 0 < len(stopped.token_ids) < 200
    edited = [*turns[:2], "Say something about the sea instead.", *turns[3:]]
    smol.ask(*edited, "And now?", speculation="lookup", max_tokens=16)
    again = smol.ask(*turns, "And now?", speculation="auto", temperature=0.7, seed=99, max_tokens=32)
    assert again.token_ids == after_ten.token_ids

    fresh = in_a_fresh_process(smol_path, [*turns, "And now?"], temperature=0.7, seed=99, max_tokens=32)
    assert fresh == after_ten.token_ids


def test_a_cancelled_answer_is_the_beginning_of_the_whole_one(smol: Driver) -> None:
    whole = smol.ask("Tell a story about a ferry.", temperature=0.7, seed=3, max_tokens=80)
    for mode in ("off", "draft"):
        part = smol.ask(
            "Tell a story about a ferry.",
            speculation=mode,
            temperature=0.7,
            seed=3,
            max_tokens=80,
            on_event=cancel_after(smol, 30),
        )
        assert part.finish_reason == "cancelled"
        assert part.token_ids == whole.token_ids[: len(part.token_ids)]
        assert whole.text.startswith(part.text)


def test_a_prompt_across_the_kernel_borders_is_the_same_with_and_without_a_cache(smol: Driver) -> None:
    """Attention changes kernels at 512 cached tokens, prefill at 64: reuse cuts the prompt elsewhere than a first
    reading does, and must not matter."""
    document = " ".join(f"Item {i} costs {i * 7 % 13} crowns." for i in range(72))
    whole = smol.ask(document + " Repeat items 3 to 8.", temperature=0.7, seed=8, max_tokens=40)
    assert whole.stats.prompt_tokens > 600
    smol.ask(document[:900], max_tokens=3)
    pieces = smol.ask(document + " Repeat items 3 to 8.", speculation="lookup", temperature=0.7, seed=8, max_tokens=40)
    assert 200 < pieces.stats.prompt_tokens_cached < 600
    assert pieces.token_ids == whole.token_ids


def test_the_receipt_holds_what_is_needed_to_make_the_answer_again(smol: Driver, smol_path: Path) -> None:
    answer: Finished = smol.ask(PROMPTS[0], speculation="draft", temperature=0.7, max_tokens=8)
    receipt = answer.receipt
    assert receipt is not None
    assert receipt.target.path == str(smol_path)
    assert len(receipt.target.fingerprint) == 64
    assert receipt.draft is not None
    assert receipt.template.name == "model"
    assert len(receipt.prompt_ids) == answer.stats.prompt_tokens
    assert receipt.settings.messages == ()
    assert receipt.drafter == "draft"
    assert receipt.mode == "exact settings, untested"
    assert receipt.versions["llama-cpp-python"] == "0.3.36"
    assert (receipt.context, receipt.prefill_chunk) == (1024, 512)


def test_after_forget_an_answer_starts_from_an_empty_history(smol: Driver) -> None:
    """For benchmarks: prefill is charged in full again, on the target and on the draft, and the answer is the same."""
    first = smol.ask(PROMPTS[1], speculation="draft", max_tokens=TOKENS)
    smol.session.forget()
    again = smol.ask(PROMPTS[1], speculation="draft", max_tokens=TOKENS)
    assert again.stats.prompt_tokens_cached == 0
    assert again.stats.draft_prefill_seconds > 0
    assert again.stats.pass_widths == first.stats.pass_widths
    assert again.token_ids == first.token_ids
