"""What the headers of model files say, kept from start to start, so that a hundred files need not be read again.

The cache is a help, never a must: one that is missing, damaged or of another version is as good as none. An entry
counts only as long as the file has the size and the time of change it had when it was read.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from app.clean import clean_line
from app.library.roles import Role, role_of
from engine.files.claims import untrue, untrue_numbers
from engine.files.fingerprint import fingerprint
from engine.files.header import Header, HeaderError, SeenArrays, read_header
from engine.files.kept import read_kept
from engine.files.layers import Kind, is_even, kinds_of
from engine.files.needed import lacking
from engine.files.pairing import Vocabulary
from engine.files.quantization import parameters, quantization
from engine.files.shape import Shape
from engine.files.whole import write_whole

log = logging.getLogger(__name__)

VERSION: Final = 7
MOST_BYTES: Final = 64 * 1024 * 1024
NO_SHAPE: Final = Shape()
CANNOT_BE_READ: Final = "it cannot be read"


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What is known of one file. ``fault``: why it cannot be used, in one phrase; then the rest is at its defaults."""

    size: int
    fault: str | None = None
    foreign: bool = False
    """It is no GGUF at all."""
    unreadable: bool = False
    """It has a fault, and more bytes would not mend it."""
    instead: str = ""
    """What to do about a fault, as a phrase, where fetching the file again would not mend it; empty where it may."""
    role: Role = "chat"
    general_name: str | None = None
    architecture: str | None = None
    size_label: str | None = None
    parameters: int = 0
    quantization: str | None = None
    context_trained: int | None = None
    layers: int = 0
    has_template: bool = False
    split: tuple[int, int] | None = None
    """(number of this part from 0, parts)."""
    tensors: int = 0
    tensors_of_all: int | None = None
    """Tensors of all parts together, where the file says so."""
    kinds: tuple[Kind, ...] = ()
    """The tensors of a part, for comparing it with the others."""
    even: bool = True
    """Whether all layers have the same sizes."""
    shape: Shape = NO_SHAPE
    vocabulary: Vocabulary | None = None


def read_facts(path: Path, seen: SeenArrays | None = None) -> FileFacts:
    """Read a file's header. Never raises for what is wrong with the file."""
    size = 0
    try:
        size = path.stat().st_size
        return facts_of(read_header(path, seen=seen))
    except HeaderError as error:
        fault, whole = clean_line(error.message.rstrip("."), 300), size > 0 and error.code != "truncated"
        foreign, instead = error.code == "not_gguf", error.instead
        return FileFacts(size, fault=fault, foreign=foreign, unreadable=whole, instead=instead)
    except FileNotFoundError:
        return FileFacts(size, fault="it is gone")
    except OSError as error:
        fault = f"{CANNOT_BE_READ}: {(error.strerror or str(error)).lower()}"
        instead = "see to it that you may read it" if isinstance(error, PermissionError) else ""
        return FileFacts(size, fault=fault, unreadable=True, instead=instead)


def _may_be_kept(facts: FileFacts, path: Path) -> bool:
    """Whether what was read of the file still counts: who may read it can change without a change of the file."""
    return os.access(path, os.R_OK) and not (facts.fault or "").startswith(CANNOT_BE_READ)


def facts_of(header: Header) -> FileFacts:
    """The facts of a header that was read."""
    role = role_of(header)
    shape, weights = Shape.of(header), parameters(header)
    fault = _wrong(header, shape, weights) if role == "chat" else None
    return FileFacts(
        size=header.size,
        fault=fault,
        unreadable=fault is not None,
        role=role,
        general_name=_line(header.text("general.name")),
        architecture=_line(header.architecture),
        size_label=_line(header.text("general.size_label")),
        parameters=weights,
        quantization=quantization(header),
        context_trained=header.context_length,
        layers=header.block_count or 0,
        has_template=header.chat_template is not None,
        split=header.split,
        tensors=len(header.tensors),
        tensors_of_all=header.integer("split.tensors.count"),
        kinds=kinds_of(header.tensors) if header.split is not None else (),
        even=is_even(header),
        shape=shape,
        vocabulary=Vocabulary.of(header),
    )


