"""The commands in lines: the same deeds by the same code as on the screen, and one sentence for each that is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.chats.store import ChatStore, open_chats
from app.last_choice import Memory
from app.plain import chat, turns
from app.tui import commands
from app.tui.clipboard import Tool
from engine.protocol import GenerateSettings, Sampling
from tests.app.plain.harness import talk
from tests.app.tui.fake_client import FakeClient, answer, ends, reads, receipt, says, stats
from tests.app.tui.fake_shelf import DRAFT_PATH, MISTRAL_PATH, FakeShelf
from tests.app.tui.stored_chats import fill


@pytest.fixture
def store(tmp_path: Path) -> ChatStore:
    return open_chats(tmp_path / "chats.sqlite", lambda notice: None)


async def test_help_lists_every_command_of_this_chat() -> None:
    async with talk() as it:
        said = await it.types("/help")
        known = [command for command in commands.registry().values() if command.where in ("both", "lines")]
        assert len(known) > 25
        for command in known:
            assert f"/{command.name}{' ' * bool(command.words)}{command.words}: {command.help}\n" in said
        assert "Ctrl+C stops an answer" in said
        assert "ctrl+p" not in said


async def test_what_only_a_screen_can_do_is_answered_in_a_sentence() -> None:
    async with talk() as it:
        for command in commands.registry().values():
            if command.where == "screen":
                said = await it.types(f"/{command.name}")
                assert said == f"/{command.name} is not for this kind of chat. {command.instead}\n"
                assert command.instead, command.name


async def test_an_unknown_word_is_no_message() -> None:
    async with talk() as it:
        said = await it.types("/regenrate")
        assert said == (
            "There is no /regenrate. /help shows all. A message that begins with a slash: type a space or // first.\n"
        )
        assert it.client.asked == []
        await it.types("//regenrate")
        assert it.client.asked[0].messages[-1].content == "/regenrate"


async def test_settings_hold_for_this_chat() -> None:
    async with talk(defaults=GenerateSettings(messages=(), sampling=Sampling(temperature=0.7))) as it:
        assert await it.types("/temp 0.2") == "temp 0.7 → 0.2, in this chat.\n"
        assert await it.types("/seed 7") == "seed random → 7, in this chat.\n"
        assert await it.types("/temp hot") == "/temp takes 0 to 10, not hot. It stays 0.2.\n"
        assert await it.types("/system Be brief.") == 'System prompt none → "Be brief.", in this chat.\n'
        assert await it.types("/spec off") == "speculation auto → off, in this chat.\n"
        assert "draft (not now: no draft model chosen)" in await it.types("/spec")
        await it.types("hello")
        asked = it.client.asked[0]
        assert (asked.sampling.temperature, asked.seed, asked.speculation) == (0.2, 7, "off")
        assert [message.content for message in asked.messages] == ["Be brief.", "hello"]


async def test_another_answer_stays_beside_the_first_one() -> None:
    async with talk(FakeClient(scripts=[answer("One."), answer("Two.")])) as it:
        assert await it.types("/regenerate") == "Nothing has been answered yet.\n"
        await it.types("hello")
        assert await it.types("/next") == turns.ONE_VARIANT + "\n"
        assert (await it.types("/regenerate")).startswith("SmolLM2-135M> Two.\n")
        assert (await it.types("/previous")).startswith("SmolLM2-135M (variant 1 of 2)> One.\nReceipt: ")
        assert it.stored[1][2] == "One."
        assert await it.types("/previous") == "This is the first of 2 variants.\n"
        assert (await it.types("/next")).startswith("SmolLM2-135M (variant 2 of 2)> Two.\n")


async def test_a_message_is_edited_at_the_prompt() -> None:
    async with talk(FakeClient(scripts=[answer("One."), answer("Two.")])) as it:
        assert await it.types("/edit") == turns.NOTHING_SAID + "\n"
        await it.types("//first")
        assert await it.types("/edit") == chat.SEND_OTHERWISE + "\n"
        assert it.chat.prefilled == "//first"
        assert await it.types("") == "The message stays as it was.\n"
        await it.types("/edit")
        assert (await it.types("second")).startswith("SmolLM2-135M> Two.\n")
        assert [text for _, _, text in it.stored] == ["second", "Two."]
        assert (await it.types("/previous")).startswith("you (variant 1 of 2)> /first\nSmolLM2-135M> One.\nReceipt: ")
        assert [text for _, _, text in it.stored] == ["/first", "One."]


async def test_what_is_complete_does_not_go_on() -> None:
    async with talk() as it:
        await it.types("hello")
        assert await it.types("/continue") == (
            "This answer is complete: there is nothing to go on with. /regenerate asks for another one.\n"
        )
    cut = FakeClient(scripts=[[reads(3, 3), *says("One"), ends("One", reason="length")], answer(" two.")])
    async with talk(cut) as it:
        assert "Cut off: the end of the context was reached. /continue goes on.\n" in await it.types("x")
        assert "\nended: stopped at the limit: the end of the context was reached\n" in await it.types("/receipt")
        assert (await it.types("/continue")).startswith("SmolLM2-135M> One two.\n")


async def test_in_lines_it_is_said_which_limit_cut_an_answer() -> None:
    limited = receipt().model_copy(update={"settings": GenerateSettings(messages=(), max_tokens=12)})
    full = receipt(notes=("the context of 256 tokens is full",))
    scripts = [answer("One", reason="length", proof=proof) for proof in (limited, full)]
    async with talk(FakeClient(scripts=scripts)) as it:
        said = await it.types("x")
        assert "\nCut off: the token limit of 12 was reached. /continue goes on.\n" in said
        assert "\nended: stopped at the limit: the token limit of 12 was reached\n" in await it.types("/receipt")
        said = await it.types("x")
        assert "\nCut off: the context of 256 tokens is full. /context makes room, then /continue goes on.\n" in said
        assert said.count("is full") == 1


async def test_the_whole_receipt() -> None:
    async with talk(FakeClient(scripts=[answer("One.", figures=stats(47, prompt_tokens_cached=12))])) as it:
        assert await it.types("/receipt") == turns.NO_RECEIPT + "\n"
        await it.types("hello")
        lines = (await it.types("/receipt")).splitlines()
        for line in (
            "Speed:",
            "tokens per second: 38.7",
            "Tokens:",
            "of it cached: 12, 39 %",
            "Drafts:",
            "acceptance: 64 %",
            "Made by SmolLM2-135M Q4_1 + lookup:",
            "seed: 7",
            "Made with:",
            "slipstream help figures explains every figure.",
        ):
            assert line in lines, line


async def test_chats_are_listed_opened_found_and_named(store: ChatStore) -> None:
    fill(store)
    async with talk(store=store) as it:
        said = await it.types("/chats")
        assert said.startswith("1: Compare B-trees and LSM trees for a chat store, ")
        assert "2: Rivers of Europe, " in said
        assert said.endswith("/open NUMBER goes on with one, /delete NUMBER takes one away.\n")
        assert 'The chat "Rivers of Europe", 4 messages.' in await it.types("/open 2")
        assert "you> And the longest one?\n" in await it.types("/show 2")
        assert (await it.types("/open 99")).startswith("/open takes a number of the list, 1 to ")
        found = await it.types("/find wool")
        assert found.startswith("1: Packing list for Norway, ")
        await it.types("/open 1")
        assert await it.types("/title Packing") == "The title is Packing now.\n"
        assert it.chat.chat.title == "Packing"
        await it.types("/chats")
        assert await it.types("/delete 1") == (
            "Deleted Compare B-trees and LSM trees for a chat store. /undo brings it back; in 30 days it is gone for "
            "good.\n"
        )
        assert "B-trees" not in await it.types("/chats")
        assert await it.types("/undo") == "Compare B-trees and LSM trees for a chat store is back, as it was.\n"
        assert await it.types("/undo") == "No chat was deleted.\n"
        assert await it.types("/find nowhere") == "No chat says nowhere.\n"
        assert await it.types("/new") == "This is a new chat.\n"
        assert await it.types("/show") == "Nothing has been said in this chat yet.\n"
        assert "/new can do nothing now." in await it.types("/new")
    store.close()


async def test_a_chat_is_exported_and_an_answer_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: ChatStore
) -> None:
    monkeypatch.chdir(tmp_path)
    async with talk(FakeClient(scripts=[answer("One.")]), store=store) as it:
        assert "Nothing has been said in this chat yet." in await it.types("/export")
        await it.types("Name a number")
        assert await it.types("/export") == f"Exported to {tmp_path / 'Name-a-number.md'}\n"
        assert await it.types("/export json") == f"Exported to {tmp_path / 'Name-a-number.json'}\n"
        assert json.loads((tmp_path / "Name-a-number.json").read_text())["messages"][1]["content"] == "One."
        assert await it.types("/export pdf") == "/export takes md, json or all, not pdf.\n"
        assert (await it.types("/save")).startswith(f"Saved 4 characters: {tmp_path / 'Name-a-number-'}")
    store.close()


async def test_copying_takes_a_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "local_tool", lambda: None)
    async with talk() as it:
        await it.types("hello")
        assert await it.types("/copy") == turns.NO_TOOL + "\n"
        taken: list[str] = []
        monkeypatch.setattr(turns, "local_tool", lambda: Tool("xclip", ("xclip",)))
        monkeypatch.setattr(turns, "run_tool", lambda tool, text: taken.append(text) or "")
        assert await it.types("/copy") == "Copied 4 characters: xclip.\n"
        assert taken == ["Yes."]


@pytest.mark.parametrize(("text", "words"), [("one", "3 bytes, about 1 token."), ("", "0 bytes, about 0 tokens.")])
async def test_one_token_is_not_called_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text(text)
    async with talk() as it:
        assert await it.types("/attach a.txt") == f"Goes with your next message: a.txt, {words}\n"


async def test_files_go_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("Buy milk.\n")
    (tmp_path / "a b.txt").write_text("Blue.\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    async with talk() as it:
        said = await it.types("What is in @notes.txt?")
        assert said.startswith("Attached: notes.txt, 10 bytes, about 2 tokens.\nSmolLM2-135M> Yes.\n")
        assert it.client.asked[0].messages[-1].content == "What is in @notes.txt?\n\nnotes.txt\n```\nBuy milk.\n```"
        assert await it.types("/attach a b.txt") == "Goes with your next message: a b.txt, 6 bytes, about 2 tokens.\n"
        await it.types("And here?")
        assert it.stored[2][2] == 'And here?\n@"a b.txt"'
        assert it.client.asked[1].messages[-1].content.endswith("a b.txt\n```\nBlue.\n```")
        refused = await it.types("See @picture.png")
        assert refused == (
            "picture.png is a picture; only text files can be attached. Nothing was sent. Without the @ it is only a "
            "name.\n"
        )
        assert it.chat.prefilled == "See @picture.png"
        assert await it.types("/attach nowhere") == "There is no file nowhere.\n"
        assert "Attached: notes.txt\n" in await it.types("/show all")


async def test_another_model_and_a_draft_by_name() -> None:
    async with talk(shelf=FakeShelf()) as it:
        said = await it.types("/models")
        assert said.startswith("smollm2-135m: SmolLM2-135M + lookup, ready, in use\n")
        assert "qwen3-32b" not in said
        said = await it.types("/model mistral", "hello")
        assert said.startswith("mistral-7b-instruct-v0.3 Q4_K_M answers from now on; the chat stays.\n")
        assert it.client.loaded[-1].target.path == MISTRAL_PATH
        said = await it.types("/draft Qwen3-0.6B", "hello")
        assert "proposes from now on" in said
        draft = it.client.loaded[-1].draft
        assert draft is not None
        assert draft.path == DRAFT_PATH
        assert (await it.types("/model nothing")).startswith(
            "No model is called nothing. /models lists those that are here"
        )
        assert it.stored[1][2] == "Yes."


async def test_another_model_and_a_draft_by_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    target, draft = tmp_path / "big-Q4_0.gguf", tmp_path / "small-Q8_0.gguf"
    for file in (target, draft):
        file.write_bytes(b"GGUF")
    async with talk(shelf=FakeShelf()) as it:
        assert "big Q4_0 answers from now on; the chat stays.\n" in await it.types(f"/model {target}", "hello")
        assert "small Q8_0 proposes from now on" in await it.types(f"/draft {draft}", "hello")
        load = it.client.loaded[-1]
        assert (load.target.path, load.draft.path if load.draft else "") == (str(target), str(draft))
        assert await it.types(f"/model {tmp_path}/no.gguf") == f"There is no file {tmp_path}/no.gguf.\n"


async def test_quit() -> None:
    async with talk() as it:
        await it.types("/quit")
        assert it.chat.over


@pytest.mark.parametrize("piped", [False, True])
async def test_the_mode_holds_for_new_chats_unless_it_came_out_of_a_pipe(tmp_path: Path, piped: bool) -> None:
    memory = Memory(tmp_path / "last.json")
    async with talk(memory=memory, piped=piped) as it:
        await it.types("hello", "/spec off")
        where = "in this chat" if piped else "in this chat and in new ones"
        assert f"speculation auto → off, {where}.\n" in (it.beside if piped else it.out)
        assert memory.read().speculation == (None if piped else "off")
        await it.types("/new")
        assert it.chat.mode == ("auto" if piped else "off")


async def test_what_is_no_file_is_sent_as_text_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "a.txt").write_text("x")
    async with talk() as it:
        assert "There is no file nosuch.txt; it is sent as text.\n" in await it.types("Look at @nosuch.txt, please")
        said = await it.types("@src and @gone.md and @a.txt.")
        assert "@src is a folder, there is no file gone.md; they are sent as text.\n" in said
        assert "sent as text" not in await it.types("hello @somebody, see @a.txt.")
        assert it.client.asked[0].messages[-1].content == "Look at @nosuch.txt, please"
        assert await it.types("/attach src") == "src is a folder; name a file in it.\n"
        assert await it.types("/attach gone.md") == "There is no file gone.md.\n"
