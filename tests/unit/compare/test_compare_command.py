"""What ``slipstream compare`` says of a prompt that is not there, and of a draft that is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.commands.errors import CommandError
from engine.protocol import LoadSettings, ModelFile
from tests.fixtures.random_models import write_random
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


@pytest.mark.parametrize("refused", [None, "the vocabulary differs at id 5"])
def test_a_draft_that_is_refused_takes_no_memory(
    compared: Benched, capsys: pytest.CaptureFixture[str], tmp_path: Path, refused: str | None
) -> None:
    files = [write_random(tmp_path / f"{name}.gguf") for name in ("target", "draft")]
    target, draft = (ModelFile(path=str(file)) for file in files)
    load = LoadSettings(target=target, draft=draft)
    assert compared(PaperEngine(refused=refused), load, ways="off,auto", as_json=True) == 0
    found = json.loads(capsys.readouterr().out)["memory"]
    if refused:
        assert found["auto"] == found["off"] > 0
    else:
        assert found["auto"] > found["off"] > 0
