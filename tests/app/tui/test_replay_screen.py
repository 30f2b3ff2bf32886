"""/replay: an answer made again on the chat's engine, token by token."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from app.chats.store import open_chats
from app.plain import sheet
from app.plain.turns import about
from app.tui.screens.receipt import ReceiptScreen
from app.tui.screens.replay import ReplayScreen
from app.tui.widgets.turns import AnswerTurn
from engine.files.fingerprint import fingerprint
from engine.protocol import Difference, LoadSettings, ModelFile, ModelInfo, PairInfo, Receipt, Replayed
from tests.app.tui.fake_client import FakeClient, Wait, answer, ends, model, pair, receipt, says
from tests.app.tui.harness import Chat, chat
from tests.unit.files.test_whole_hash import overwrite_the_middle


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "SmolLM2-135M-Instruct.Q4_1.gguf"
    path.write_bytes(b"GGUF" + bytes(1000))
    return path


def info(file: Path) -> ModelInfo:
    return model(str(file)).model_copy(update={"fingerprint": fingerprint(file)})


def made(file: Path, **changes: object) -> Receipt:
    """As an engine makes one that holds it."""
    return receipt().model_copy(update={"target": info(file), "passes": "2 1*2", **changes})


class Holding(FakeClient):
    """Holds the file that was asked for, by its own fingerprint. ``badge``: the mode that it says."""

    badge = "exact settings, untested"

    @property
    def pair(self) -> PairInfo | None:
        held = self._pair
        return held.model_copy(update={"target": info(Path(held.target.path)), "badge": self.badge}) if held else None

    @pair.setter
    def pair(self, value: PairInfo | None) -> None:
        self._pair = value


async def replayed(it: Chat, typed: str = "/replay") -> ReplayScreen:
    await it.send(typed)
    await it.until(lambda: isinstance(it.app.screen, ReplayScreen), "the replay")
    screen = it.app.screen
    assert isinstance(screen, ReplayScreen)
    return screen


def loads(file: Path) -> LoadSettings:
    return LoadSettings(target=ModelFile(path=str(file)))


async def test_the_last_answer_is_made_again_by_its_passes(file: Path) -> None:
    engine = Holding([answer("The Volga.", proof=made(file))])
    async with chat(engine, load=loads(file), size=(120, 40)) as it:
        await it.ask("And the longest one?")
        await replayed(it)
        await it.sees("replay · “And the longest one?”", "by its own passes")
        await it.sees("Identical: 2 tokens made again by the passes it was made by.")
        assert (engine.replayed[0].prompt_ids, engine.replayed[0].token_ids) == ((1, 2, 3), (1, 2))
        assert len(engine.loaded) == 1, "what is loaded is what answered"
        await it.pilot.press("escape")
        await it.until(lambda: it.app.screen is it.screen, "the chat")
        assert len(engine.loaded) == 1


async def test_where_it_differs_both_tokens_are_named(file: Path) -> None:
    engine = Holding([answer("The Volga.", proof=made(file))])
    differs = Difference(index=1, expected=2, chosen=9, expected_probability=0.25, chosen_probability=0.5, width=1)
    engine.replies = [Replayed(id=0, compared=2, difference=differs)]
    async with chat(engine, load=loads(file), size=(120, 40)) as it:
        await it.ask("And the longest one?")
        await replayed(it, "/replay passes")
        await it.sees(
            "Different from token 2 of 2 on, made again by the passes it was made by.",
            "then token 2, 25.0 % by the model; now token 9, 50.0 %",
        )


async def test_a_damaged_record_is_told_in_the_same_words_everywhere(file: Path) -> None:
    async with chat(Holding([answer("The Volga.", proof=made(file))]), load=loads(file), size=(120, 40)) as it:
        await it.ask("And the longest one?")
        view = it.screen.target("replay")
        assert isinstance(view, AnswerTurn)
        assert view.turn.figures is not None
        view.turn.figures = replace(view.turn.figures, receipt_json="{}")
        words = (
            f"The record of answer {view.turn.figures.message} is damaged, or a later version of Slipstream wrote it."
        )
        assert it.screen.why_not("replay") == sheet.text_of(view.turn).splitlines()[-2] == words
        assert about(view.turn)[-1] == words
        await it.send("/replay")
        await it.sees(words)
        await it.send("/receipt")
        await it.until(lambda: isinstance(it.app.screen, ReceiptScreen), "the receipt")
        await it.sees(f"The record of answer {view.turn.figures.message} is damaged,")
        assert not view.notes.display
        view.show_turn()
        assert (str(view.notes.content), view.notes.display, view.notes.has_class("calm")) == (words, True, False)


async def test_anew_in_another_mode_a_planted_seed_is_noticed(file: Path) -> None:
    """The receipt's seed was changed: the same request gives other tokens."""
    other = ends("The Rhine.").model_copy(update={"token_ids": (1, 5)})
    first = answer("The Volga.", proof=made(file, mode="exact", seed=12345))
    engine = Holding([first, [*says("The Rhine."), other]])
    engine.badge = "exact"
    async with chat(engine, load=loads(file), size=(120, 40)) as it:
        await it.ask("And the longest one?")
        await replayed(it, "/replay off")
        await it.sees("with speculation off", "Different from token 2 of 2 on", "then token 2; now token 5")
        asked = engine.asked[-1]
        assert (asked.seed, asked.speculation, asked.fresh, asked.max_tokens) == (12345, "off", True, 2)


