"""JSON of somebody else that is nested more deeply than Python reads: unreadable like any other, never a crash."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.chats.export import _parsed
from app.chats.records import Figures, settings_from_json
from app.chats.seal import doubts
from app.chats.unsent import Unsent
from app.chats.unsent import _read as read_unsent
from app.json_text import parsed
from engine.pipes import _id_of

DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("read", "found"),
    [
        (settings_from_json, {}),
        (_parsed, DEEP),
        (lambda text: read_unsent(text, {}), (0.0, Unsent())),
        (lambda text: _id_of(text.encode()), 0),
    ],
    ids=["settings of a chat", "a record that is exported", "an unsent message", "a request"],
)
def test_what_is_nested_too_deeply_is_nothing_that_can_be_read(read: Callable[[str], object], found: object) -> None:
    assert read(DEEP) == found


@pytest.mark.parametrize(
    "read", [parsed, lambda text: doubts(Figures(1, "stop", (), "", "{}", text), "")], ids=["any", "a sealed record"]
)
def test_there_is_one_kind_of_failure(read: Callable[[str], object]) -> None:
    with pytest.raises(ValueError, match="it is nested too deeply"):
        read(DEEP)
    with pytest.raises(ValueError, match="Expecting value"):
        read("x")
