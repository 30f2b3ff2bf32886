"""Which key does what: the keys of app/tui/keys.py, and what ``[keys]`` of settings.toml says otherwise.

Textual has keymaps of its own (``App.set_keymap``), but in 8.2.8 those take a key away from every action that shares
it, and lose how a key is shown. So the bindings of each widget are replaced once, when it comes to the screen.

There is one keyboard, so there is one map in use (:func:`use`), and sentences ask :func:`key_of`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from textual.binding import Binding, BindingsMap

from app.clean import clean_line
from app.tui import keys as defaults
from app.tui.key_names import WrongKeyError, edits, shown, textual_name, writes

ONE_PLACE: Final = {"composer": "chat", "transcript": "chat"}
"""Places whose keys work at the same time."""
EVERYWHERE: Final = "app"
WRITTEN_IN: Final = frozenset({"app", "chat", "search", "name", "value", "filter", "first", "picker", "overflow"})
"""Places in which one writes, or can write on: a letter is a letter there."""
LISTS: Final = frozenset({"picker", "overflow", "choices", "export", "first"})
"""Places with a list that has keys of its own."""
CHOOSES: Final = frozenset("enter up down home end pageup pagedown".split())
COPIES: Final = "ctrl+c"
SHOWN_FOR_BOTH: Final = {
    "turn.previous": "turn.next",
    **{f"{place}.up": f"{place}.down" for place in ("receipt", "help", "compare", "score", "replay")},
}
"""Keys that are shown for themselves and for another one: ``←→``."""


_IN_SENTENCE: Final = re.compile(r"\{([a-z]+\.[a-z_0-9]+)\}")


@cache
def bindings() -> Mapping[str, Binding]:
    """Every binding by its id, in the order of app/tui/keys.py."""
    groups = [value for value in vars(defaults).values() if isinstance(value, tuple)]
    found = [binding for group in groups for binding in group if isinstance(binding, Binding) and binding.id]
    return {str(binding.id): binding for binding in found}


def place_of(identifier: str) -> str:
    """Where a key works: ``chat`` for ``composer.send``."""
    place = identifier.split(".", 1)[0]
    return ONE_PLACE.get(place, place)


def _default_keys(identifier: str) -> tuple[str, ...]:
    return tuple(bindings()[identifier].key.split(","))


class KeyMap:
    """The keys that are otherwise than by default."""

    def __init__(self, changed: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self.changed: Mapping[str, tuple[str, ...]] = dict(changed or {})

    def keys(self, identifier: str) -> tuple[str, ...]:
        """The keys of an action, in Textual's names."""
        return self.changed.get(identifier) or _default_keys(identifier)

    def shown(self, identifier: str) -> str:
        """The first of them as it is written in the footer: ``esc``; empty for an id that there is not."""
        binding = bindings().get(identifier)
        if binding is None:
            return ""
        both = SHOWN_FOR_BOTH.get(identifier)
        if identifier in self.changed or both in self.changed or not binding.key_display:
            return shown(self.keys(identifier)[0])
        return binding.key_display

    def all_shown(self, identifier: str) -> str:
        """All of them: ``ctrl+j, alt+enter``."""
        return ", ".join(map(shown, self.keys(identifier)))

    def applied(self, before: BindingsMap) -> BindingsMap:
        """The bindings of one widget with these keys. What its class brings along under a key that a person wants for
        something else in the same place gives way."""
        own = {binding.id for _, binding in before if binding.id}
        if not self.changed or not own:
            return before
        places = {EVERYWHERE, *(place_of(identifier) for identifier in own)}
        wanted = {key for name, keys in self.changed.items() if place_of(name) in places for key in keys}
        after: dict[str, list[Binding]] = {}
        for key, binding in before:
            if binding.id in self.changed or SHOWN_FOR_BOTH.get(binding.id or "") in self.changed:
                for new in self.keys(str(binding.id)):
                    same = after.setdefault(new, [])
                    if all(other.id != binding.id for other in same):
                        same.append(binding.with_key(new, self.shown(str(binding.id))))
            elif binding.id or key not in wanted:
                after.setdefault(key, []).append(binding)
        return BindingsMap.from_keys(after)


class ReadKeys(NamedTuple):
    """A map, and one sentence for everything in the table that could not be used."""

    map: KeyMap
    complaints: tuple[str, ...]


