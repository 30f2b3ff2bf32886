"""From files to models: each file once, and the parts of a model that was cut up together."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from app.library.belonging import stranger
from app.library.choice import part_words, split_name
from app.library.facts import FactStore, FileFacts
from app.library.found import Candidate
from app.library.walk import LeftOut, why_not
from engine.files.claims import untrue_sizes

MOST_PARTS: Final = 1000


@dataclass(frozen=True, slots=True)
class FileSet:
    """The files of one model as they were found: one, or those of its parts that are here, by number from 1."""

    first: Candidate
    parts: dict[int, Path]
    count: int
    status: os.stat_result
    """Of the first file."""
    also: tuple[FileSet, ...] = ()
    """Other names of the same files: links, or snapshots of a hub cache."""


def file_sets(found: Iterable[Candidate | LeftOut]) -> Iterator[FileSet | LeftOut]:
    """What was left out, then the sets in the order in which their first files came."""
    sets: dict[object, FileSet] = {}
    for candidate in found:
        if isinstance(candidate, LeftOut):
            yield candidate
            continue
        try:
            status = candidate.path.stat()
        except OSError as error:
            yield LeftOut(candidate.path, candidate.origin, why_not(candidate.path, error))
            continue
        # llama.cpp finds the other parts by their names, too, in the folder of the first.
        name = split_name(candidate.path.name)
        if not candidate.renamed and 1 <= name.number <= name.count and 1 < name.count <= MOST_PARTS:
            key = (candidate.path.parent, name.stem, name.count)
            sets[key] = _with_part(sets.get(key), candidate, status, name.number, name.count)
            continue
        one = FileSet(candidate, {1: candidate.path}, 1, status)
        sets.setdefault((candidate.path,), one)
    yield from _same_files_once(sets.values())


def _with_part(known: FileSet | None, candidate: Candidate, status: os.stat_result, number: int, count: int) -> FileSet:
    if known is None:
        return FileSet(candidate, {number: candidate.path}, count, status)
    if number in known.parts:
        return known
    parts = {**known.parts, number: candidate.path}
    if number < min(known.parts):
        return FileSet(candidate, parts, count, status)
    return replace(known, parts=parts)


def _same_files_once(sets: Iterable[FileSet]) -> Iterator[FileSet]:
    """Sets that begin with the same file are one: links to it, or two snapshots of a hub cache."""
    whole: dict[object, FileSet] = {}
    for one in sets:
        key = (one.status.st_dev, one.status.st_ino, one.count)
        known = whole.get(key)
        if known is None:
            whole[key] = one
        elif len(one.parts) > len(known.parts):  # an older snapshot may lack a part
            whole[key] = replace(one, also=(*known.also, replace(known, also=())))
        else:
            whole[key] = replace(known, also=(*known.also, one))
    yield from whole.values()


def facts_of_parts(found: FileSet, store: FactStore) -> dict[int, FileFacts]:
    """The facts of every part that is here, by number."""
    facts: dict[int, FileFacts] = {}
    for number, path in sorted(found.parts.items()):
        try:
            facts[number] = store.facts(path, path.stat())
        except OSError as error:
            facts[number] = FileFacts(0, fault=why_not(path, error))
    return facts


def fault_of_parts(found: FileSet, facts: dict[int, FileFacts]) -> str | None:
    """Why the parts are no whole model, in one phrase; None when they are."""
    missing = [number for number in range(1, found.count + 1) if number not in facts]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        return f"{part_words(missing)} of {found.count} {verb} missing ({_part_name(found, missing[0])})"
    for number, each in facts.items():
        if each.fault is not None:
            return f"part {number} of {found.count}: {each.fault}"
        if each.split != (number - 1, found.count):
            return f"the header of part {number} of {found.count} does not say that it is that part"
    if (why := stranger(facts)) is not None:
        return why
    of_all = facts[1].tensors_of_all
    here = sum(each.tensors for each in facts.values())
    if of_all is not None and of_all != here:
        return f"its parts do not belong together: they hold {here:,} tensors, and {of_all:,} are announced"
    if facts[1].role == "chat":
        return untrue_sizes(facts[1].shape, sum(each.parameters for each in facts.values()))
    return None


def fault_of_single(facts: FileFacts, *, renamed: bool) -> str | None:
    """Why a file that bears no part's name is no whole model; None when it is."""
    if facts.fault is not None or facts.split is None:
        return facts.fault
    number, count = facts.split
    why = "the tool that keeps it has renamed it" if renamed else "its name does not say so"
    return f"it is part {number + 1} of {count} of a model, and {why}, so the others cannot be found"


def _part_name(found: FileSet, number: int) -> str:
    name = split_name(found.first.path.name)
    return f"{name.stem}-{number:05}-of-{name.count:05}.gguf"
