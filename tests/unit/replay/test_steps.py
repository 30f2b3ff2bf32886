"""What a replay does is said while it does it, and a file that was overwritten in its middle is found before it."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from app.chats.store import ChatStore
from app.percent import share
from app.replay.again import CannotReplay, make_again
from app.replay.kept import KeptAnswer
from app.replay.steps import Step
from engine.files.whole_hash import BLOCK
from engine.protocol import Difference, Failed, Loaded, Loading, LoadSettings, Prefilling, Replay, Replayed
from tests.unit.compare.engines import PaperEngine
from tests.unit.files.test_whole_hash import overwrite_the_middle
from tests.unit.replay.answers import VERSIONS, kept


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))


@pytest.fixture
def large(model: Path) -> Path:
    """Its middle is in no fingerprint."""
    with open(model, "ab") as file:
        file.write(bytes(5 * 1024 * 1024))
    return model


def knowing(store: ChatStore, model: Path, **changes: object) -> KeptAnswer:
    """An answer whose receipt has the hash of the whole file."""
    answer = kept(store, model, **changes)
    whole = hashlib.sha256(model.read_bytes()).hexdigest()
    target = answer.receipt.target.model_copy(update={"sha256": whole})
    return replace(answer, receipt=answer.receipt.model_copy(update={"target": target}))


class Talking(PaperEngine):
    """Says how far it is, as the real one does."""

    async def load(self, settings: LoadSettings) -> AsyncGenerator[Loading | Loaded | Failed, None]:
        yield Loading(id=1, what="target", fraction=0.5)
        async for event in super().load(settings):
            yield event

    async def replay(self, wanted: Replay) -> AsyncGenerator[Loading | Loaded | Prefilling | Replayed | Failed, None]:
        for done in (2, 5):
            yield Prefilling(id=0, done=done, total=5)
        async for event in super().replay(wanted):
            yield event


def heard(answer: KeptAnswer, manner: str, engine: PaperEngine) -> list[str]:
    steps: list[Step] = []
    asyncio.run(make_again(engine, answer, manner, VERSIONS, steps.append))  # type: ignore[arg-type]
    return [step.words for step in steps]


def test_every_step_by_the_passes(store: ChatStore, large: Path) -> None:
    answer = knowing(store, large, passes="2 1*3", mode="fast")
    assert heard(answer, "passes", Talking()) == [
        "checking the model file…",
        f"checking the model file… {share(BLOCK, large.stat().st_size)}",
        "checking the model file… 100 %",
        "loading the model…",
        "loading the model… 50 %",
        "reading the prompt…",
        "reading the prompt… 2/5",
        "comparing every token… 5/5",
    ]
    again = heard(answer, "passes", Talking())
    assert again[0] == "loading the model…", "the file was not touched since"


def test_every_step_anew(store: ChatStore, model: Path) -> None:
    engine = PaperEngine(ids=lambda settings: (5, 9, 7))
    assert heard(kept(store, model), "off", engine) == [
        "loading the model…",
        "reading the prompt…",
        "comparing every token… 3/3",
        "looking at the first difference…",
    ]


def test_a_file_that_was_overwritten_in_its_middle_is_another_one(store: ChatStore, large: Path) -> None:
    answer, engine = knowing(store, large), PaperEngine()
    overwrite_the_middle(large)
    now = hashlib.sha256(large.read_bytes()).hexdigest()
    with pytest.raises(CannotReplay) as error:
        asyncio.run(make_again(engine, answer, "off", VERSIONS))
    then = answer.receipt.target.sha256
    assert then is not None
    assert str(error.value) == (
        f"The answer cannot be made again: {large} is another file than the one that answered ({then[:12]} then, "
        f"{now[:12]} now)."
    )
    assert re.search(r"\([0-9a-f]{12} then, [0-9a-f]{12} now\)", str(error.value))
    assert (engine.loaded, engine.asked) == ([], [])


def test_what_cannot_be_read_to_its_end_does_not_answer(
    store: ChatStore, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = knowing(store, large)

    def watch(step: Step) -> None:
        if step.done:
            large.write_bytes(large.read_bytes())

    with pytest.raises(CannotReplay, match="cannot be read, or it changes while it is read"):
        asyncio.run(make_again(PaperEngine(), answer, "off", VERSIONS, watch))


def test_where_the_whole_file_is_the_same_a_difference_is_not_its_fault(store: ChatStore, large: Path) -> None:
    answer = knowing(store, large, mode="exact settings, untested", passes="2 1*3")
    differs = Difference(index=0, expected=5, chosen=6, expected_probability=0.5, chosen_probability=0.4, width=1)
    engine = PaperEngine(replies=[Replayed(id=0, compared=3, difference=differs)])
    outcome = asyncio.run(make_again(engine, answer, "passes", VERSIONS))
    assert outcome.words == (
        "Different from token 1 of 3 on, made again by the passes it was made by. Nothing that the record tells of is "
        "otherwise now, and the model file is the same to its last byte: the answer's record or this engine is wrong."
    )
