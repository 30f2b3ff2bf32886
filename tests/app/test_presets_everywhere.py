"""Every command that makes answers takes a preset."""

from __future__ import annotations

import pytest

from app.cli import app


@pytest.mark.parametrize("name", ["chat", "ask", "compare", "bench", "score"])
def test_it_has_the_option(name: str) -> None:
    commands = [one.callback for one in app.registered_commands if one.callback is not None]
    command = next(one for one in commands if one.__name__ == name)
    assert "preset" in command.__annotations__
