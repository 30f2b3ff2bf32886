"""Which key does what: names of keys, the [keys] table, and what is wrong in it."""

from __future__ import annotations

from collections import Counter

import pytest
from textual.binding import BindingsMap

from app.tui import keymap, keys
from app.tui.key_names import WrongKeyError, edits, shown, textual_name, writes
from app.tui.key_words import PLACES, WORDS
from app.tui.keymap import KeyMap, bindings, read


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("f5", "f5"),
        (" Ctrl+T ", "ctrl+t"),
        ("control+shift+left", "ctrl+shift+left"),
        ("shift+ctrl+left", "ctrl+shift+left"),
        ("esc", "escape"),
        ("Return", "enter"),
        ("PgUp", "pageup"),
        ("↑", "up"),
        ("/", "slash"),
        ("?", "question_mark"),
        ("question_mark", "question_mark"),
        ("+", "plus"),
        ("ctrl++", "ctrl+plus"),
        ("R", "R"),
        ("shift+r", "R"),
        ("cmd+c", "super+c"),
        ("alt+enter", "alt+enter"),
    ],
)
def test_keys_have_textuals_names(written: str, name: str) -> None:
    assert textual_name(written) == name


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("", "an empty text names no key"),
        ("banana", 'there is no key "banana"'),
        ("dragon", 'there is no key "dragon"'),
        ("f25", 'there is no key "f25"'),
        ("turbo+t", 'there is no key "turbo+t"'),
        ("ctrl+", 'there is no key "ctrl+"'),
        ("ctrl+i", 'a terminal sends the same for "ctrl+i" as for tab'),
        ("ctrl+m", 'a terminal sends the same for "ctrl+m" as for enter'),
        ("ctrl+[", 'a terminal sends the same for "ctrl+[" as for esc'),
    ],
)
def test_what_is_no_key_is_named(written: str, words: str) -> None:
    with pytest.raises(WrongKeyError, match="^" + words.replace("+", r"\+").replace("[", r"\[")):
        textual_name(written)


def test_keys_are_shown_in_short() -> None:
    names = ("escape", "slash", "delete", "up", "ctrl+up", "f5", "question_mark", "pageup", "R", "ctrl+t")
    assert [shown(name) for name in names] == ["esc", "/", "del", "↑", "ctrl+↑", "f5", "?", "page up", "R", "ctrl+t"]


def test_what_is_needed_for_writing() -> None:
    assert all(map(writes, ("r", "R", "space", "slash", "shift+space")))
    assert not any(map(writes, ("f5", "enter", "ctrl+r", "tab", "alt+r")))
    assert edits("backspace")
    assert not edits("pageup")


def test_every_key_has_an_id_of_its_own_and_a_place_with_a_title() -> None:
    groups = [value for value in vars(keys).values() if isinstance(value, tuple)]
    ids = Counter(binding.id for group in groups for binding in group)
    assert None not in ids
    assert [name for name, count in ids.items() if count > 1] == []
    assert {str(name).split(".")[0] for name in ids} <= {*PLACES}, "give the place a title in app/tui/key_words.py"
    assert {*WORDS} <= {*ids}, "words for keys that there are not"


def test_nothing_said_means_the_defaults() -> None:
    found = read({})
    assert found.complaints == ()
    assert found.map.changed == {}
    assert found.map.keys("composer.line") == ("ctrl+j", "alt+enter", "shift+enter")
    assert found.map.shown("chat.stop") == "esc"
    assert found.map.all_shown("composer.line") == "ctrl+j, alt+enter, shift+enter"
    assert found.map.shown("no.such") == ""


