"""System prompts by name: those of settings.toml, and those that were kept from within a chat.

The latter are in a small file of the program's own: settings.toml is the user's and is only read. A prompt of
settings.toml stands above one of the same name that was kept. A chat holds the text of its prompt: what becomes of a
named prompt later changes no chat. The name it was given by says only which of two names with that text is shown.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from app.clean import clean_line
from app.given_names import name_trouble
from app.locks import try_lock
from app.paths import FolderError, ensure
from app.reading import NotReadable, read_small
from engine.files.whole import write_whole

log = logging.getLogger(__name__)

MOST_BYTES: Final = 4_000_000
PATIENCE: Final = 2.0
"""Seconds that another Slipstream may take to write the file."""
_SETTINGS: Final = "settings.toml"


class PromptError(Exception):
    """A prompt is not kept, or not forgotten; ``str(error)`` says why, and what to do."""


class Prompt(NamedTuple):
    """A system prompt that has a name."""

    name: str
    text: str
    by_hand: bool
    """Whether it stands in settings.toml."""


class _Kept(BaseModel):
    """The file. What a later version may add to it stays there."""

    model_config = ConfigDict(extra="allow")

    prompts: dict[str, str] = {}


class SystemPrompts:
    """The named prompts there are now. Two instances of the program may keep and forget at the same time."""

    def __init__(self, by_hand: Mapping[str, str] | None = None, file: Path | None = None) -> None:
        """``by_hand``: those of settings.toml; ``file``: where others are kept, None: nowhere."""
        self._by_hand = {name: Prompt(name, text, True) for name, text in (by_hand or {}).items()}
        self._file = file
        self._read: tuple[tuple[int, ...], dict[str, Prompt]] = ((), {})
        """The file as it was when it was read last (see :func:`_mark`), and what was in it."""
        self.trouble = ""
        """Why the kept ones cannot be read, in a sentence; empty when they can."""

    def all(self) -> dict[str, Prompt]:
        """Every prompt by its name: those of settings.toml first, then the kept ones in the order of their names."""
        kept = self._kept_ones()
        return {**self._by_hand, **{name: kept[name] for name in sorted(kept) if name not in self._by_hand}}

    def find(self, name: str) -> Prompt | None:
        """The prompt that is called exactly ``name``."""
        return self._by_hand.get(name) or self._kept_ones().get(name)

    def name_of(self, text: str, given: str = "") -> str:
        """The name of the prompt with this text: ``given`` where that is one of its names, else the first; empty when
        there is none, or no text."""
        if not text.strip():
            return ""
        names = [prompt.name for prompt in self.all().values() if prompt.text == text]
        return given if given in names else next(iter(names), "")

    def keep(self, name: str, text: str) -> None:
        """Keep ``text`` as ``name``, for all chats to come. Nothing is written over: a name that is taken is refused.
        May wait for a disk. Raises :class:`PromptError`."""
        if trouble := name_trouble(name):
            raise PromptError(f"{clean_line(name)!r} {trouble}.")
        if not text.strip():
            raise PromptError("This chat has no system prompt that could be kept.")
        if name in self._by_hand:
            raise PromptError(f"{_SETTINGS} has a system prompt called {name}; choose another name.")
        with self._alone() as file:
            kept = _from_disk(file)
            if kept.prompts.get(name, text) != text:
                raise PromptError(
                    f"There is another system prompt called {name}: choose another name, or /system-forget it first."
                )
            if name not in kept.prompts:
                kept.prompts[name] = text
                _to_disk(file, kept)

    def forget(self, name: str) -> Prompt:
        """Keep it no longer; returns it. Raises :class:`PromptError`."""
        if name in self._by_hand:
            raise PromptError(f"{name} stands in {_SETTINGS}, which Slipstream only reads: take it out there.")
        with self._alone() as file:
            kept = _from_disk(file)
            text = kept.prompts.pop(name, None)
            if text is None:
                raise PromptError(f"No system prompt is kept as {clean_line(name, 60)}.")
            _to_disk(file, kept)
        return Prompt(name, text, False)

    def _kept_ones(self) -> dict[str, Prompt]:
        """Those of the file, read again when it is another one than before."""
        if self._file is None:
            return {}
        mark = _mark(self._file)
        if mark != self._read[0]:
            self.trouble = ""
            kept = {}
            try:
                for name, text in _from_disk(self._file).prompts.items():
                    if trouble := name_trouble(name):
                        log.warning("a system prompt is left out: %.60r %s", name, trouble)
                    else:
                        kept[name] = Prompt(name, text, False)
            except PromptError as error:
                self.trouble = str(error)
            self._read = mark, kept
        return self._read[1]

    @contextlib.contextmanager
    def _alone(self) -> Iterator[Path]:
        """The file, for this instance alone: reading, changing and writing are one step."""
        if self._file is None:
            raise PromptError("There is no place here where system prompts could be kept.")
        try:
            ensure(self._file.parent)
            lock = os.open(self._file.with_name(f"{self._file.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except FolderError as error:
            raise PromptError(str(error)) from error
        except OSError as error:
            raise PromptError(f"{self._file} cannot be written: {error.strerror or error}.") from error
        try:
            deadline = time.monotonic() + PATIENCE
            while not try_lock(lock):
                if time.monotonic() > deadline:
                    raise PromptError("Another Slipstream is at the system prompts just now; try again.")
                time.sleep(0.01)
            yield self._file
        finally:
            os.close(lock)


def _mark(file: Path) -> tuple[int, ...]:
    """What is another number when the file was written: every writer puts a new one in its place."""
    try:
        status = file.stat()
    except OSError:
        return ()
    return status.st_ino, status.st_mtime_ns, status.st_size


def _from_disk(file: Path) -> _Kept:
    try:
        return _Kept.model_validate_json(read_small(file, MOST_BYTES))
    except FileNotFoundError:
        return _Kept()
    except NotReadable as error:
        reason = str(error)
    except ValidationError:
        reason = "It is damaged"
    raise PromptError(
        f"The system prompts in {file} cannot be read: {reason}. "
        "It stays as it is; rename it, and new ones can be kept."
    )


def _to_disk(file: Path, kept: _Kept) -> None:
    """The whole file or nothing."""
    try:
        data = kept.model_dump_json(indent=1).encode()
        if len(data) > MOST_BYTES:
            raise PromptError(f"{file} would hold more than {MOST_BYTES:,} bytes; nothing was kept.")
        write_whole(file, data)
    except OSError as error:
        raise PromptError(f"{file} cannot be written: {error.strerror or error}. Nothing was changed.") from error
    except ValueError as error:  # half a character of some terminal or file
        raise PromptError("This text holds characters that no file can keep.") from error
