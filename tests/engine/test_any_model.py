"""Promise 2 for every kind of memory: whatever was asked before, each answer is a fresh process's answer."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.llama.backend import library
from engine.protocol import PLAIN_ONLY, Event, Finished, Prefilling, SpeculationMode, TextDelta
from tests.engine.conftest import Driver
from tests.engine.fresh import Question, in_a_fresh_process
from tests.engine.test_rollback import KINDS, STATES

MODES: list[SpeculationMode] = ["off", "lookup", "draft", "auto"]
SPECULATES = [kind for kind, rollback in KINDS.items() if rollback != "none"]
PLAIN = [kind for kind, rollback in KINDS.items() if rollback == "none"]

KindModel = Callable[..., Path]


class Chat:
    """Asks a driver and keeps, for each whole answer, the question and what came back."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.questions: list[Question] = []
        self.answers: list[Finished] = []

    def ask(self, *turns: str, speculation: SpeculationMode = "off", **settings: Any) -> str:
        settings = {"max_tokens": 20, "temperature": 0.7, "seed": 5, "overflow": "drop-oldest", **settings}
        answer = self.driver.ask(*turns, speculation=speculation, **settings)
        # A fresh process answers plainly, except that lookup's proposals are compared, too.
        self.questions.append(
            Question(turns, {**settings, "speculation": "lookup" if speculation == "lookup" else "off"})
        )
        self.answers.append(answer)
        return answer.text

    def stop_early(self, *turns: str, when: type[Event], **settings: Any) -> None:
        """An answer that is cancelled at the first event of a kind."""

        def watch(event: Event) -> None:
            if isinstance(event, when):
                self.driver.session.abort.set()

        answer = self.driver.ask(*turns, on_event=watch, **settings)
        assert answer.finish_reason == "cancelled"


def words(number: int) -> str:
    """A question of its own for each number."""
    return f"{hashlib.sha256(str(number).encode()).hexdigest()[:8]} the of and a word"


@pytest.mark.parametrize("kind", KINDS)
def test_every_answer_of_a_long_walk_is_a_fresh_process_answer(
    driver: Driver, kind_model: KindModel, kind: str
) -> None:
    """Twelve turns past the window, a regenerated answer, an edit, another chat, two cancels, and back."""
    path = kind_model(kind)
    driver.load(path, path, context=256)
    chat, turns = Chat(driver), list[str]()
    for number in range(12):
        turns.append(words(number))
        turns.append(chat.ask(*turns, speculation=MODES[number % 4], seed=number))
    last = chat.answers[-1]
    assert last.receipt is not None
    assert last.receipt.dropped_messages > 0, "past the window"

    chat.ask(*turns[:-1], speculation="lookup", seed=100)  # regenerated
    chat.stop_early(*turns[:-1], when=TextDelta, overflow="drop-oldest")
    chat.ask(*turns[:-1], speculation="auto", seed=101)
    edited = [*turns[:20], words(50), turns[21]]
    chat.ask(*edited, words(51), speculation="draft", seed=102)
    chat.ask(words(60), speculation="lookup", seed=103)  # another chat
    chat.stop_early(words(60), "and", words(61), when=Prefilling)
    chat.ask(*turns[:-1], speculation="lookup", seed=100)  # back, and the same as before
    chat.ask(*turns[:-1], speculation="draft", seed=11, temperature=0.0)

    fresh = in_a_fresh_process(path, chat.questions, context=256)
    for number, (answer, other) in enumerate(zip(chat.answers, fresh, strict=True)):
        assert answer.receipt is not None
        assert answer.receipt.prompt_ids == other.prompt_ids, number
        assert answer.token_ids == other.token_ids, number
        if answer.receipt.drafter == "lookup":
            assert answer.sources == other.sources, "no proposal came from another branch"