def test_keys_are_given() -> None:
    found = read({"chat.compare": "F5", "turn.again": "a, A", "chats": {"new": "+"}, "chat.models": "ctrl+l"})
    assert found.complaints == ()
    assert found.map.changed == {"chat.compare": ("f5",), "turn.again": ("a", "A"), "chats.new": ("plus",)}
    assert found.map.shown("turn.again") == "a"
    assert found.map.all_shown("chats.new") == "+"


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        (
            "chat.compar",
            "f5",
            "nothing that a key can do is called 'chat.compar' (did you mean 'chat.compare'?); it is ignored.",
        ),
        ("chat.compare", 5, 'chat.compare = 5 should be a text such as "f5"; it stays ctrl+r.'),
        ("chat.compare", "banana", 'chat.compare: there is no key "banana"; it stays ctrl+r.'),
        ("chat.compare", "f5,", "chat.compare: an empty text names no key; it stays ctrl+r."),
        ("chat.compare", "x", "chat.compare: x alone is a character of a message; it stays ctrl+r."),
        ("app.quit", "q", "app.quit: q alone is a character of a message; it stays ctrl+q."),
        ("chat.models", "up", "chat.models: ↑ is needed for writing; it stays ctrl+l."),
        ("composer.send", "ctrl+m", 'composer.send: a terminal sends the same for "ctrl+m" as for enter; it stays'),
        ("chat.compare", "ctrl+l", "ctrl+l cannot be both chat.compare and chat.models; chat.compare stays ctrl+r."),
        ("chat.xray", "ctrl+q", "ctrl+q cannot be both chat.xray and app.quit; chat.xray stays f4."),
        ("turn.again", "e", "e cannot be both turn.again and turn.edit; turn.again stays r."),
        ("models.draft", "f1", "f1 cannot be both models.draft and app.help; models.draft stays d."),
        ("overflow.close", "enter", "overflow.close: enter is needed for choosing from the list; it stays esc."),
        ("overflow.close", "o", "overflow.close: o alone is a character of a message; it stays esc."),
        ("picker.close", "down", "picker.close: ↓ is needed for choosing from the list; it stays esc, ctrl+t."),
        ("export.close", "enter", "export.close: enter is needed for choosing from the list; it stays esc, e."),
        ("value.submit", "x", "value.submit: x alone is a character of a message; it stays enter."),
        ("value.close", "left", "value.close: ← is needed for writing; it stays esc."),
        ("receipt.close", "ctrl+c", "receipt.close: ctrl+c is needed for copying; it stays esc, i, q."),
        ("composer.line", "enter", "enter cannot be both composer.line and composer.send; composer.line stays ctrl+j"),
    ],
)
def test_what_cannot_be_is_named_and_stays(name: str, value: object, sentence: str) -> None:
    found = read({name: value, "receipt.copy": "y"})
    assert found.map.changed == {"receipt.copy": ("y",)}
    assert len(found.complaints) == 1
    assert found.complaints[0].startswith(f"settings.toml, [keys]: {sentence}")


def test_two_that_were_given_the_same_key_both_stay() -> None:
    found = read({"chat.compare": "f5", "chat.models": "f5", "chat.chats": "f6"})
    assert found.map.changed == {"chat.chats": ("f6",)}
    assert found.complaints == (
        "settings.toml, [keys]: f5 cannot be both chat.compare and chat.models; they stay ctrl+r and ctrl+l.",
    )


def test_what_stays_may_take_another_ones_new_key_back() -> None:
    """chat.models gets ctrl+r, which chat.compare leaves; but chat.compare has to stay."""
    found = read({"chat.models": "ctrl+r", "chat.compare": "banana"})
    assert found.map.changed == {}
    assert len(found.complaints) == 2


def test_keys_can_be_swapped_and_shared_by_those_that_share_one_anyway() -> None:
    found = read({"chat.models": "ctrl+o", "chat.chats": "ctrl+l", "chats.pin": "f2", "chats.unpin": "f2"})
    assert found.complaints == ()
    assert found.map.keys("chats.pin") == found.map.keys("chats.unpin") == ("f2",)
    assert read({"composer.send": "ctrl+enter, alt+enter", "composer.line": "enter"}).complaints == ()


def test_the_same_key_in_another_place_is_no_clash() -> None:
    assert read({"receipt.copy": "r", "models.draft": "e"}).complaints == ()


def test_bindings_of_a_widget_are_replaced_and_nothing_else_is() -> None:
    before = BindingsMap(keys.MODELS)
    after = read({"models.use": "u"}).map.applied(before)
    assert [binding.id for binding in after.key_to_bindings["u"]] == ["models.use"]
    assert [binding.id for binding in after.key_to_bindings["enter"]] == ["models.continue", "models.get"]
    assert before.key_to_bindings["enter"][0].id == "models.use"
    assert after.key_to_bindings["u"][0].key_display == "u"
    assert KeyMap().applied(before) is before


def test_what_a_class_brings_along_gives_way_to_a_wish_in_the_same_place() -> None:
    own = BindingsMap(keys.COMPOSER)
    own.bind("ctrl+a", "cursor_line_start")
    assert "ctrl+a" not in read({"chat.models": "ctrl+a"}).map.applied(own).key_to_bindings
    assert "ctrl+a" in read({"receipt.copy": "ctrl+a"}).map.applied(own).key_to_bindings


def test_a_pair_of_keys_is_shown_apart_where_one_of_them_is_another() -> None:
    assert KeyMap().shown("turn.previous") == "←→"
    found = read({"turn.next": "n"}).map
    assert (found.shown("turn.previous"), found.shown("turn.next")) == ("←", "n")


def test_sentences_name_the_keys_in_use() -> None:
    try:
        keymap.use(read({"chat.stop": "f9"}).map)
        assert keymap.with_keys("{chat.stop} stops it, {x}") == "f9 stops it, {x}"
        assert keymap.shown_for(("chat.select_up", "turn.previous")) == "alt+↑ ←"
    finally:
        keymap.use(KeyMap())
    assert keymap.key_of("chat.stop") == "esc"


def test_all_ids_stand_in_the_documentation() -> None:
    from pathlib import Path

    text = (Path(__file__).parents[2] / "docs" / "keys.md").read_text(encoding="utf-8")
    assert [name for name in bindings() if f"`{name}`" not in text] == [], "run scripts/keys_page.py"
