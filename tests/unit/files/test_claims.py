"""Headers that claim what no weights stand behind: named, with the figures; honest ones of every kind are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.files.claims import MARGIN, untrue, untrue_sizes
from engine.files.header import read_header
from engine.files.shape import Shape
from engine.target_file import PairError, checked_header
from tests.fixtures.headers import states, write_model
from tests.fixtures.kinds import KINDS, write_kind

ABSURD = 2**32 - 1

Untrue = Callable[..., str | None]


@pytest.fixture
def found(tmp_path: Path) -> Untrue:
    """Why a model with these keys is not believed."""

    def write(architecture: str = "llama", **keys: Any) -> str | None:
        extra = {f"{architecture}.{key.replace('__', '.')}": value for key, value in keys.items()}
        return untrue(read_header(write_model(tmp_path / "m.gguf", architecture=architecture, extra=extra)))

    return write


@pytest.mark.parametrize(
    ("keys", "claim"),
    [
        ({"attention__head_count": 0}, "no attention head"),
        ({"attention__head_count": [0, 0]}, "no attention head"),
        ({"attention__head_count_kv": ABSURD}, "4 attention heads and 4,294,967,295 for keys and values"),
        ({"attention__head_count_kv": 3}, "4 attention heads and 3 for keys and values"),
        ({"attention__head_count": [4, 4], "attention__head_count_kv": [2, 8]},
         "4 attention heads and 8 for keys and values"),
        ({"attention__head_count_kv": [2, -1]}, "4 attention heads and -1 for keys and values"),
        ({"attention__key_length": ABSURD}, "sizes that take 1,099,511,631,616 weights, and has 99,968"),
        ({"attention__value_length": ABSURD}, "sizes that take 1,099,511,631,616 weights, and has 99,968"),
        ({"feed_forward_length": ABSURD}, "sizes that take 274,877,906,880 weights, and has 99,968"),
        ({"embedding_length": ABSURD}, "sizes that take 1,099,511,627,520 weights, and has 99,968"),
    ],
    ids=str,
)  # fmt: skip
def test_what_no_weights_stand_behind(found: Untrue, keys: dict[str, Any], claim: str) -> None:
    if "embedding_length" in keys:
        keys = {**keys, "attention__key_length": 16, "attention__value_length": 16}
    assert found(**keys) == f"its header is damaged: it claims {claim}"


def test_running_states_count_too(found: Untrue) -> None:
    keys = {key.removeprefix("mamba.").replace(".", "__"): value for key, value in states("mamba").items()}
    assert found("mamba", attention__head_count=0, **keys) is None
    why = found("mamba", attention__head_count=0, **{**keys, "ssm__inner_size": ABSURD})
    assert why is not None
    assert why.startswith("its header is damaged: it claims sizes that take ")


def test_layers_without_attention_are_believed(found: Untrue) -> None:
    assert found(attention__head_count=[4, 0], attention__head_count_kv=[2, 0]) is None
    assert found(attention__head_count_kv=[0, 2]) is None
    assert found() is None


def test_a_header_is_doubted_only_where_no_architecture_comes_near() -> None:
    shape = Shape(width=10, cell=400, layers=2)
    assert untrue_sizes(shape, 10 * 200 // MARGIN) is None
    assert untrue_sizes(shape, 10 * 200 // MARGIN - 1) == (
        "its header is damaged: it claims sizes that take 2,000 weights, and has 124"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_model_is_believed(tmp_path: Path, kind: str) -> None:
    assert untrue(read_header(write_kind(tmp_path / "m.gguf", kind))) is None


def test_the_starter_is_believed(smol_path: Path) -> None:
    assert untrue(read_header(smol_path)) is None


def test_the_engine_opens_no_such_file(tmp_path: Path) -> None:
    path = write_model(tmp_path / "m.gguf", heads=0)
    with pytest.raises(PairError) as refused:
        checked_header(str(path))
    assert str(refused.value) == "m.gguf cannot be used: its header is damaged: it claims no attention head."


def test_the_engine_opens_no_file_that_does_not_say_what_it_is(tmp_path: Path) -> None:
    """The library would look for it at its own pace: half a minute, where a made-up header is long."""
    path = write_model(tmp_path / "m.gguf", extra={"general.architecture": None})
    with pytest.raises(PairError) as refused:
        checked_header(str(path))
    assert str(refused.value) == "m.gguf cannot be used: its header names no architecture."
