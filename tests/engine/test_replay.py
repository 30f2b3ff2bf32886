"""An answer made again by its passes is the same; what differs is found and named."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.protocol import AnswerSoFar, Event, Failed, Finished, Replay, Replayed, Sampling, SpeculationMode
from tests.engine.conftest import Driver

PROMPT = "Repeat this list twice: apple, pear, plum, apple, pear, plum."


def made_again(driver: Driver, answer: Finished, **changes: object) -> Replayed | Failed:
    assert answer.receipt is not None
    request = Replay(
        id=99,
        prompt_ids=answer.receipt.prompt_ids,
        token_ids=answer.token_ids,
        passes=answer.receipt.passes,
        sampling=answer.receipt.settings.sampling,
        seed=answer.receipt.seed,
    )
    events: list[Event] = []
    driver.session.abort.clear()
    driver.session.replay(request.model_copy(update=changes), events.append)
    last = events[-1]
    assert isinstance(last, (Replayed, Failed))
    return last


@pytest.mark.parametrize("mode", ["off", "lookup", "draft", "auto"])
@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_an_exact_answer_is_the_same_token_by_token(smol: Driver, mode: SpeculationMode, temperature: float) -> None:
    answer = smol.ask(PROMPT, speculation=mode, temperature=temperature, seed=3, max_tokens=40)
    again = made_again(smol, answer)
    assert isinstance(again, Replayed)
    assert again.difference is None
    assert again.compared == len(answer.token_ids)


def test_a_fast_answer_is_the_same_by_its_own_passes(driver: Driver, smol_path: Path) -> None:
    """Behind a turn whose cache is reused, with drafts that were rejected in part."""
    driver.load(smol_path, context=1024, mode="fast")
    first = driver.ask(PROMPT, speculation="lookup", temperature=0.8, seed=5, max_tokens=40)
    turns = (PROMPT, first.text, "And once more, please.")
    for seed in range(6, 26):  # with which of them a draft is rejected depends on how this processor rounds
        second = driver.ask(*turns, speculation="lookup", temperature=0.8, seed=seed, max_tokens=40)
        assert second.receipt is not None
        if "/" in second.receipt.passes:
            break
    assert "/" in second.receipt.passes
    assert second.stats.prompt_tokens_cached > 0
    for answer in (second, first):
        again = made_again(driver, answer)
        assert isinstance(again, Replayed)
        assert again.difference is None
        assert again.compared == len(answer.token_ids)


def test_another_seed_is_found_out_at_the_first_token_that_differs(smol: Driver) -> None:
    answer = smol.ask(PROMPT, temperature=1.5, seed=1, max_tokens=40)
    again = made_again(smol, answer, seed=2)
    assert isinstance(again, Replayed)
    found = again.difference
    assert found is not None
    assert found.expected == answer.token_ids[found.index] != found.chosen
    assert 0 < found.expected_probability < 1
    assert 0 < found.chosen_probability < 1
    assert again.compared == len(answer.token_ids)


def test_a_token_that_was_changed_is_named_and_the_rest_is_still_compared(smol: Driver) -> None:
    answer = smol.ask(PROMPT, seed=1, max_tokens=20)
    ids = [*answer.token_ids]
    ids[7] = 42
    again = made_again(smol, answer, token_ids=tuple(ids))
    assert isinstance(again, Replayed)
    assert again.difference is not None
    assert (again.difference.index, again.difference.expected) == (7, 42)
    assert again.difference.chosen == answer.token_ids[7]
    assert again.compared == 20


def test_what_is_watched_has_the_targets_own_probability(smol: Driver) -> None:
    answer = smol.ask(PROMPT, seed=1, max_tokens=10)
    again = made_again(smol, answer, token_ids=answer.token_ids[:5], watch=(42,))
    assert isinstance(again, Replayed)
    assert again.watched.keys() >= {42, answer.token_ids[4]}
    assert again.watched[answer.token_ids[4]] == max(again.watched.values())


def test_what_does_not_fit_the_model_is_refused_in_words(smol: Driver) -> None:
    answer = smol.ask(PROMPT, seed=1, max_tokens=5)
    for changes, words in (
        ({"token_ids": (10**9,)}, "tokens that this model of 49,152 tokens does not know"),
        ({"passes": "3/9"}, "a pass of 3 tokens, 9 of them kept, is not possible here"),
        ({"passes": "1*3"}, "its passes are not those of the whole answer"),
        ({"token_ids": ()}, "nothing was kept of what the model was shown or said"),
        ({"prompt_ids": tuple([5] * 2000)}, "the context holds 1,024"),
    ):
        failed = made_again(smol, answer, **changes)
        assert isinstance(failed, Failed)
        assert words in failed.message


def test_the_next_answer_does_not_know_of_a_replay(smol: Driver) -> None:
    before = smol.ask(PROMPT, speculation="lookup", seed=1, max_tokens=20)
    made_again(smol, before)
    assert smol.ask(PROMPT, speculation="lookup", seed=1, max_tokens=20).token_ids == before.token_ids


def test_a_prompt_is_continued_as_its_ids_say_and_a_fresh_run_reuses_nothing(smol: Driver) -> None:
    answer = smol.ask(PROMPT, speculation="lookup", temperature=0.8, seed=9, max_tokens=20)
    assert answer.receipt is not None
    ids = answer.receipt.prompt_ids
    warm = smol.ask("never looked at", prompt_ids=ids, temperature=0.8, seed=9, max_tokens=20)
    fresh = smol.ask("never looked at", prompt_ids=ids, temperature=0.8, seed=9, max_tokens=20, fresh=True)
    assert warm.stats.prompt_tokens_cached == len(ids) - 1
    assert fresh.stats.prompt_tokens_cached == 0
    assert warm.token_ids == fresh.token_ids == answer.token_ids
    assert fresh.receipt is not None
    assert fresh.receipt.prompt_ids == ids
    assert fresh.receipt.settings.prompt_ids == ()


def test_prompt_ids_that_no_model_has_are_refused(smol: Driver) -> None:
    failed = smol.try_ask("x", prompt_ids=(1, 10**7))
    assert isinstance(failed, Failed)
    assert failed.message == "The prompt has tokens that this model of 49,152 tokens does not know."


def test_a_replay_is_stopped_like_anything_else(smol: Driver) -> None:
    answer = smol.ask(PROMPT, seed=1, max_tokens=10)
    assert answer.receipt is not None
    events: list[Event] = []
    smol.session.abort.set()
    request = Replay(
        id=1, prompt_ids=answer.receipt.prompt_ids, token_ids=answer.token_ids, sampling=Sampling(), seed=1
    )
    smol.session.replay(request, events.append)
    assert isinstance(events[-1], Failed)
    assert events[-1].message == "The replay was stopped."
    smol.session.abort.clear()


def test_a_continued_answer_is_made_again_with_its_beginning_as_its_own(smol: Driver) -> None:
    """Penalties see the beginning as said, not as asked; a grammar has it behind itself."""
    sampling = Sampling(temperature=0.8, repeat_penalty=1.3, grammar='root ::= [a-z ,]+ "."')
    whole = smol.ask(PROMPT, sampling=sampling, seed=4, max_tokens=24)
    begun = AnswerSoFar(token_ids=whole.token_ids[:9])
    rest = smol.ask(PROMPT, sampling=sampling, seed=4, max_tokens=15, answer_so_far=begun, speculation="lookup")
    assert rest.receipt is not None
    assert rest.receipt.continued_from == 9
    assert rest.token_ids == whole.token_ids[9:24]
    again = made_again(smol, rest, continued_from=9)
    assert isinstance(again, Replayed)
    assert again.difference is None
    assert again.compared == len(rest.token_ids)
