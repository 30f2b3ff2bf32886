"""Settings that are no numbers: a switch, breakers of DRY, biases of tokens, and texts that a file may hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, cast

from app.clean import clean_line
from app.given_names import NONE
from app.reading import NotReadable, read_small
from app.sampler_texts import read_bias
from app.tui.setting import Kind, WrongValueError

MOST_BYTES: Final = 1_000_000
"""Of a grammar or a schema."""
_WRITTEN: Final = {"\n": "\\n", "\t": "\\t", " ": "\\s", "\\": "\\\\"}
"""Characters of a breaker that would not be seen or would end it, and how they are typed."""
_READ: Final = {typed: character for character, typed in _WRITTEN.items()}


def _switch(typed: str) -> bool:
    match typed.casefold():
        case "on":
            return True
        case "off":
            return False
    raise ValueError(typed)


def _breakers(typed: str) -> tuple[str, ...]:
    """``\\n : " *``"""
    if typed.casefold() == NONE:
        return ()
    found = tuple(re.sub(r"\\.?", lambda match: _READ.get(match[0], match[0]), word) for word in typed.split())
    if not found:
        raise ValueError(typed)
    return found


def _show_breakers(value: object) -> str:
    words = ["".join(_WRITTEN.get(character, character) for character in text) for text in cast("Iterable[str]", value)]
    return " ".join(words) or NONE


def _biases(typed: str) -> dict[int, float]:
    """``198=-5 13=2``"""
    if typed.casefold() == NONE:
        return {}
    found = dict(read_bias(word) for word in typed.split())
    if not found:
        raise ValueError(typed)
    return found


def _show_biases(value: object) -> str:
    words = (f"{token}={bias:.12g}" for token, bias in cast("Mapping[int, float]", value).items())
    return " ".join(words) or NONE


def _grammar(typed: str) -> str:
    """A grammar that fits into a line, or the file with one."""
    return typed if "::=" in typed else _from_file(typed)


def _schema(typed: str) -> str:
    text = typed if typed.startswith("{") else _from_file(typed)
    try:
        json.loads(text)
    except RecursionError as error:
        raise WrongValueError("This JSON schema is nested too deeply.") from error
    except ValueError as error:
        raise WrongValueError(f"This is no JSON: {error}.") from error
    return text


def _from_file(typed: str) -> str:
    if not typed:
        raise ValueError("nothing was typed")
    shown = clean_line(typed, 80)
    try:
        return read_small(Path(typed).expanduser(), MOST_BYTES).decode("utf-8-sig")
    except FileNotFoundError as error:
        raise WrongValueError(f"There is no file {shown}.") from error
    except (NotReadable, RuntimeError) as error:  # RuntimeError: the home of a user who does not exist
        raise WrongValueError(f"{shown} cannot be read: {error}.") from error
    except ValueError as error:  # no UTF-8, or no path
        raise WrongValueError(f"{shown} is no UTF-8 text.") from error


SWITCH: Final = Kind("on|off", "on, off", _switch, lambda value: "on" if value else "off")
BREAKERS: Final = Kind(
    "TEXTS|none", "texts with a space between them (\\n: a line break, \\s: a space) or none", _breakers, _show_breakers
)
BIASES: Final = Kind(
    "ID=BIAS|none",
    "token ids, each with a bias of -1000 to 1000, such as 198=-5 13=2, or none",
    _biases,
    _show_biases,
    long=True,
)
GRAMMAR: Final = Kind("FILE", "a file with a GBNF grammar, a grammar in one line", _grammar, str, long=True)
SCHEMA: Final = Kind("FILE", "a file with a JSON schema, a schema in one line", _schema, str, long=True)
