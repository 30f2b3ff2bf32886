"""What a hub says about a repository, read with suspicion: the answer may come from a proxy, a mirror or an enemy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from app.clean import clean_line
from app.library.hub_errors import HubError
from app.library.layout import same_place, wrong_path, wrong_repo

MOST_FILES = 20_000
LARGEST_FILE = 10**12
"""Bytes. The hub itself takes no file of this size."""

_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_BLOB = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True)
class RemoteFile:
    """A file of a repository as the hub describes it."""

    path: str
    size: int
    sha256: str | None = None
    """Of its content; the hub knows it of large files only."""
    blob: str | None = None
    """The id of this version of the content: what the hub sends as ETag."""


@dataclass(frozen=True)
class Repo:
    """A repository at one commit."""

    id: str
    revision: str
    """The commit: files are fetched at it, so a plan stays true while the repository moves on."""
    files: tuple[RemoteFile, ...] = field(repr=False)
    gated: bool = False
    licence: str | None = None
    licence_url: str | None = None
    left_out: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """GGUF files whose names are refused, and the sentence about each: said only where one of them is asked for."""

    def file(self, path: str) -> RemoteFile | None:
        """The file of this path."""
        return next((file for file in self.files if file.path == path), None)


class NotAHubAnswerError(Exception):
    """The answer lacks what every hub sends; the message says what."""


def read_repo(data: object, asked: str) -> Repo:
    """The repository in a hub's answer. Only GGUF files are looked at closely: no other is ever fetched.

    :class:`NotAHubAnswerError` for an answer of another kind, :class:`HubError` for one that no honest hub gives.
    """
    if not isinstance(data, dict):
        raise NotAHubAnswerError("it is no table of a repository's facts")
    commit = data.get("sha")
    if not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
        raise NotAHubAnswerError("the commit is missing")
    listed = data.get("siblings")
    if not isinstance(listed, list):
        raise NotAHubAnswerError("the list of files is missing")
    if len(listed) > MOST_FILES:
        words = f"{asked} lists {len(listed):,} files, and no more than {MOST_FILES:,} of a repository are read"
        raise HubError("hostile", f"{words}; nothing was fetched.")
    name = data.get("id")
    licence, licence_url = _licence(data)
    left_out: list[tuple[str, str]] = []
    files = tuple(_files(listed, asked, left_out))
    return Repo(
        id=name if isinstance(name, str) and wrong_repo(name) is None else asked,
        revision=commit,
        files=files,
        gated=data.get("gated") not in (None, False),
        licence=licence,
        licence_url=licence_url,
        left_out=tuple(left_out),
    )


def _files(listed: Iterable[object], asked: str, left_out: list[tuple[str, str]]) -> Iterable[RemoteFile]:
    """The files that may be fetched; ``left_out`` gets those with odd names, which keep nobody from the others."""
    places: dict[str, str] = {}
    for entry in listed:
        path = entry.get("rfilename") if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or not isinstance(path, str):
            raise NotAHubAnswerError("a file has no name")
        if not path.lower().endswith(".gguf"):
            if wrong_path(path) is None and isinstance(size := entry.get("size"), int) and 0 <= size <= LARGEST_FILE:
                yield RemoteFile(path, size)
            continue
        if why := wrong_path(path):
            left_out.append((path, f"{asked} lists a file that is not stored here: {_shown(path)} ({why})."))
            continue
        if (other := places.get(same_place(path))) is not None:
            left_out.append(
                (path, f"{asked} lists {_shown(other)} and {_shown(path)}: on many disks that is one file.")
            )
            continue
        places[same_place(path)] = path
        yield _gguf(entry, path, asked)


def _gguf(entry: Mapping[object, object], path: str, asked: str) -> RemoteFile:
    size, lfs, blob = entry.get("size"), entry.get("lfs"), entry.get("blobId")
    if size is None and isinstance(lfs, dict):
        size = lfs.get("size")
    if not isinstance(size, int) or isinstance(size, bool):
        raise NotAHubAnswerError(f"the size of {_shown(path)} is missing")
    if not 0 <= size <= LARGEST_FILE:
        raise HubError("hostile", f"{asked} lists {_shown(path)} with a size of {clean_line(str(size), 25)} bytes.")
    sha256 = lfs.get("sha256") if isinstance(lfs, dict) else None
    if sha256 is not None and not (isinstance(sha256, str) and _SHA256.fullmatch(sha256)):
        raise NotAHubAnswerError(f"the hash of {_shown(path)} is none")
    named = blob if isinstance(blob, str) and _BLOB.fullmatch(blob) else None
    return RemoteFile(path, size, sha256, sha256 or named)


def _licence(data: Mapping[object, object]) -> tuple[str | None, str | None]:
    """Name and address, from the model card or the tags. Foreign text: shortened and cleaned."""
    card, tags = data.get("cardData"), data.get("tags")
    facts = card if isinstance(card, dict) else {}
    name, link = facts.get("license_name") or facts.get("license"), facts.get("license_link")
    if not isinstance(name, str) and isinstance(tags, list):
        tagged = (tag for tag in tags if isinstance(tag, str) and tag.startswith("license:"))
        name = next(tagged, "").removeprefix("license:") or None
    shown = clean_line(name, 60) if isinstance(name, str) and name.strip() else None
    address = link if isinstance(link, str) and re.fullmatch(r"https://[!-~]{1,200}", link) else None
    return shown, address


def _shown(path: str) -> str:
    return clean_line(path, 80)
