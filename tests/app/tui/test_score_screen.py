"""s in the Models screen: does speculation pay with a pair here, measured on the chat's engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from app.chats.store import open_chats
from app.score.measuring import bundled_tasks
from app.tui.screens.models import ModelsScreen
from app.tui.screens.score import ScoreScreen
from app.tui.widgets.gain_chart import GainChart
from engine.files.fingerprint import fingerprint
from engine.protocol import ErrorCode, LoadSettings, ModelFile
from engine.stats import DrafterStats
from tests.app.tui.fake_client import FakeClient, Step, Wait, answer, ends, failure, receipt, says, stats
from tests.app.tui.fake_shelf import MISTRAL, MISTRAL_PATH, STARTER, FakeShelf
from tests.app.tui.harness import Chat, chat
from tests.app.tui.models_screen import move_to, opened
from tests.unit.score.test_card import outcome_of

TASKS = len(bundled_tasks())
LOOKED_UP = {
    "lookup": DrafterStats(
        drafted=74, accepted=42, rejected=32, drafts=30, accepted_by_position=(24, 12, 6),
        verified_by_position=(30, 24, 12),
    )
}  # fmt: skip


def measured(plain: float, drafted: float, tasks: int = TASKS) -> list[Sequence[Step]]:
    """Warm-ups of three ways, then two runs of each on every prompt: places rotate, every second round backwards."""
    ways = ["off", "lookup", "auto"]
    made = [*ways]
    for repetition in range(2):
        for place in range(tasks):
            turn = (place + repetition // 2) % 3
            order = [*ways[turn:], *ways[:turn]]
            made += order[::-1] if repetition else order
    return [scored(plain) if way == "off" else scored(drafted, LOOKED_UP) for way in made]


def scored(seconds: float, drafters: Mapping[str, DrafterStats] = MappingProxyType({})) -> list[Step]:
    """One answer, and what was proposed for it."""
    counts = drafters.get("lookup", DrafterStats())
    figures = stats(
        64, accepted=counts.accepted, rejected=counts.rejected, total_seconds=seconds, prefill_seconds=0.1,
        drafters=dict(drafters), draft_seconds=0.0,
    )  # fmt: skip
    return [*says("Yes."), ends("Yes.", figures=figures, proof=receipt().model_copy(update={"mode": "exact"}))]


async def scoring(it: Chat) -> ScoreScreen:
    await it.pilot.press("s")
    await it.until(lambda: isinstance(it.app.screen, ScoreScreen), "the score")
    screen = it.app.screen
    assert isinstance(screen, ScoreScreen)
    return screen


async def test_rows_verdict_and_plot_of_the_pair_in_use() -> None:
    client = FakeClient(measured(2.0, 1.0), tested=outcome_of())
    async with chat(client, shelf=FakeShelf(), size=(120, 60)) as it:
        await move_to(it, await opened(it), STARTER)
        assert "s score" in it.footer
        await scoring(it)
        await it.sees("score · SmolLM2-135M + lookup", "Does speculation pay with this pair on this machine?")
        assert not client.asked, "nothing is measured before it is asked for"
        assert "own latest" not in it.words
        await it.pilot.press("enter")
        await it.sees(
            "+ longer passes 1.30 checking four tokens costs little more than one: V(2) 1.10 V(4) 1.30 V(8) 2.60",
            "2.00x on whole answers (2.00 to 2.00).",
            "What limits it: how many proposals are right; nothing here speaks against it.",
            "expected gain of lookup while decoding, by longest draft",
        )
        assert {settings.max_tokens for settings in client.asked} == {16, 64}
        assert all(settings.fresh for settings in client.asked)
        await it.pilot.press("escape")
        await it.until(lambda: isinstance(it.app.screen, ModelsScreen), "the models")
        assert {load.target.path for load in client.loaded} == {STARTER.target}


def test_the_title_of_the_plot_is_whole_where_there_is_little_room() -> None:
    chart = GainChart()
    chart.show([(0, 1.0), (1, 0.8)], "expected gain of the draft model while decoding, by longest draft")
    lines = [line.plain for line in chart.lines(44)]
    assert lines[:2] == ["expected gain of the draft model while", "decoding, by longest draft"]


async def test_another_pair_is_loaded_for_it_and_the_chats_own_comes_back() -> None:
    client = FakeClient(measured(2.0, 2.0))
    async with chat(client, shelf=FakeShelf(), size=(120, 40)) as it:
        await move_to(it, await opened(it), MISTRAL)
        await scoring(it)
        await it.sees("SmolLM2-135M Q4_1 leaves the engine meanwhile and is loaded again afterwards.")
        await it.pilot.press("enter")
        await it.sees("Best here: off", "not tested: this model cannot take tokens back")
        assert client.loaded[-1].target.path == MISTRAL_PATH
        await it.pilot.press("escape", "escape")
        await it.until(lambda: it.app.screen is it.screen, "the chat")
        await it.until(lambda: client.loaded[-1].target.path == STARTER.target, "the chat's own pair")
        await it.until(lambda: not it.screen.answering.state.is_loading)
        await it.ask("Are you there?")


async def test_esc_before_it_begins_leaves_the_engine_alone() -> None:
    client = FakeClient()
    async with chat(client, shelf=FakeShelf(), size=(120, 40)) as it:
        await move_to(it, await opened(it), MISTRAL)
        await scoring(it)
        await it.pilot.press("escape")
        await it.until(lambda: isinstance(it.app.screen, ModelsScreen), "the models")
        assert len(client.loaded) == 1


async def test_esc_stops_it() -> None:
    script = [*measured(2.0, 1.0)[:3], [*says("Ye"), Wait("never"), ends("Yes.")]]
    client = FakeClient(script, tested=outcome_of())
    async with chat(client, shelf=FakeShelf(), size=(120, 40)) as it:
        await move_to(it, await opened(it), STARTER)
        await scoring(it)
        await it.pilot.press("enter")
        await it.until(lambda: len(client.asked) == 4 and client._cancelled is not None, "the first run")
        await it.pilot.press("escape")
        await it.until(lambda: isinstance(it.app.screen, ModelsScreen), "the models")
        assert client.cancels > 0
        assert client._making == 0


async def test_while_an_answer_is_made_it_is_refused() -> None:
    client = FakeClient([[*says("The Vol"), Wait("more"), ends("The Volga.")]])
    async with chat(client, shelf=FakeShelf(), size=(120, 40)) as it:
        await it.send("And the longest one?")
        await it.until(lambda: it.screen.dialogue.live is not None)
        screen = await opened(it)
        await move_to(it, screen, STARTER)
        await it.pilot.press("s")
        await it.sees("An answer is being made, and the score needs the engine for itself: esc in the chat stops it.")
        assert it.app.screen is screen
        client.go("more")


async def test_a_failure_is_a_sentence() -> None:
    words = "The context is too small for this."
    client = FakeClient([[failure(ErrorCode.PROMPT_TOO_LARGE, words)]], tested=outcome_of())
    async with chat(client, shelf=FakeShelf(), size=(120, 40)) as it:
        await move_to(it, await opened(it), STARTER)
        await scoring(it)
        await it.pilot.press("enter")
        await it.sees("not measured", words)


async def test_own_requests_are_answered_again_only_when_they_are_asked_for(tmp_path: Path) -> None:
    model = tmp_path / "smol.gguf"
    model.write_bytes(b"GGUF" + bytes(1000))
    store = open_chats(tmp_path / "chats.sqlite", lambda notice: None)
    proof = receipt().model_copy(update={"prompt_ids": (7, 8, 9)})
    mine = proof.target.model_copy(update={"path": str(model), "fingerprint": fingerprint(model)})
    script = [answer("The Volga.", proof=proof.model_copy(update={"target": mine})), *measured(2.0, 1.0, 1)]
    client = FakeClient(script, tested=outcome_of())
    load = LoadSettings(target=ModelFile(path=str(model)))
    async with chat(client, store=store, load=load, size=(120, 40)) as it:
        await it.ask("And the longest one?")
        await it.send("/score")
        await it.until(lambda: isinstance(it.app.screen, ScoreScreen), "the score")
        await it.sees("on your own latest request to this model, made again on this machine only")
        await it.pilot.press("o")
        await it.sees("on your own latest chats")
        assert {settings.prompt_ids for settings in client.asked[1:]} == {(7, 8, 9)}
    store.close()


async def test_the_command_says_why_it_cannot() -> None:
    async with chat(load=None, no_model="There is no model.") as it:
        await it.send("/score")
        await it.sees("No model is loaded yet: ctrl+l shows those that are here; s measures one of them.")
        assert it.composer.text == "/score"
