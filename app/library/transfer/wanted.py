"""What is to be fetched, and how it will be known to be the right file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit, urlunsplit

_SHA256 = re.compile(r"[0-9a-f]{64}")
_GIT_BLOB = re.compile(r"[0-9a-f]{40}")


class Hasher(Protocol):
    """A running hash of :mod:`hashlib`."""

    def update(self, data: bytes | memoryview, /) -> None: ...

    def hexdigest(self) -> str: ...


def _no_headers() -> Mapping[str, str]:
    return {}


@dataclass(frozen=True)
class Wanted:
    """One file."""

    url: str = field(repr=False)
    """Where the hub has it, best with a commit in it instead of a branch."""
    path: Path
    """Where it shall be, once it is whole."""
    size: int
    """Bytes, as the hub announces them."""
    sha256: str | None = None
    """Of files in LFS."""
    etag: str | None = None
    """The hub's identity of the file: SHA-256 of a file in LFS, git's SHA-1 of any other."""
    headers: Callable[[], Mapping[str, str]] = field(default=_no_headers, repr=False, compare=False)
    """Asked anew before each request; holds the token, which is sent to the host of ``url`` and kept nowhere."""

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError(f"{self.path.name}: a size of {self.size} bytes")

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def is_model(self) -> bool:
        return self.name.lower().endswith(".gguf")

    @property
    def host(self) -> str:
        """As people should read it: with the port where that is unusual."""
        return host_of(self.url)

    @property
    def public_url(self) -> str:
        """The address without anything that may be secret."""
        parts = urlsplit(self.url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    @property
    def repo(self) -> str:
        """``owner/name``, or nothing when the address is not a hub's."""
        path = urlsplit(self.url).path
        return path.partition("/resolve/")[0].strip("/") if "/resolve/" in path else ""

    @property
    def page(self) -> str:
        """The web page of the repository."""
        return f"{self.public_url.partition('/resolve/')[0]}"

    @property
    def expected(self) -> str | None:
        """The hash that the whole file must have, in the terms of :meth:`hasher`; none when only the size is known."""
        known = normal_etag(self.sha256) or normal_etag(self.etag)
        return known if known and (_SHA256.fullmatch(known) or _GIT_BLOB.fullmatch(known)) else None

    @property
    def hash_name(self) -> str:
        return "git hash" if _GIT_BLOB.fullmatch(self.expected or "") else "SHA-256"

    def hasher(self) -> Hasher:
        """A fresh hash of the kind that :attr:`expected` is; SHA-256 when nothing is expected."""
        if _GIT_BLOB.fullmatch(self.expected or ""):
            return hashlib.sha1(b"blob %d\0" % self.size, usedforsecurity=False)
        return hashlib.sha256()

    def is_other(self, etag: str | None) -> bool:
        """Whether the hub's ETag says that it has another file there now."""
        told = normal_etag(etag)
        if told is None or self.expected is None:
            return False
        kind = _SHA256 if _SHA256.fullmatch(self.expected) else _GIT_BLOB
        return bool(kind.fullmatch(told)) and told != self.expected


@dataclass(frozen=True)
class Arrived:
    """A whole file before it has its name: what it will be called, and where its bytes are now."""

    path: Path
    bytes_at: Path


def host_of(url: str) -> str:
    """Host of an address, with the port where that is unusual."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    host = parts.hostname or "the server"
    return f"{host}:{port}" if port not in (None, {"http": 80, "https": 443}.get(parts.scheme)) else host


def normal_etag(etag: str | None) -> str | None:
    """``W/"ABC"`` as ``abc``."""
    if etag is None:
        return None
    return etag.strip().removeprefix("W/").strip('"').lower() or None