@pytest.mark.parametrize("kind", SPECULATES)
@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_who_drafts_and_how_long_changes_nothing(
    driver: Driver, kind_model: KindModel, kind: str, temperature: float
) -> None:
    path = kind_model(kind)
    driver.load(path, path, context=256)
    question = "the of and the of and the of and the of"
    plain = driver.ask(question, temperature=temperature, seed=3, max_tokens=50)
    for mode in ("lookup", "draft", "auto"):
        for draft_max in (1, 7):
            answer = driver.ask(
                question, speculation=mode, temperature=temperature, seed=3, max_tokens=50, draft_max=draft_max
            )
            assert answer.token_ids == plain.token_ids, (mode, draft_max)
            assert mode != "draft" or (answer.stats.coverage or 0) > 0.4


@pytest.mark.parametrize("kind", SPECULATES)
def test_a_draft_that_is_mostly_wrong_leaves_no_trace(
    driver: Driver, kind_model: KindModel, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rejections are rollbacks: every pass has one, of target and draft."""
    target, draft = kind_model(kind), kind_model(kind, seed=2)
    driver.load(target, draft, context=256)
    plain = driver.ask("the word of", max_tokens=60)
    read = count_tokens_read(driver, monkeypatch)
    answer = driver.ask("the word of", max_tokens=60, speculation="draft", draft_max=7)
    assert answer.token_ids == plain.token_ids
    assert answer.stats.rejected > answer.stats.accepted
    again = sum(read) - answer.stats.prompt_tokens - answer.stats.drafted
    assert again < 2 * answer.stats.output_tokens, "the draft goes back to a near copy, not to the prompt"


def count_tokens_read(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Widths of the draft's passes from now on."""
    assert driver.session.pair is not None
    assert driver.session.pair.draft is not None
    draft, read = driver.session.pair.draft.context, list[int]()
    native = draft.decode

    def counted(tokens: Sequence[int], **options: Any) -> Any:
        read.append(len(tokens))
        return native(tokens, **options)

    monkeypatch.setattr(draft, "decode", counted)
    return read


@pytest.mark.parametrize("draft", ["mamba", "qwen35", "jamba"])
def test_a_draft_with_a_running_state_goes_back_to_its_copy(driver: Driver, kind_model: KindModel, draft: str) -> None:
    driver.load(kind_model("gemma3"), kind_model(draft), context=256)
    assert driver.session.pair is not None
    info = driver.session.pair.info()
    assert any("the draft keeps a running state" in note for note in info.notes)
    for turns in (["the word"], ["the word", "of", "and"], ["the word"]):
        plain = driver.ask(*turns, max_tokens=40)
        answer = driver.ask(*turns, max_tokens=40, speculation="draft")
        assert answer.token_ids == plain.token_ids
        assert answer.stats.drafted > 0


def test_a_draft_with_a_running_state_is_still_right_after_rejections(
    driver: Driver, kind_model: KindModel, tmp_path: Path
) -> None:
    """If the draft's state were wrong after a rollback, its proposals would be, too: acceptance shows it."""
    path = kind_model("qwen35")
    another = tmp_path / "another.gguf"  # the same model in another file: it is opened as any draft is, in fast mode
    another.write_bytes(path.read_bytes() + bytes(32))
    driver.load(path, another, context=512)
    answer = driver.ask("the word of", max_tokens=200, temperature=0.8, seed=2, speculation="draft", draft_max=7)
    assert answer.stats.rejected > 0, "fast and exact kernels differ a little, so there are some"
    assert answer.stats.acceptance is not None
    assert answer.stats.acceptance > 0.8
    late = answer.sources[100:]
    assert late.count("d") > 0.6 * len(late)


@pytest.mark.parametrize("kind", PLAIN)
def test_where_nothing_can_be_taken_back_decoding_is_plain_and_says_why(
    driver: Driver, kind_model: KindModel, kind: str
) -> None:
    """Reports NR-04."""
    path = kind_model(kind)
    pair = driver.load(path, path, context=256)
    assert pair.rollback == "none"
    assert pair.draft is None, "a draft that cannot be used takes no memory"
    assert pair.draft_refused == PLAIN_ONLY
    assert pair.available() == {"off": None, "lookup": PLAIN_ONLY, "draft": PLAIN_ONLY, "auto": PLAIN_ONLY}
    plain = driver.ask("the word of the word of the word of", max_tokens=30)
    for mode in MODES[1:]:
        answer = driver.ask("the word of the word of the word of", max_tokens=30, speculation=mode)
        assert answer.token_ids == plain.token_ids
        assert (answer.stats.drafted, set(answer.sources)) == (0, {"t"})
        assert answer.receipt is not None
        assert answer.receipt.drafter == "none"
        assert f"plain: {PLAIN_ONLY}" in answer.receipt.notes


@pytest.mark.parametrize("kind", ["lfm2", "qwen35"])
def test_a_bounded_rollback_limits_the_draft_and_says_so(driver: Driver, kind_model: KindModel, kind: str) -> None:
    pair = driver.load(kind_model(kind), context=256, mode="fast")
    assert pair.rollback == "bounded"
    assert "this model keeps running states; drafts are at most 7 tokens long" in pair.notes
    answer = driver.ask("the of and the of and the of and", speculation="lookup", draft_max=16, max_tokens=60)
    assert answer.receipt is not None
    assert answer.receipt.draft_max == 7
    assert "drafts of 16 were asked for; this model can take back 7" in answer.receipt.notes


@pytest.mark.parametrize("kind", KINDS)
def test_a_long_chat_is_not_read_whole_at_each_message(driver: Driver, kind_model: KindModel, kind: str) -> None:
    """The state is kept where the next prompt probably forks: at the end of each prompt."""
    driver.load(kind_model(kind), context=2048)
    turns: list[str] = []
    prompts: list[int] = []
    for number in range(4):
        turns.append(words(number) * 4)
        answer = driver.ask(*turns, max_tokens=12)
        prompts.append(answer.stats.prompt_tokens)
        if number:
            assert answer.stats.prompt_tokens_cached >= prompts[-2] - 1, "all but the answer, at least"
        turns.append(answer.text)
    again = driver.ask(*turns[:-1], max_tokens=12, seed=9, temperature=1.0)
    assert again.stats.prompt_tokens_cached == prompts[-1] - 1, "regenerated: only the last token is read"
    edited = driver.ask(*turns[:4], "something else", max_tokens=12)
    assert edited.stats.prompt_tokens_cached >= prompts[1] - 1, "an edit reads from the turn before it"


@pytest.mark.parametrize("kind", STATES)
def test_a_state_that_cannot_be_copied_means_reading_anew(
    driver: Driver, kind_model: KindModel, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library(), "llama_state_seq_get_data_ext", lambda *arguments: 0)
    pair = driver.load(kind_model(kind), context=256)
    assert any("its state cannot be copied" in note for note in pair.notes)
    first = driver.ask("the word", max_tokens=20)
    second = driver.ask("the word", max_tokens=20)
    assert second.token_ids == first.token_ids
    assert second.stats.prompt_tokens_cached == 0


def test_a_target_that_refuses_in_mid_answer_is_read_again(
    driver: Driver, kind_model: KindModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It never should: what was found at load no longer holds. Slow, but the same answer."""
    path = kind_model("gemma3")
    driver.load(path, kind_model("gemma3", seed=2), context=256)
    plain = driver.ask("the word", max_tokens=30)
    native = library().llama_memory_seq_rm
    handle = driver.session.pair.target.context._memory  # type: ignore[union-attr]
    monkeypatch.setattr(
        library(), "llama_memory_seq_rm", lambda memory, *rest: memory != handle and native(memory, *rest)
    )
    answer = driver.ask("the word", max_tokens=30, speculation="draft")
    assert answer.token_ids == plain.token_ids
    assert answer.stats.rejected > 0


def test_a_load_that_is_stopped_while_it_tries_is_a_cancel(
    driver: Driver, kind_model: KindModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.llama import rollback  # where the first passes run

    path = kind_model("qwen35")
    real = rollback._is_plain_attention
    calls = 0

    def stop_at_the_draft(context: Any) -> bool:
        nonlocal calls
        calls += 1
        if calls == 2:
            driver.session.abort.set()
        return real(context)

    monkeypatch.setattr(rollback, "_is_plain_attention", stop_at_the_draft)
    driver.try_load(path, path, context=256)
    assert driver.failure().code == "cancelled"
    driver.load(path, path, context=256)
    assert driver.ask("the word", max_tokens=5).finish_reason == "length"
