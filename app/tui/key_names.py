"""The names of keys: as a person writes them in settings.toml, as Textual calls them, as they are shown."""

from __future__ import annotations

from typing import Final

from textual.keys import _character_to_key, format_key

MODIFIERS: Final = frozenset({"alt", "ctrl", "hyper", "meta", "shift", "super"})
_NAMED: Final = frozenset(
    "enter escape tab space backspace delete insert home end pageup pagedown up down left right".split()
) | {f"f{number}" for number in range(1, 25)}
_ALSO: Final = {
    "esc": "escape",
    "return": "enter",
    "del": "delete",
    "ins": "insert",
    "pgup": "pageup",
    "pgdn": "pagedown",
    "pgdown": "pagedown",
    "page_up": "pageup",
    "page_down": "pagedown",
    "↑": "up",
    "↓": "down",
    "←": "left",
    "→": "right",
}
_ALSO_MODIFIERS: Final = {"control": "ctrl", "option": "alt", "cmd": "super", "command": "super", "win": "super"}
_SAME: Final = {"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+h": "backspace", "ctrl+left_square_bracket": "escape"}
"""What a terminal sends for both, so that no program can tell them apart."""
_SHOWN: Final = {
    "escape": "esc",
    "delete": "del",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "page up",
    "pagedown": "page down",
}
_EDITING: Final = frozenset("backspace delete up down left right home end".split())


class WrongKeyError(ValueError):
    """No such key, or none that a terminal can send; says so in a sentence without its end."""


def textual_name(written: str) -> str:
    """``Ctrl+T``, ``esc``, ``/`` as Textual calls them: ``ctrl+t``, ``escape``, ``slash``. Raises WrongKeyError."""
    text = written.strip()
    if not text:
        raise WrongKeyError("an empty text names no key")
    *before, last = _parts(text)
    modifiers = [_ALSO_MODIFIERS.get(name.lower(), name.lower()) for name in before]
    for modifier in modifiers:
        if modifier not in MODIFIERS:
            raise WrongKeyError(f'there is no key "{text}"')
    if modifiers == ["shift"] and len(last) == 1 and last.isalpha():
        return last.upper()
    key = "+".join([*sorted(set(modifiers)), _plain_name(last, text, bool(modifiers))])
    if key in _SAME:
        raise WrongKeyError(f'a terminal sends the same for "{text}" as for {shown(_SAME[key])}')
    return key


def shown(key: str) -> str:
    """``escape`` is ``esc``, ``slash`` is ``/``; ``ctrl+t`` stays."""
    *modifiers, last = key.split("+")
    return "+".join([*modifiers, _shown_alone(last)])


def writes(key: str) -> bool:
    """Whether this key puts a character into a text: ``r``, ``R``, ``space``, ``slash``."""
    *modifiers, last = key.split("+")
    alone = last not in _NAMED or last == "space"
    return alone and not ({*modifiers} - {"shift"})


def edits(key: str) -> bool:
    """Whether nobody could write without this key."""
    return key in _EDITING


def _parts(text: str) -> list[str]:
    """What stands between the plus signs; the last one may be the key ``+`` itself."""
    if text == "+":
        return ["plus"]
    if text.endswith("++"):
        return [*text[:-2].split("+"), "plus"]
    return [part.strip() for part in text.split("+")]


def _plain_name(name: str, whole: str, modified: bool) -> str:
    if len(name) == 1 and name not in _ALSO:
        return _character_to_key(name.lower() if modified else name)
    lower = name.lower()
    known = _ALSO.get(lower, lower)
    sign = format_key(known)
    if known in _NAMED or (len(sign) == 1 and sign.isascii()):
        return known
    raise WrongKeyError(f'there is no key "{whole}"')


def _shown_alone(name: str) -> str:
    if name in _SHOWN:
        return _SHOWN[name]
    return name if name in _NAMED or len(name) == 1 else format_key(name)
