"""Every command that makes answers takes a preset."""

from __future__ import annotations

import pytest
from typer.main import get_command

from app.cli import app


@pytest.mark.parametrize("name", ["chat", "ask", "compare", "bench", "score"])
def test_it_has_the_option(name: str) -> None:
    command = get_command(app).commands[name]  # type: ignore[attr-defined]
    assert "--preset" in [option for parameter in command.params for option in parameter.opts]
