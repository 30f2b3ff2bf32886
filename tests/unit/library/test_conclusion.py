"""The last sentence of a check says what holds for the case, and no more."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from app.library.details import check_facts
from app.library.inventory import take_inventory
from app.library.local import LocalModel, LocalScan
from app.library.records import Check, ShelfError
from app.library.room import Room
from app.library.shelf import Shelf
from tests.fixtures.headers import WORDS, states, write_model
from tests.fixtures.homes import ONE_TARGET, Home

ALONE = "The target works here, alone or with prompt lookup"
PLENTY = 10**12


@pytest.fixture
def models(folder: Path, look: Callable[..., LocalScan]) -> dict[str, LocalModel]:
    """By the name of the file."""
    write_model(folder / "target.gguf", size=400_000_000, name="target")
    write_model(folder / "mamba.gguf", architecture="mamba", size=400_000_000, name="mamba", extra=states("mamba"))
    write_model(folder / "small.gguf", size=4_000_000, name="small")
    write_model(folder / "short.gguf", size=4_000_001, name="short", context=8)
    write_model(folder / "large.gguf", size=390_000_000, name="large")
    write_model(folder / "stranger.gguf", tokens=[*WORDS[:-1], "odd"], name="stranger")
    cut = write_model(folder / "cut.gguf", name="cut")
    os.truncate(cut, cut.stat().st_size - 1000)
    return {model.path.stem: model for model in look().models}


@pytest.fixture
def checked(home: Home, models: dict[str, LocalModel]) -> Callable[..., Check]:
    """``checked("target", "small", free=bytes)``"""

    def check(target: str, draft: str | None = None, free: int = PLENTY, context: int | None = 512) -> Check:
        room = Room(disk=PLENTY, memory=free, free_memory=free, cores=1)
        return check_facts(models[target], models[draft] if draft else None, take_inventory(), room, context)

    return check


@pytest.mark.parametrize(
    ("target", "draft", "usable", "words"),
    [
        ("target", None, True, f"{ALONE}."),
        ("mamba", None, True, "The target works here, decoded plainly."),
        ("target", "small", True, "This works here, with this draft."),
        (
            "target", "large", True,
            "This works here, but this draft will not pay: answers stay the same and do not come faster.",
        ),
        (
            "target", "target", True,
            "This works here, but this draft will not pay: answers stay the same and do not come faster.",
        ),
        ("target", "stranger", False, f"{ALONE}; this draft cannot serve it."),
        ("target", "cut", False, f"{ALONE}; this draft cannot serve it."),
        ("mamba", "small", False, "The target works here, decoded plainly; this draft cannot serve it."),
        ("cut", None, False, "This does not work here: the target cannot be used."),
        ("cut", "small", False, "This does not work here: the target cannot be used."),
    ],
)  # fmt: skip
def test_what_is_true_of_each_case(
    checked: Callable[..., Check], target: str, draft: str | None, usable: bool, words: str
) -> None:
    found = checked(target, draft)
    assert (found.words, found.usable) == (words, usable)
    assert any("too large to pay" in fact.text for fact in found.facts) == (draft == "large")


@pytest.mark.parametrize("draft", [None, "small", "stranger"])
def test_a_target_that_does_not_fit_is_said_to(checked: Callable[..., Check], draft: str | None) -> None:
    found = checked("target", draft, free=1_000_000)
    assert found.words == "This does not work here: the target alone does not fit into memory."
    assert not found.usable


def test_a_draft_beside_which_the_target_does_not_fit(
    checked: Callable[..., Check], models: dict[str, LocalModel]
) -> None:
    room = Room(disk=PLENTY, memory=PLENTY, free_memory=PLENTY, cores=1)
    alone = room.fit(models["target"].shape, None, 512).needed
    found = checked("target", "large", free=alone + 1_000_000)
    assert found.words == f"{ALONE}; with this draft it does not fit into memory."
    assert not found.usable


def test_a_draft_that_cannot_serve_takes_no_memory(checked: Callable[..., Check]) -> None:
    def memory(found: Check) -> str:
        return next(fact.text for fact in found.facts if fact.label == "memory")

    assert memory(checked("target", "stranger")) == memory(checked("target"))
    assert memory(checked("target", "small")) != memory(checked("target"))


def test_a_draft_with_a_smaller_window_is_said_to_give_up_early(checked: Callable[..., Check]) -> None:
    words = "its window of 8 tokens is smaller than the context of 512: where the conversation is longer, it proposes "
    found = checked("target", "short")
    assert [fact.text for fact in found.facts if "window" in fact.text] == [f"{words}nothing"]
    assert found.usable
    assert not any("window" in fact.text for fact in checked("target", "small").facts)


def test_a_context_beyond_the_trained_one_is_said(checked: Callable[..., Check], models: dict[str, LocalModel]) -> None:
    trained = models["target"].context_trained
    assert trained is not None
    words = f"{trained + 1:,} tokens are more than the {trained:,} that the model was trained for; answers may degrade"
    found = checked("target", context=trained + 1)
    assert [fact.text for fact in found.facts if fact.label == "context"] == [f"{words} beyond that"]
    assert not any(fact.label == "context" for fact in checked("target", context=trained).facts)


def test_a_context_that_cannot_be_is_refused(home: Home, shelf: Shelf) -> None:
    home.put("whole.gguf", home.files[ONE_TARGET])
    with pytest.raises(ShelfError) as refused:
        shelf.check("whole", context=10**20)
    assert str(refused.value) == (
        "There is no context of 100,000,000,000,000,000,000 tokens: 16 to 2,147,483,647 tokens are possible."
    )