def _wrong(header: Header, shape: Shape, weights: int) -> str | None:
    """Why a model to talk to cannot be loaded by what its header leaves out or makes up. Sizes are judged when all
    parts of a model are known (:func:`app.library.sets.fault_of_parts`)."""
    if header.split is not None and header.split[0] > 0:
        return None  # the first part says it for all
    why = lacking(header)
    if why is not None:
        return f"{clean_line(why, 300)}, so it cannot be loaded"
    return untrue(header, shape, weights) if header.split is None else untrue_numbers(header)


def _line(text: str | None) -> str | None:
    return clean_line(text, 80) or None if text else None


@dataclass(frozen=True, slots=True)
class _Entry:
    size: int
    changed: int
    """Time of change in nanoseconds."""
    facts: FileFacts
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class _Kept:
    version: int
    files: dict[str, _Entry]


class FactStore:
    """Facts of files, read when they are asked for the first time. ``file``: where they are kept; None: nowhere.

    :meth:`save` keeps what was asked for since the store was made and drops the rest: files that are gone.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._kept = _load(file) if file is not None else {}
        self._asked: dict[str, _Entry] = {}
        self._seen = SeenArrays()
        self._changed = False

    def facts(self, path: Path, status: os.stat_result) -> FileFacts:
        """The facts of ``path``, whose ``status`` was just asked for."""
        return self._entry(path, status).facts

    def fingerprint(self, path: Path, status: os.stat_result) -> str:
        """The file's fingerprint. Raises OSError."""
        entry = self._entry(path, status)
        if entry.fingerprint is None:
            entry = _Entry(entry.size, entry.changed, entry.facts, fingerprint(path))
            self._asked[str(path)] = entry
            self._changed = True
        assert entry.fingerprint is not None
        return entry.fingerprint

    def _entry(self, path: Path, status: os.stat_result) -> _Entry:
        key, now = str(path), (status.st_size, status.st_mtime_ns)
        for entry in (self._asked.get(key), self._kept.get(key)):
            if entry is not None and (entry.size, entry.changed) == now and _may_be_kept(entry.facts, path):
                self._asked[key] = entry
                return entry
        self._changed = True
        entry = self._asked[key] = _Entry(*now, read_facts(path, self._seen))
        return entry

    def save(self) -> None:
        """Keep what was learned; whole or not at all. A folder that cannot be written costs only the memory of it."""
        self._seen = SeenArrays()  # the vocabularies it compares with: the scan is done
        if self._file is None or not (self._changed or self._asked.keys() != self._kept.keys()):
            return
        # A file that cannot be read now may be readable tomorrow, without having changed.
        lasting = {key: entry for key, entry in self._asked.items() if not _passing(entry.facts)}
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(self._file, _adapter().dump_json(_Kept(VERSION, lasting)))
        except (OSError, ValueError) as error:  # ValueError: a path that is no UTF-8
            # No warning: where there is no log file, as in most commands, that would go to stderr.
            log.info("facts about model files not kept: %s", error)


def _passing(facts: FileFacts) -> bool:
    return facts.fault is not None and facts.fault.startswith(("it is gone", "it cannot be read"))


@cache
def _adapter() -> TypeAdapter[_Kept]:
    return TypeAdapter(_Kept)


def _load(file: Path) -> dict[str, _Entry]:
    try:
        kept = _adapter().validate_json(read_kept(file, MOST_BYTES))
    except FileNotFoundError:
        return {}
    except (OSError, ValidationError) as error:
        log.info("facts about model files not used: %s", error)
        return {}
    return kept.files if kept.version == VERSION else {}