async def test_a_planted_text_is_noticed_though_the_tokens_are_the_same(file: Path, tmp_path: Path) -> None:
    store = open_chats(tmp_path / "chats.sqlite", print)
    async with chat(FakeClient([answer("The Volga.", proof=made(file))]), store=store) as it:
        await it.ask("And the longest one?")
    with contextlib.closing(sqlite3.connect(str(store.file))) as db, db:
        db.execute("UPDATE messages SET content = 'The Rhine.' WHERE role = 'assistant'")
    store.close()
    store = open_chats(store.file, print)
    async with chat(Holding(), store=store, load=loads(file), size=(120, 40)) as it:
        await it.sees("The Rhine.")
        await replayed(it)
        await it.sees("Identical: 2 tokens made again", "The text of this answer was changed after it was made:")
    store.close()


async def test_a_planted_wrong_file_is_refused(file: Path) -> None:
    engine = Holding([answer("The Volga.", proof=made(file))])
    async with chat(engine, load=loads(file), size=(120, 40)) as it:
        await it.ask("And the longest one?")
        file.write_bytes(b"GGUF" + bytes(2000))
        await it.send("/replay")
        await it.sees("The answer cannot be made again:", "is another file than the one that answered")
        assert it.app.screen is it.screen
        assert engine.replayed == []


def whole(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


async def test_a_file_that_was_overwritten_in_its_middle_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    file = tmp_path / "SmolLM2-135M-Instruct.Q4_1.gguf"
    file.write_bytes(b"GGUF" + bytes(5_000_000))
    then = whole(file)
    proof = made(file)
    proof = proof.model_copy(update={"target": proof.target.model_copy(update={"sha256": then})})
    engine = Holding([answer("The Volga.", proof=proof)])
    async with chat(engine, load=loads(file), size=(160, 40)) as it:
        await it.ask("And the longest one?")
        overwrite_the_middle(file)
        await replayed(it)
        await it.sees("is another file than the one that answered", f"({then[:12]} then, {whole(file)[:12]} now)")
        assert (engine.replayed, len(engine.asked)) == ([], 1)


async def test_another_model_is_loaded_only_after_a_question(file: Path, tmp_path: Path) -> None:
    second = tmp_path / "Qwen3-4B-Q4_K_M.gguf"
    second.write_bytes(b"GGUF" + bytes(500))
    engine = Holding([answer("The Volga.", proof=made(file))])
    async with chat(engine, load=loads(second), size=(120, 40)) as it:
        await it.ask("And the longest one?")
        await replayed(it)
        await it.sees(
            "It was made by SmolLM2-135M Q4_1. Qwen3-4B Q4_K_M leaves the engine for it and is loaded again afterwards."
        )
        assert len(engine.loaded) == 1
        await it.pilot.press("enter")
        await it.sees("Identical: 2 tokens")
        assert engine.loaded[-1].target.path == str(file)
        await it.pilot.press("escape")
        await it.until(lambda: engine.loaded[-1].target.path == str(second), "the chat's own model")
        await it.until(lambda: not it.screen.answering.state.is_loading)


async def test_the_question_can_be_left(file: Path) -> None:
    engine = Holding([answer("The Volga.", proof=made(file, context=4096))])
    async with chat(engine, load=loads(file), size=(120, 40)) as it:
        await it.ask("And the longest one?")
        await replayed(it)
        await it.sees("with 4,096 tokens of context, 2 threads, exact settings, untested.")
        await it.pilot.press("escape")
        await it.until(lambda: it.app.screen is it.screen, "the chat")
        assert (len(engine.loaded), engine.replayed) == (1, [])


async def test_esc_stops_it(file: Path) -> None:
    script = [answer("The Volga.", proof=made(file)), [*says("The V"), Wait("never"), ends("The Volga.")]]
    engine = Holding(script)
    async with chat(engine, load=loads(file), size=(120, 40)) as it:
        await it.ask("And the longest one?")
        await replayed(it, "/replay off")
        await it.until(lambda: len(engine.asked) == 2 and engine._cancelled is not None)
        await it.pilot.press("escape")
        await it.until(lambda: it.app.screen is it.screen, "the chat")
        assert engine.cancels > 0
        assert [text for _, _, text in it.stored] == ["And the longest one?", "The Volga."]


async def test_a_selected_answer_by_its_key(file: Path) -> None:
    engine = Holding([answer("The Volga.", proof=made(file)), answer("No.", proof=made(file, seed=8))])
    async with chat(engine, load=loads(file), size=(120, 40)) as it:
        await it.ask("And the longest one?")
        await it.ask("Sure?")
        await it.pilot.press("alt+up", "alt+up", "alt+up", "p")
        await it.until(lambda: isinstance(it.app.screen, ReplayScreen), "the replay")
        await it.sees("Identical: 2 tokens")
        assert engine.replayed[0].seed == 7, "the first answer, not the last"


async def test_what_cannot_be_replayed_is_said() -> None:
    async with chat(size=(120, 40)) as it:
        await it.send("/replay")
        await it.sees("Nothing has been answered yet.")
        await it.ask("Hello?")
        await it.send("/replay fast")
        await it.sees("/replay takes as-was, passes, off, lookup, draft, auto, not fast.")
        await it.send("/replay")
        await it.sees(f"The answer cannot be made again: {pair().target.path} is not there any more.")
