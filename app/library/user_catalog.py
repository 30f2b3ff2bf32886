"""The user's own models.toml, which extends the shipped catalogue.

Same form as ours; an entry of the same name replaces ours, a new one stands behind ours. An entry with a mistake is
left out and named in one sentence: the rest of the catalogue works.
"""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from app.library.catalog import Catalog, Pair, catalog
from engine.files.sizes import size_words

MOST_BYTES: Final = 1 << 20


class LoadedCatalog(NamedTuple):
    """The pairs that can be asked for, and one sentence for everything in the user's file that could not be used."""

    catalog: Catalog
    complaints: tuple[str, ...] = ()
    own: frozenset[str] = frozenset()
    """Names of the pairs that came from the user's file."""


def load_catalog(file: Path, shipped: Catalog | None = None) -> LoadedCatalog:
    """The shipped catalogue with the user's entries in ``file``; a missing file is nothing to speak of."""
    ours = shipped or catalog()
    try:
        values = tomllib.loads(_read(file).decode("utf-8-sig"))
    except FileNotFoundError:
        return LoadedCatalog(ours)
    except (OSError, ValueError) as error:  # TOMLDecodeError and UnicodeDecodeError are ValueErrors
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        return LoadedCatalog(ours, (f"{file} cannot be read: {reason}. The shipped catalogue is used.",))
    except RecursionError:
        return LoadedCatalog(ours, (f"{file} cannot be read: it is nested too deeply. The shipped catalogue is used.",))
    entries = values.pop("pair", [])
    complaints = [f"{file}: {key} is not known here; entries stand under [[pair]]." for key in values]
    if not isinstance(entries, list):
        complaints.append(f"{file}: pair must be written as [[pair]]. The shipped catalogue is used.")
        entries = []
    theirs: dict[str, Pair] = {}
    for number, entry in enumerate(entries, start=1):
        pair = _checked(file, number, entry)
        if isinstance(pair, str):
            complaints.append(pair)
        elif pair.name in theirs:
            complaints.append(
                f"{file}: entry {number}, field name: {pair.name} was used before; the entry is left out."
            )
        else:
            theirs[pair.name] = pair
    kept = [theirs.get(pair.name, pair) for pair in ours.pair]
    new = [pair for name, pair in theirs.items() if all(name != pair.name for pair in ours.pair)]
    return LoadedCatalog(Catalog(pair=(*kept, *new)), tuple(complaints), frozenset(theirs))


def _read(file: Path) -> bytes:
    status = file.stat()
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):  # opening a pipe would wait for ever
        raise ValueError("it is no regular file")
    if status.st_size > MOST_BYTES:
        raise ValueError(f"it has {size_words(status.st_size)}, and a catalogue has 1 MB at most")
    return file.read_bytes()


def _checked(file: Path, number: int, entry: object) -> Pair | str:
    """The pair, or the sentence that says what is wrong with it."""
    if not isinstance(entry, dict):
        return f"{file}: entry {number} is no table; the entry is left out."
    try:
        return Pair.model_validate(entry)
    except ValidationError as error:
        wrong: dict[str, str] = {}
        for problem in error.errors(include_url=False):
            where = [str(part) for part in problem["loc"]]
            if _is_about_the_other_form(where, entry):
                continue
            field = ".".join(part for part in where if part != "ModelSource" and "[" not in part)
            wrong.setdefault(field or "target", _words(field, problem["msg"], entry))
    named = entry.get("name")
    which = f'entry "{named}"' if isinstance(named, str) and named else f"entry {number}"
    fields = "; ".join(f"field {field}: {why}" for field, why in wrong.items())
    return f"{file}: {which}, {fields}; the entry is left out."


def _is_about_the_other_form(where: list[str], entry: dict[str, Any]) -> bool:
    """draft is a word or a table, and a mistake in the table is reported as "no such word" as well."""
    return where[0] == "draft" and where[-1].startswith("literal[") and isinstance(entry.get("draft"), dict)


def _words(field: str, message: str, entry: dict[str, Any]) -> str:
    if field == "draft" and not isinstance(entry.get("draft"), dict):
        return 'it should be "lookup" or a table like that of target'
    if message.startswith("Input should "):
        return f"it {message.removeprefix('Input ')}"
    known = {"Field required": "it is missing", "Extra inputs are not permitted": "it is not known here"}
    return known.get(message, message.removeprefix("Value error, "))
