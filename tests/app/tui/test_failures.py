"""Everything that can go wrong, in the words the user reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.chats.store import open_chats
from engine.protocol import ErrorCode, Loaded, Loading
from tests.app.tui.fake_client import LOAD, Crash, FakeClient, Wait, answer, counts, failure, pair, reads, receipt, says
from tests.app.tui.harness import chat


async def test_a_crash_in_mid_answer_is_said_and_the_next_message_works() -> None:
    client = FakeClient([[reads(5, 5), *says("The ferry waited"), counts(), Wait("kill"), Crash()], answer("Back.")])
    async with chat(client) as it:
        await it.send("tell")
        await it.sees("The ferry waited")
        client.go("kill")
        await it.until(lambda: it.idle)
        await it.sees(
            "The ferry waited",
            "The engine stopped (signal 9, killed; out of memory?). What arrived so far is kept; send again to start a",
            "engine stopped",
        )
        assert it.stored[-1][:2] == ("assistant", "failed")
        assert it.stored[-1][2] == "The ferry waited"
        await it.ask("again")
        await it.sees("Back.")
        assert "engine stopped" not in it.lines[0]


async def test_a_prompt_that_does_not_fit_comes_back_to_the_composer() -> None:
    words = "The conversation has 9,120 tokens and the context holds 8,192. Shorten it or start with a larger context."
    client = FakeClient([answer("Fine."), [failure(ErrorCode.PROMPT_TOO_LARGE, words)]])
    async with chat(client) as it:
        await it.ask("small")
        await it.send("a very long text")
        await it.until(lambda: it.idle and it.composer.text != "")
        assert it.composer.text == "a very long text"
        assert it.notice == words
        await it.sees("The conversation has 9,120 tokens and the context holds 8,192.")
        assert it.questions == ["small"]
        assert [role for role, _, _ in it.stored] == ["user", "assistant"]


async def test_a_first_prompt_that_does_not_fit_leaves_an_empty_chat() -> None:
    client = FakeClient([[failure(ErrorCode.PROMPT_TOO_LARGE, "9,120 tokens, the context holds 8,192.")]])
    async with chat(client) as it:
        await it.send("too long")
        await it.until(lambda: it.idle and it.composer.text == "too long")
        await it.sees("fast answers from a model on your own machine")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (ErrorCode.NO_SUCH_FILE, "There is no file /m/x.gguf. Choose another model; your chats are kept."),
        (ErrorCode.NOT_GGUF, "/m/x.gguf is not a GGUF file."),
        (ErrorCode.TRUNCATED_GGUF, "/m/x.gguf is cut off: 12 of 98 MB are there."),
    ],
)
async def test_a_model_that_cannot_be_loaded_is_said_and_typing_is_kept(code: ErrorCode, words: str) -> None:
    loads = [[Loading(id=0, what="target", fraction=0.0), Wait("fail"), failure(code, words)], [failure(code, words)]]
    client = FakeClient(loads=loads)
    async with chat(client, loaded=False) as it:
        await it.pilot.press(*"typing")
        client.go("fail")
        await it.sees(words, "no model loaded")
        assert it.composer.text == "typing"
        await it.pilot.press("enter")
        await it.until(lambda: it.idle and len(it.answers) == 1)
        await it.sees("typing", words)
        assert it.stored == [("user", "complete", "typing"), ("assistant", "failed", "")]


async def test_without_a_model_everything_but_answers_works() -> None:
    client = FakeClient([[failure(ErrorCode.NO_MODEL, "No model is chosen. Choose one and send again.")]], pair=pair())
    async with chat(client, load=None) as it:
        await it.sees("no model loaded", "No model is chosen yet; typing and reading work.")
        await it.send("hello")
        await it.until(lambda: it.idle and it.answers)
        await it.sees("hello")
        assert it.shown.count("ctrl+l shows those that are here") == 2, "under the answer and in the notice"
        await it.pilot.press("ctrl+n")
        await it.sees("fast answers from a model", "ctrl+l shows those that are here")
        assert "Under each answer" not in it.shown


async def test_a_load_that_works_the_second_time() -> None:
    loads = [[failure(ErrorCode.LOAD_FAILED, "Not enough memory.")], [Loaded(id=0, pair=pair())]]
    client = FakeClient([answer("Now.")], loads=loads)
    async with chat(client) as it:
        await it.sees("Not enough memory.")
        await it.ask("try")
        await it.sees("Now.", "SmolLM2-135M Q4_1 + lookup · CPU · untested")


async def test_not_saved_is_said_and_the_chat_goes_on(tmp_path) -> None:  # type: ignore[no-untyped-def]
    told: list[str] = []
    folder = tmp_path / "file"
    folder.write_text("a file where a folder should be")
    store = open_chats(folder / "chats.sqlite", lambda notice: told.append(notice.text))
    async with chat(FakeClient([answer("Hello.")]), store=store) as it:
        await it.until(lambda: it.notice)
        assert it.notice == store.trouble
        assert it.notice.startswith("not saved")
        await it.ask("hi")
        await it.sees("Hello.")
        assert it.notice == ""
        assert "not saved" in it.lines[0], "the sign stays while it is true"
        folder.unlink()
        await it.ask("again")
        await it.until(lambda: "not saved" not in it.lines[0])


async def test_an_engine_that_raises_costs_the_answer_and_not_the_app() -> None:
    class Broken(FakeClient):
        async def generate(self, settings):  # type: ignore[no-untyped-def, override]
            yield reads(1, 1)
            raise ZeroDivisionError("inside")

    async with chat(Broken()) as it:
        await it.send("hi")
        await it.until(lambda: it.idle and len(it.answers) == 1)
        await it.sees("Something went wrong inside Slipstream (ZeroDivisionError). What arrived so far is kept;")


async def test_complaints_about_settings_are_shown_at_start() -> None:
    async with chat(complaints=["settings.toml: there is no setting 'them'; it is ignored"]) as it:
        await it.sees("settings.toml: there is no setting 'them'; it is ignored")


async def test_a_terminal_that_is_too_small_is_refused_in_words_and_heals() -> None:
    async with chat(FakeClient([answer("Here.")]), size=(80, 24)) as it:
        await it.ask("hi")
        await it.pilot.resize_terminal(40, 10)
        await it.sees("This terminal has 40 x 10 cells;")
        assert "Here." not in it.shown
        await it.pilot.resize_terminal(80, 24)
        await it.sees("Here.")
        assert "This terminal has" not in it.shown


async def test_the_hint_of_the_start_is_what_a_message_without_a_model_gets() -> None:
    client = FakeClient([[failure(ErrorCode.NO_MODEL, "No model is chosen.")]], pair=pair())
    hint = "The starter is not on this machine yet: pip install slipstream-starter"
    async with chat(client, load=None, complaints=[hint], no_model=hint) as it:
        await it.sees(hint)
        await it.send("hello")
        await it.until(lambda: it.idle and it.answers)
        assert it.shown.count(hint) == 2
        assert it.stored[-1] == ("assistant", "failed", "")


async def test_a_refused_draft_is_said_once_when_the_pair_is_there() -> None:
    loads = [[Loaded(id=0, pair=pair(refused="vocabulary differs"))]]
    words = "draft refused: vocabulary differs; lookup is used"
    proof = receipt(refused="vocabulary differs", notes=(words,))
    async with chat(FakeClient([answer("ok", proof=proof)], loads=loads), complaints=["a complaint"]) as it:
        await it.sees("a complaint", words)
        assert it.shown.count("draft refused") == 1
        await it.ask("go")
        assert it.notice == ""
        assert it.shown.count("draft refused") == 1, "one line under the answer"


async def test_a_draft_that_was_refused_before_the_engine_is_said_once() -> None:
    reason = "no model is named nosuch"
    load = LOAD.model_copy(update={"draft_refused": reason})
    notice = "The draft nosuch is not there; lookup proposes instead."
    client = FakeClient(loads=[[Loaded(id=0, pair=pair(refused=reason))]])
    async with chat(client, load=load, complaints=[notice]) as it:
        await it.sees(notice, "+ lookup")
        assert "draft refused" not in it.shown


async def test_what_stands_under_the_last_answer_is_not_said_again_at_the_next_start(tmp_path: Path) -> None:
    words = "draft refused: vocabulary differs; lookup is used"
    proof = receipt(refused="vocabulary differs", notes=(words,))
    for said in (words, ""):
        store = open_chats(tmp_path / "chats.sqlite", lambda notice: None)
        client = FakeClient(
            [answer("ok", proof=proof)], loads=[[Loaded(id=0, pair=pair(refused="vocabulary differs"))]]
        )
        async with chat(client, store=store) as it:
            await it.sees(words, "+ lookup")
            assert it.notice == said
            assert it.shown.count("draft refused") == 1
            if said:
                await it.ask("go")
        store.close()


async def test_a_model_that_failed_promises_no_figures() -> None:
    async with chat(FakeClient(loads=[[failure(ErrorCode.LOAD_FAILED, "Not enough memory.")]])) as it:
        await it.sees("could not be loaded", "Not enough memory.")
        assert "Under each answer" not in it.shown
    async with chat() as it:
        await it.sees("Under each answer: its speed")
