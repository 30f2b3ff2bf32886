"""Keys that come faster than they are handled: each does what it does where it was typed."""

from __future__ import annotations

import pytest
from textual import events
from textual.keys import key_to_character

from tests.app.tui.fake_client import FakeClient, answer
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
