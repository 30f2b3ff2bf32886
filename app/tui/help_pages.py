"""What the help screen says: every key by its place, every command, every figure of the line under an answer.

All of it comes from where it is defined (app/tui/keys.py, the registry of commands, ``engine.stats.FIGURES``), with the
keys that the user has given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from app.tui import commands, keymap
from app.tui.key_words import PLACES, WORDS

if TYPE_CHECKING:
    from textual.screen import Screen

BLOCKS: Final = "turn.block_"
"""Nine keys with one meaning, in one row."""
COMMANDS: Final = "commands"
FIGURES: Final = "the line under an answer"


@dataclass(frozen=True, slots=True)
class Row:
    """A key, a command or a figure."""

    what: str
    words: str
    name: str = ""
    """What the key is called in settings.toml, or which key does the same as a command."""

    def matches(self, words: Sequence[str], title: str) -> bool:
        """Whether every one of ``words`` (casefolded) stands somewhere in the row or its title."""
        text = f"{self.what} {self.words} {self.name} {title}".casefold()
        return all(word in text for word in words)


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under a title, and a sentence below them."""

    title: str
    rows: tuple[Row, ...]
    remark: str = ""


def places_here(screen: Screen[Any]) -> tuple[str, ...]:
    """The places whose keys work on ``screen`` now, from the widget with the focus outwards."""
    nodes = screen.focused.ancestors_with_self if screen.focused is not None else [screen]
    found: list[str] = []
    for node in nodes:
        here = {binding.id.split(".", 1)[0] for _, binding in node._bindings if binding.id}
        in_order = [place for place in (*PLACES, *sorted(here - {*PLACES})) if place in here]
        found += [place for place in in_order if place not in (keymap.EVERYWHERE, "transcript")]
    return tuple(dict.fromkeys(found))


def all_keys(first: Iterable[str] = ()) -> list[Section]:
    """The keys by place; those of the places in ``first`` come first."""
    rows: dict[str, list[Row]] = {}
    for identifier, binding in keymap.bindings().items():
        place = identifier.split(".", 1)[0]
        if identifier.startswith(BLOCKS):
            if identifier == f"{BLOCKS}1":
                span = f"{keymap.key_of(identifier)}–{keymap.key_of(f'{BLOCKS}9')}"
                rows.setdefault(place, []).append(Row(span, "copy its code block of this number", f"{BLOCKS}1"))
            continue
        words = WORDS.get(identifier, binding.description)
        rows.setdefault(place, []).append(Row(keymap.in_use().all_shown(identifier), words, identifier))
    order = [place for place in dict.fromkeys([*first, *PLACES, *rows]) if place in rows]
    return [Section(PLACES.get(place, place), tuple(rows[place])) for place in order]


def all_commands() -> Section:
    """Everything that can be typed behind a slash."""
    return Section(
        COMMANDS,
        tuple(
            Row(f"/{command.name} {command.words}".rstrip(), command.help, command.shown_key)
            for command in commands.registry().values()
            if command.where != "lines"
        ),
    )


def figures() -> Section:
    """The parts of the line, each with its one definition."""
    from app.receipt import EXPLAINED  # with pydantic's records: not before it is wanted
    from engine.stats import FIGURES as DEFINED

    return Section(FIGURES, tuple(Row(word, DEFINED[figure]) for word, figure in EXPLAINED))


def how_to_change(file: str) -> Section:
    """How keys are given to other actions; ``file``: the settings."""
    sentence = (
        'A table of settings.toml gives an action other keys: [keys], and below it "chat.compare" = "f5", or '
        '"composer.send" = "ctrl+enter, alt+enter" and "composer.line" = "enter". The names are those at the right on '
        f"a wide screen. The file is {file}"
    )
    return Section("other keys", (), sentence)


def matching(sections: Sequence[Section], typed: str) -> list[Section]:
    """What is left of the sections when only rows with these words are wanted."""
    words = typed.casefold().split()
    if not words:
        return [*sections]
    found = [
        replace(section, rows=tuple(row for row in section.rows if row.matches(words, section.title)), remark="")
        for section in sections
    ]
    return [section for section in found if section.rows]
