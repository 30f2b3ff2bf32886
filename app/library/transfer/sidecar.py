"""The small JSON file beside a ``.part``: which file it belongs to, and how much of it is safely on the disk."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from app.library.transfer.plain import open_plain
from app.library.transfer.wanted import Wanted

PART = ".part"
SIDECAR = ".part.json"
LOCK = ".part.lock"
FRESH = ".part.json.tmp"
"""The sidecar while it is written."""

VERSION = 1
_MOST_BYTES = 65_536


@dataclass(frozen=True)
class Sidecar:
    """Nothing in it is secret."""

    url: str
    """Without query."""
    size: int
    expected: str | None
    """The hash of the whole file, as :attr:`Wanted.expected`."""
    validator: str | None = None
    """The server's own ETag, to ask with If-Range."""
    good: int = 0
    """Bytes that were forced to the disk."""
    digest: str | None = None
    """Hash over those."""

    @classmethod
    def of(cls, wanted: Wanted) -> Sidecar:
        """That of a part which begins."""
        return cls(wanted.public_url, wanted.size, wanted.expected)

    def is_for(self, wanted: Wanted) -> bool:
        """Whether the part's bytes are the beginning of this file. Without a hash to tell, the address must be equal:
        it holds the commit."""
        if (self.size, self.expected) != (wanted.size, wanted.expected):
            return False
        return self.expected is not None or self.url == wanted.public_url

    def write(self, file: Path) -> None:
        """Replace the file in one step: a kill leaves the old one or the new one."""
        fresh = file.with_name(file.name.removesuffix(SIDECAR) + FRESH)
        try:
            with open(fresh, "wb", opener=open_plain) as written:
                written.write(json.dumps({"version": VERSION, **asdict(self)}).encode())
            os.replace(fresh, file)
        except OSError:
            with contextlib.suppress(OSError):
                if not fresh.is_symlink():  # one that somebody laid there is left to them
                    fresh.unlink(missing_ok=True)
            raise


def read(file: Path) -> Sidecar | None:
    """What is there, or nothing where that makes no sense: anybody can write into the folder."""
    try:
        with open(file, "rb", opener=open_plain) as opened:
            found = json.loads(opened.read(_MOST_BYTES))
        if found.pop("version") != VERSION:
            return None
        sidecar = Sidecar(**found)
        texts = (sidecar.expected, sidecar.validator, sidecar.digest)
        whole = isinstance(sidecar.url, str) and isinstance(sidecar.size, int) and isinstance(sidecar.good, int)
        if whole and sidecar.good >= 0 and all(text is None or isinstance(text, str) for text in texts):
            return sidecar
    except (OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError):
        pass
    return None


def beside(path: Path, suffix: str) -> Path:
    """``NAME.part`` and its like, for the final place of a file."""
    return path.with_name(path.name + suffix)
