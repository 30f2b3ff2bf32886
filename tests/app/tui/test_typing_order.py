"""Keys that come faster than they are handled: each does what it does where it was typed."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events
from textual.keys import key_to_character

from engine.protocol import Loaded, Loading
from tests.app.tui.fake_client import FakeClient, Wait, answer, ends, pair, says
from tests.app.tui.harness import Chat, chat

NAMED = {"⌫": "backspace", "⌦": "delete", "←": "left", "→": "right", "⇱": "home", "⇲": "end", "⏎": "ctrl+j"}
CONTROLS = {"backspace": "\x7f", "ctrl+j": "\n", "ctrl+w": "\x17", "ctrl+u": "\x15", "ctrl+k": "\x0b"}


def key(name: str) -> events.Key:
    if len(name) == 1 and name not in NAMED:
        return events.Key({" ": "space"}.get(name, name), name)
    name = NAMED.get(name, name)
    return events.Key(name, CONTROLS.get(name) or key_to_character(name))


def press_at_once(it: Chat, *names: str) -> None:
    """All of them are there before the first one is handled. A name of several letters is a key."""
    for name in names:
        it.app.post_message(key(name))


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ("hellp⌫o", "hello"),
        ("world⇱hello ⇲!", "hello world!"),
        ("ac←b→d", "abcd"),
        ("one⏎two⇱2: ", "one\n2: two"),
        ("xab⇱⌦c", "cab"),
        ("a⏎⌫b⌫c⌫⌫d", "d"),
    ],
)
async def test_moving_and_deleting_happens_where_it_was_typed(keys: str, text: str) -> None:
    async with chat() as it:
        press_at_once(it, *keys)
        await it.until(lambda: it.composer.text == text, text)
        await it.settle()
        assert it.composer.text == text


async def test_so_does_every_longer_motion() -> None:
    async with chat() as it:
        press_at_once(it, *"one two", "ctrl+w", *"three", "ctrl+left", *"and ", "end", *" four", "ctrl+u", *"new")
        await it.until(lambda: it.composer.text == "new")
        press_at_once(it, *" text", "home", "shift+end", "x", *"yz", "left", "ctrl+k", *"!", "ctrl+a", *"?")
        await it.until(lambda: it.composer.text == "?xy!")


async def test_a_hundred_keys_at_once_are_a_hundred_keys_in_order() -> None:
    async with chat() as it:
        press_at_once(it, *(name for n in range(100) for name in (*f"{n} ", "x", "backspace")))
        await it.until(lambda: it.composer.text == "".join(f"{n} " for n in range(100)))


async def test_a_key_that_was_given_to_another_action_does_that() -> None:
    client = FakeClient([answer("ok")])
    async with chat(client, keys={"composer.send": "ctrl+g", "composer.line": "enter"}) as it:
        press_at_once(it, *"one", "enter", *"two", "backspace")
        await it.until(lambda: it.composer.text == "one\ntw")
        await it.pilot.press("ctrl+g")
        await it.until(lambda: it.questions == ["one\ntw"])


async def test_end_at_the_end_of_the_text_shows_the_end_of_the_chat() -> None:
    async with chat(FakeClient([answer("\n\n".join(f"paragraph {n}" for n in range(60)))])) as it:
        await it.ask("long")
        await it.pilot.press("ctrl+home")
        await it.until(lambda: not it.transcript.following)
        await it.pilot.press("a", "home", "end")
        await it.settle()
        assert not it.transcript.following, "the first one is for the text"
        await it.pilot.press("end")
        await it.until(lambda: it.transcript.following)


# ------------------------------------------------------------------------------------------------ behind an enter


def at_once(it: Chat, text: str, behind: str = "next") -> None:
    """Type ``text``, and then enter and ``behind`` before enter is handled."""
    it.composer.text = text
    it.composer.move_cursor(it.composer.document.end)
    press_at_once(it, "enter", *behind)


async def test_what_is_typed_behind_enter_stays_in_the_composer() -> None:
    async with chat(FakeClient([answer("ok")] * 2)) as it:
        press_at_once(it, *"Message 1", "enter", *"next")
        await it.until(lambda: it.answers and it.idle and it.composer.text == "next")
        press_at_once(it, " ", "o", "n", "e", "enter", *"more", "backspace")
        await it.until(lambda: len(it.answers) == 2 and it.idle and it.composer.text == "mor")
        assert it.questions == ["Message 1", "next one"]
        assert [text for role, _, text in it.stored if role == "user"] == ["Message 1", "next one"]


async def test_so_does_what_is_pasted_there() -> None:
    async with chat(FakeClient([answer("ok")])) as it:
        press_at_once(it, *"one", "enter")
        it.app.post_message(events.Paste("pasted"))
        press_at_once(it, "!")
        await it.until(lambda: it.answers and it.idle and it.composer.text == "pasted!")
        assert it.questions == ["one"]


async def test_a_command_is_what_stood_there_at_enter() -> None:
    async with chat() as it:
        press_at_once(it, *"/temp 0.3", "enter", *"next")
        await it.until(lambda: it.screen.settings_now().sampling.temperature == 0.3 and it.composer.text == "next")
        at_once(it, "/system Be brief.")
        await it.until(lambda: it.composer.text == "next" and it.screen.settings().messages)
        assert it.screen.settings().messages[0].content == "Be brief."


async def test_a_command_that_is_refused_comes_back_above_it() -> None:
    async with chat() as it:
        at_once(it, "/nosuch")
        await it.until(lambda: it.composer.text == "/nosuch\nnext")


async def test_a_slow_command_does_not_hold_the_keys() -> None:
    async with chat() as it:
        at_once(it, "/context 16000000000")
        await it.until(lambda: it.composer.text == "/context 16000000000\nnext")


async def test_an_edited_message_goes_out_as_it_was_at_enter() -> None:
    async with chat(FakeClient([answer("One."), answer("Two.")])) as it:
        await it.ask("first")
        await it.pilot.press("alt+up", "up", "e")
        await it.until(lambda: it.composer.text == "first")
        press_at_once(it, "!", "enter", *"next")
        await it.until(lambda: it.questions == ["first!"] and it.idle and it.composer.text == "next")


async def test_two_messages_at_once_and_what_is_behind_them() -> None:
    """The second one is refused while the first is answered: it waits, and what is behind it has a line of its own."""
    client = FakeClient([[*says("Slow"), Wait("end"), ends("Slow")]])
    async with chat(client) as it:
        press_at_once(it, *"one", "enter", *"two", "enter", *"next")
        await it.until(lambda: it.composer.text == "two\nnext")
        assert it.questions == ["one"]
        client.go("end")
        await it.until(lambda: it.idle)


async def test_attached_files_do_not_hold_the_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("bread\n")
    (tmp_path / "cat.png").write_bytes(b"\x89PNG\0")
    client = FakeClient([answer("ok")])
    async with chat(client) as it:
        at_once(it, "sum up @notes.txt please")
        await it.until(lambda: it.answers and it.idle and it.composer.text == "next")
        assert client.asked[0].messages[-1].content == "sum up @notes.txt please\n\nnotes.txt\n```\nbread\n```"
        at_once(it, "and @cat.png please", "more")
        await it.until(lambda: "Nothing was sent" in it.notice)
        await it.until(lambda: it.composer.text == "and @cat.png please\nmore")


@pytest.mark.parametrize("message", ["tell me", "sum up @notes.txt please"])
async def test_esc_behind_enter_stops_what_was_sent(
    message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("bread\n")
    loads = [[Loading(id=0, what="target", fraction=0.4), Wait("loaded"), Loaded(id=0, pair=pair())]]
    client = FakeClient([answer("Later.")], loads=loads)
    async with chat(client, loaded=False) as it:
        it.composer.text = message
        press_at_once(it, "enter", "escape", *"next")
        await it.sees("stopped before the answer began")
        client.go("loaded")
        await it.until(lambda: it.screen.answering.state.pair is not None and it.composer.text == "next")
        assert client.asked == [], "no answer appears later by itself"


async def test_esc_behind_enter_on_nothing_is_just_esc() -> None:
    async with chat() as it:
        press_at_once(it, "enter", "escape", *"next")
        await it.until(lambda: it.composer.text == "next")


async def test_enter_on_nothing_holds_nothing() -> None:
    async with chat() as it:
        press_at_once(it, "enter", "enter", *"next")
        await it.until(lambda: it.composer.text == "next")


async def test_a_screen_that_never_decides_holds_the_keys_for_a_while_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.tui.on_its_way.PATIENCE_SECONDS", 0.0)
    async with chat() as it:
        it.composer.hold()
        press_at_once(it, *"next")
        await it.until(lambda: it.composer.text == "next")
