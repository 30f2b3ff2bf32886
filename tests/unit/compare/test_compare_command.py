"""What ``slipstream compare`` says before anything is loaded."""

from __future__ import annotations

import pytest

from app.commands.errors import CommandError
from tests.unit.compare.conftest import Benched
from tests.unit.compare.engines import PaperEngine


def test_without_a_prompt_it_names_itself_and_what_else_it_takes(compared: Benched) -> None:
    engine = PaperEngine()
    with pytest.raises(CommandError) as error:
        compared(engine, prompt=None)
    words = (
        'There is no prompt. Give one (slipstream compare "...") or pipe one in; --last and --chat take one of your '
        "chats."
    )
    assert str(error.value) == words
    assert engine.loaded == []
