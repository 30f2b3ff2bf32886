"""What each way of a comparison takes of the memory: the pair with its draft, or the target alone."""

from __future__ import annotations

from pathlib import Path

from app.compare.ways import Way
from engine.files.fit import estimate
from engine.files.header import HeaderError, read_header
from engine.files.shape import Shape
from engine.protocol import LoadSettings


def memory_of(way: Way, load: LoadSettings, context: int) -> int | None:
    """Bytes, estimated as ``models check`` does; None where a file cannot be read."""
    wanted = way.load(load)
    drafts = wanted.draft is not None and way.mode in ("draft", "auto")
    try:
        target = _shape(wanted.target.path)
        draft = _shape(wanted.draft.path) if drafts and wanted.draft is not None else None
    except (HeaderError, OSError):
        return None
    return estimate(target, draft, context=context).total


def _shape(path: str) -> Shape:
    return Shape.of(read_header(Path(path)))
