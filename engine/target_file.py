"""The file of a target or a draft before it is opened: what makes it the same one, and what keeps a broken one away.

A file may be deleted, moved or replaced while its model is loaded. The model goes on from what it holds, so what is
asked about its file later is read once, when it is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from engine.files.arrays import read_span
from engine.files.claims import untrue
from engine.files.fingerprint import fingerprint
from engine.files.header import Header, HeaderError, read_header
from engine.files.pairing import Verdict, judge_headers
from engine.protocol import ErrorCode, LoadSettings, ModelFile

_PART: Final = re.compile(r"-\d{5}-of-\d{5}\.gguf$", re.IGNORECASE)


class PairError(Exception):
    """The target cannot be had. ``str()`` is the sentence for people."""

    def __init__(self, code: ErrorCode, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.code, self.detail = code, detail


@dataclass(frozen=True, slots=True)
class FileKey:
    """A file as it is now, and how it is opened. ``found``: where it really lies, its size and the time of its last
    change; None where there is none."""

    path: str | None
    found: tuple[object, ...] | None
    opened: tuple[object, ...]

    def is_held_as(self, loaded: FileKey) -> bool:
        """Whether what was loaded under the key ``loaded`` is what this one asks for. A file that is gone asks for what
        was loaded from it: there is no other."""
        if self.opened != loaded.opened:
            return False
        return self.path == loaded.path if self.found is None else self.found == loaded.found


def target_key(settings: LoadSettings) -> FileKey:
    """What makes two settings the same loaded target."""
    target = settings.target
    return _key(target.path, target.gpu_layers, settings.context, settings.threads, settings.mode)


def draft_key(file: ModelFile | None) -> FileKey:
    """What makes two wishes the same loaded draft of one target."""
    return FileKey(None, None, ()) if file is None else _key(file.path, file.gpu_layers)


def _key(path: str, *opened: object) -> FileKey:
    try:
        status = Path(path).stat()
        return FileKey(path, (Path(path).resolve(), status.st_size, status.st_mtime_ns), opened)
    except (OSError, ValueError):
        return FileKey(path, None, opened)


@dataclass(frozen=True)
class KeptFile:
    """What is asked about a target's file while it is loaded, as it was then."""

    header: Header
    fingerprint: str
    _pieces: bytes | None = field(repr=False)

    @staticmethod
    def read(path: str) -> KeptFile:
        """Read and check it, to be loaded next. Raises PairError."""
        header = checked_header(path)
        with _checked(path):
            pieces = None if header.tokens is None else read_span(header, header.tokens)
            return KeptFile(header, fingerprint(Path(path)), pieces)

    def is_same(self, path: str) -> bool:
        """Whether the file at ``path`` has the same content, whatever its name. Raises PairError."""
        with _checked(path):
            return fingerprint(Path(path)) == self.fingerprint

    def judge(self, draft: Header) -> Verdict:
        """May this draft serve the target? See :mod:`engine.files.pairing`."""
        return judge_headers(self.header, draft, self._pieces)


def checked_header(path: str) -> Header:
    """The file's header, after the checks that keep broken files away from native code. Raises PairError."""
    with _checked(path):
        header = read_header(Path(path))
    if header.split is not None and not _PART.search(path):  # native code looks for the others by their names
        number, count = header.split
        raise PairError(
            ErrorCode.LOAD_FAILED,
            f"{Path(path).name} is part {number + 1} of {count} of a model, and its name does not say so, so the "
            "others cannot be found. Give it the name that it had.",
        )
    why = "its header names no architecture" if header.architecture is None else untrue(header)
    if header.split is None and why is not None:
        raise PairError(ErrorCode.LOAD_FAILED, f"{Path(path).name} cannot be used: {why}.")
    return header


@contextmanager
def _checked(path: str) -> Iterator[None]:
    """Say in words why the file cannot be had."""
    codes = {"not_gguf": ErrorCode.NOT_GGUF, "truncated": ErrorCode.TRUNCATED_GGUF}
    if "\0" in path:  # no file system takes it, and Python says so with a ValueError
        raise PairError(ErrorCode.NO_SUCH_FILE, f"There is no file {path!r}.")
    try:
        yield
    except FileNotFoundError as error:
        raise PairError(ErrorCode.NO_SUCH_FILE, f"There is no file {path}.") from error
    except HeaderError as error:
        words = f"{error.message.removesuffix('.')}; {error.instead}." if error.instead else error.message
        raise PairError(codes.get(error.code, ErrorCode.LOAD_FAILED), words) from error
    except OSError as error:
        raise PairError(ErrorCode.LOAD_FAILED, f"{path} cannot be read: {error.strerror or error}.") from error
