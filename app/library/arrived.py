"""A model that has arrived whole: is it one? Told by its headers, before anything can take it for a model."""

from __future__ import annotations

from collections.abc import Sequence

from app.clean import clean_line
from app.library.choice import split_name
from app.library.facts import FileFacts, facts_of
from app.library.found import OURS, Candidate
from app.library.sets import MOST_PARTS, FileSet, fault_of_parts, fault_of_single
from app.library.transfer.wanted import Arrived
from engine.files.header import HeaderError, read_header


def why_no_model(files: Sequence[Arrived]) -> str | None:
    """Why the files of one model, in their order, cannot be used, in one phrase; None when they can. Raises OSError
    where the disk refuses: that says nothing about the files."""
    facts = [_facts(file) for file in files]
    first = files[0]
    name = split_name(first.path.name)
    if not (1 <= name.number <= name.count and 1 < name.count <= MOST_PARTS):
        return fault_of_single(facts[0], renamed=False)
    parts = {split_name(file.path.name).number: file.path for file in files}
    of_parts = dict(zip(parts, facts, strict=True))
    return fault_of_parts(FileSet(Candidate(first.path, OURS), parts, name.count, first.bytes_at.stat()), of_parts)


def _facts(file: Arrived) -> FileFacts:
    try:
        return facts_of(read_header(file.bytes_at, name="it"))
    except HeaderError as error:
        return FileFacts(0, fault=clean_line(error.message.rstrip("."), 300), foreign=error.code == "not_gguf")
