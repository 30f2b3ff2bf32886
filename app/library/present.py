"""What there is of a file that the hub has, and whether Slipstream may put a new one in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from app.library.hub_answer import RemoteFile
from app.library.layout import part_file
from app.library.origins import is_damaged, own_origin
from app.library.transfer.plain import plain_size
from app.library.transfer.sidecar import SIDECAR, beside, read

State = Literal["here", "partial", "absent", "changed", "damaged", "differs"]
"""Whole; begun; not here; fetched when the hub had another version; fetched and found damaged; another file of that
name is here, which Slipstream did not fetch."""

REPLACED: frozenset[State] = frozenset({"changed", "damaged"})
"""States of files that Slipstream fetched and may put new ones in the place of."""


def what_is_here(destination: Path, file: RemoteFile) -> tuple[State, int]:
    """Told from the files alone: a remembered flag may be wrong after a power cut."""
    present = _size(destination)
    if present is None and destination.is_symlink():
        return "differs", 0  # a link to nowhere is the user's, too
    replaced = _why_replaced(destination, file) if present is not None else None
    if present == file.size and replaced is None:
        return "here", file.size
    if present is not None and replaced is None:
        return "differs", 0
    have = _begun(destination, file)
    return replaced or ("partial" if have else "absent"), have


def _begun(destination: Path, file: RemoteFile) -> int:
    """Bytes of a broken-off download; none where they are of another version, and the transfer starts anew."""
    begun = plain_size(part_file(destination)) or 0
    kept = read(beside(destination, SIDECAR))
    known = (kept.expected if kept else None, file.sha256 or file.blob)
    other = kept is not None and (kept.size != file.size or (None not in known and known[0] != known[1]))
    return 0 if other or begun > file.size else begun


def _why_replaced(destination: Path, file: RemoteFile) -> State | None:
    """What is wrong with a file that we fetched; None: nothing, or it is not ours."""
    if destination.is_symlink():
        return None  # where it leads is not ours to judge, and links are never replaced
    if is_damaged(destination):
        return "damaged"
    ours = own_origin(destination)
    if ours is None:
        return None
    known = (ours.expected, file.sha256 or (file.blob if ours.sha256 is None else None))
    other = None not in known and known[0] != known[1]
    return "changed" if other or ours.size != file.size else None


def _size(file: Path) -> int | None:
    try:
        return file.stat().st_size if file.is_file() else None
    except OSError:
        return None