def read(table: Mapping[str, Any]) -> ReadKeys:
    """The ``[keys]`` table: ``"chat.compare" = "f5"``, several keys with commas between them. Whatever is wrong keeps
    its default."""
    wanted: dict[str, tuple[str, ...]] = {}
    complaints: list[str] = []
    for identifier, value in _flat(table):
        try:
            wanted[identifier] = _read_one(identifier, value)
        except WrongKeyError as error:
            complaints.append(f"settings.toml, [keys]: {error}")
    while clash := _first_clash(wanted):
        complaints.append(_clash_words(*clash, wanted))
        for identifier in clash[:2]:
            wanted.pop(identifier, None)
    same = {name for name, keys in wanted.items() if keys == _default_keys(name)}
    return ReadKeys(KeyMap({name: keys for name, keys in wanted.items() if name not in same}), tuple(complaints))


def _read_one(identifier: str, value: object) -> tuple[str, ...]:
    name = clean_line(identifier, 60)
    if identifier not in bindings():
        raise WrongKeyError(f"nothing that a key can do is called {name!r}{_near(identifier)}; it is ignored.")
    stays = f"it stays {KeyMap().all_shown(identifier)}."
    if not isinstance(value, str):
        raise WrongKeyError(f'{name} = {clean_line(repr(value), 40)} should be a text such as "f5"; {stays}')
    keys: list[str] = []
    for written in _split(value):
        try:
            key = textual_name(clean_line(written, 40))
        except WrongKeyError as error:
            raise WrongKeyError(f"{name}: {error}; {stays}") from error
        if place_of(identifier) in WRITTEN_IN and writes(key):
            raise WrongKeyError(f"{name}: {shown(key)} alone is a character of a message; {stays}")
        if needed := _needed_for(identifier, key):
            raise WrongKeyError(f"{name}: {shown(key)} is needed for {needed}; {stays}")
        if key not in keys:
            keys.append(key)
    return tuple(keys)


def _needed_for(identifier: str, key: str) -> str:
    """What could not be done any more if ``key`` did something else in that place; empty when it is free."""
    if key in _default_keys(identifier):
        return ""
    place = place_of(identifier)
    if key == COPIES and place != "chat":  # there it has an id, and clashes by that
        return "copying"
    if place in LISTS and key in CHOOSES:
        return "choosing from the list"
    return "writing" if place in WRITTEN_IN and edits(key) else ""


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, object]]:
    """Ids and values; TOML takes the dot in ``chat.compare = "f5"``, written without quotes, for a table."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _split(value: str) -> list[str]:
    """At the commas; a comma that stands alone is the key."""
    return ["comma"] if value.strip() == "," else value.split(",")


def _first_clash(wanted: Mapping[str, tuple[str, ...]]) -> tuple[str, str, str] | None:
    """Two actions of one place on one key, because of what is ``wanted``, and the key. Actions that share a key by
    default are never possible at the same time, so they may share any."""
    for name, keys in wanted.items():
        for other in bindings():
            if other == name or not _meet(name, other) or {*_default_keys(name)} & {*_default_keys(other)}:
                continue
            if both := {*keys} & {*(wanted.get(other) or _default_keys(other))}:
                return name, other, min(both)
    return None


def _meet(one: str, other: str) -> bool:
    places = {place_of(one), place_of(other)}
    return len(places) == 1 or EVERYWHERE in places


def _clash_words(one: str, other: str, key: str, wanted: Mapping[str, tuple[str, ...]]) -> str:
    first = f"settings.toml, [keys]: {shown(key)} cannot be both {one} and {other}"
    if other in wanted:
        return f"{first}; they stay {KeyMap().all_shown(one)} and {KeyMap().all_shown(other)}."
    return f"{first}; {one} stays {KeyMap().all_shown(one)}."


def _near(identifier: str) -> str:
    from difflib import get_close_matches  # only for a file with a mistake in it

    close = get_close_matches(identifier, bindings(), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


# ------------------------------------------------------------------------------------------------ the map in use

_in_use = KeyMap()


def use(found: KeyMap) -> None:
    """From now on the keys are these."""
    global _in_use
    _in_use = found


def in_use() -> KeyMap:
    """The map that the app was started with."""
    return _in_use


def key_of(identifier: str) -> str:
    """What is pressed for an action, for a sentence: ``key_of("chat.models")`` is ``ctrl+l``."""
    return _in_use.shown(identifier)


def keys_of(identifier: str) -> tuple[str, ...]:
    """The keys of an action in Textual's names, for those that look at keys themselves."""
    return _in_use.keys(identifier)


def with_keys(sentence: str) -> str:
    """``{chat.stop} stops it`` with the key's name in the place of its id. For sentences of our own only."""
    return _IN_SENTENCE.sub(lambda match: key_of(match[1]), sentence)


def shown_for(identifiers: Iterable[str]) -> str:
    """What is pressed one after the other: ``alt+↑ r``."""
    return " ".join(
        shown(keys_of(identifier)[0]) if identifier in SHOWN_FOR_BOTH else key_of(identifier)
        for identifier in identifiers
    )
