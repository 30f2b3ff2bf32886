"""What is wrong in the settings file: every entry that cannot be used is named and left out, and the rest counts."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from copy import deepcopy
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from app.clean import clean_line
from app.limits import wanted

NAMED: Final = 20
"""Wrong entries that get a sentence each; in a file that is no settings file at all, the others are counted."""
AT_START: Final = 3
"""Sentences about the settings file that the chat begins with."""
BAD_NAME: Final = "bad_name"
"""The type of an error about a name, whose message goes behind that name."""

Record = TypeVar("Record", bound=BaseModel)
Path = tuple[str, ...]
"""The keys that lead to an entry: ``("presets", "wild", "temperature")``."""


def usable(
    record: type[Record], values: Mapping[str, Any], tables: Collection[str], named: int | None = NAMED
) -> tuple[Record, list[str]]:
    """``values`` as a record, without what is wrong in them, and a sentence about each entry that is. ``tables``: the
    fields that hold entries by name, which may be tables of fields in their turn; ``named``: see :data:`NAMED`."""
    try:
        return record.model_validate(values), []
    except ValidationError as error:
        wrong = _by_entry(error, tables)
    good = deepcopy(dict(values))
    for *outer, key in wrong:
        place = good
        for name in outer:
            place = place.get(name, {})  # may have gone as a whole
        place.pop(key, None)
    complaints = [_complaint(record, values, path, errors) for path, errors in list(wrong.items())[:named]]
    if len(wrong) > len(complaints):
        complaints.append(f"and {len(wrong) - len(complaints):,} more entries that cannot be used")
    return record.model_validate(good), complaints


def shortened(complaints: Iterable[str]) -> list[str]:
    """What else there is to say, then no more about the settings file than fits above a composer."""
    everything = list(complaints)
    of_file = [complaint for complaint in everything if complaint.startswith("settings.toml")]
    others = [complaint for complaint in everything if complaint not in of_file]
    more = len(of_file) - AT_START
    if more < 2:  # a line that counts one is no shorter than that one
        return [*others, *of_file]
    return [*others, *of_file[:AT_START], f"and {more} more: slipstream doctor names all"]


def as_toml(value: object) -> str:
    """A value as it is written in the file."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, list, tuple)):
        return json.dumps(value, ensure_ascii=False)  # which is TOML as well
    return str(value)


def _by_entry(error: ValidationError, tables: Collection[str]) -> dict[Path, list[ErrorDetails]]:
    """The errors of each wrong entry. One inside a union or a list is about the whole value."""
    found: dict[Path, list[ErrorDetails]] = {}
    for problem in error.errors(include_url=False):
        keys = tuple(str(key) for key in problem["loc"])
        depth = 1 if keys[0] not in tables else 2 if problem["type"] == BAD_NAME else 3
        found.setdefault(keys[:depth], []).append(problem)
    return found


def _complaint(record: type[BaseModel], values: Mapping[str, Any], path: Path, errors: list[ErrorDetails]) -> str:
    *outer, key = path
    for error in errors:
        if error["type"] == BAD_NAME:
            return f"[{_dotted(outer)}]: {clean_line(key, 60)!r} {error['msg']}; it is left out"
    if errors[0]["type"] == "extra_forbidden":
        what = f"in [{_dotted(outer)}] there is no sampler" if outer else "there is no setting"
        return f"{what} {clean_line(key, 60)!r}{_meant(record, key)}; it is ignored"
    value: Any = values
    for name in path:
        value = value[name]
    instead = "it is left out" if outer else f"using the default ({_default(record, key)})"
    return f"{_dotted(path)} = {_shown(value)} should be {wanted(errors, record.model_fields.get(key))}; {instead}"


def _default(record: type[BaseModel], key: str) -> str:
    default = record.model_fields[key].default
    return "not set" if default is None else "none" if default == {} else as_toml(default)


def _dotted(path: Collection[str]) -> str:
    return clean_line(".".join(path), 80)


def _shown(value: object) -> str:
    try:
        words = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, tables in tables in tables
        return "…"
    return words if len(words) <= 40 else words[:40] + "…"


def _meant(record: type[BaseModel], key: str) -> str:
    if key in record.model_fields:
        return " (a setting of this name stands above the first [table])"
    from difflib import get_close_matches  # only for a file with a mistake in it

    close = get_close_matches(key, record.model_fields, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
