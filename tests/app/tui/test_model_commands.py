"""Commands for the model that answers and the draft beside it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.tui import commands
from app.tui.screens.models import ModelsScreen
from tests.app.tui.fake_client import MODEL_PATH, FakeClient
from tests.app.tui.fake_shelf import CUT, DRAFT, DRAFT_PATH, LARGE, MISTRAL, MISTRAL_PATH, QWEN, STARTER, FakeShelf
from tests.app.tui.harness import chat, replies


def draft_of(client: FakeClient) -> str | None:
    """The path of the draft that was loaded last."""
    draft = client.loaded[-1].draft
    return draft.path if draft is not None else None


class TestModels:
    async def test_models_opens_the_screen_and_model_without_a_name_as_well(self) -> None:
        async with chat(shelf=FakeShelf()) as it:
            await it.send("/models")
            await it.until(lambda: isinstance(it.app.screen, ModelsScreen))
            await it.pilot.press("escape")
            await it.until(lambda: it.app.screen is it.screen)
            await it.send("/model ")
            await it.until(lambda: isinstance(it.app.screen, ModelsScreen))

    async def test_another_model_by_its_name(self) -> None:
        client = FakeClient()
        async with chat(client, shelf=FakeShelf()) as it:
            await it.send("/model mistral")
            await it.sees("mistral-7b-instruct-v0.3 Q4_K_M answers from now on; the chat stays.")
            await it.until(lambda: client.loaded[-1].target.path == MISTRAL_PATH)
            await it.send("/model mistral")
            await it.sees("mistral-7b-instruct-v0.3 Q4_K_M answers already.")

    async def test_names_that_are_no_use_say_why(self) -> None:
        client = FakeClient()
        async with chat(client, shelf=FakeShelf()) as it:
            await replies(it, "/model nothing", "No model is called nothing. /models shows those that are here and")
            await replies(it, f"/model {QWEN.key}", "Qwen3-4B with 0.6B is not here: /models shows what can be done.")
            await replies(it, f"/model {CUT.key}", "cut Q4_0 is not whole: /models shows what can be done.")
            with pytest.raises(commands.RefusedError, match=r"^q can be .* Type more of its name\.$"):
                await commands.run(it.screen, commands.Typed("model", "q"))
            assert len(client.loaded) == 1

    async def test_a_file_by_its_path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
        monkeypatch.chdir(tmp_path)
        target, draft = tmp_path / "big one-Q4_0.gguf", tmp_path / "small-Q8_0.gguf"
        for file in (target, draft):
            file.write_bytes(b"GGUF")
        client, shelf = FakeClient(), FakeShelf()
        async with chat(client, shelf=shelf) as it:
            await replies(it, f"/model {target}", "big one Q4_0 answers from now on; the chat stays.")
            await it.until(lambda: client.loaded[-1].target.path == str(target))
            await replies(it, f"/model {target}", "big one Q4_0 answers already.")
            await replies(it, "/draft small-Q8_0.gguf", "small Q8_0 proposes from now on: same vocabulary")
            await it.until(lambda: draft_of(client) == str(draft))
            shelf.verdict = (False, "it has other tokens")
            await replies(it, f"/draft {target}", "cannot propose for the model that answers now: it has other tokens.")

    async def test_paths_of_no_model_are_refused_as_on_the_command_line(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
        (tmp_path / "name.gguf").write_bytes(b"GGUF")
        client = FakeClient()
        async with chat(client, shelf=FakeShelf(), size=(160, 34)) as it:
            for command in ("/model", "/draft"):
                wrong = f"There is no file {tmp_path}/names.gguf (did you mean name.gguf?)."
                await replies(it, f"{command} {tmp_path}/names.gguf", wrong)
                await replies(it, f"{command} {tmp_path}", "is a folder, and a model is a file; it holds name.gguf.")
            await replies(it, f"/model {MISTRAL_PATH}", f"There is no file {MISTRAL_PATH}.")
            assert len(client.loaded) == 1

    async def test_one_that_does_not_fit_is_left_to_the_models_screen(self) -> None:
        shelf = FakeShelf(entries=[replace(LARGE, target="/models/large.gguf")])
        async with chat(shelf=shelf) as it:
            await replies(it, f"/model {LARGE.key}", "is expected not to fit into this machine's memory.")

    async def test_a_draft_by_its_name_and_none(self) -> None:
        client = FakeClient()
        async with chat(client, shelf=FakeShelf()) as it:
            await replies(it, "/draft off", "There is no draft model that proposes.")
            it.composer.text = ""
            await it.send("/draft 0.6B-Q8")
            await it.sees("Qwen3-0.6B Q8_0 proposes from now on: same vocabulary")
            await it.until(lambda: (load := client.loaded[-1]).draft is not None and load.draft.path == DRAFT_PATH)
            await it.until(lambda: not it.screen.answering.state.is_loading)
            await it.send("/draft off")
            await it.sees("No draft model proposes from now on.")
            await it.until(lambda: client.loaded[-1].draft is None)
            assert client.loaded[-1].target.path == MODEL_PATH

    async def test_the_draft_of_a_pair_is_a_model_by_its_name(self) -> None:
        client, shelf = FakeClient(), FakeShelf(entries=[STARTER, MISTRAL], folded=(DRAFT,))
        async with chat(client, shelf=shelf) as it:
            await replies(it, "/model 0.6B", "Qwen3-0.6B Q8_0 answers from now on; the chat stays.")
            await it.until(lambda: client.loaded[-1].target.path == DRAFT_PATH)

    async def test_a_draft_that_does_not_serve_says_why(self) -> None:
        async with chat(shelf=FakeShelf(verdict=(False, "vocabulary differs"))) as it:
            await replies(it, "/draft mistral", "cannot propose for the model that answers now: vocabulary differs.")

    async def test_without_a_library_there_are_no_such_commands(self) -> None:
        async with chat() as it:
            await replies(it, "/models", "/models can do nothing now.")
