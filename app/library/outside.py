"""A model outside of the places that are looked at, named by its path."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from app.library.choice import split_name
from app.library.facts import FactStore
from app.library.found import NAMED, Candidate
from app.library.local import LocalModel, model_of
from app.library.records import ShelfError
from app.library.sets import MOST_PARTS, file_sets
from app.library.walk import LeftOut

_KEPT: Final = FactStore()
"""Of such files, for as long as the process runs: a command asks for the same one several times."""


def named_by_path(wanted: str) -> LocalModel | None:
    """A file outside the places that are looked at, named by its path; None: no path was named. :class:`ShelfError`
    for one that leads to no model."""
    path = Path(wanted).expanduser()
    if not path.exists():
        if wanted.startswith(("/", ".", "~")) or (wanted.lower().endswith(".gguf") and path.parent.is_dir()):
            raise ShelfError(f"There is no file {wanted}.")
        return None
    if path.is_dir():
        raise ShelfError(
            f"{wanted} is a folder, and a model is a file. To use all in it: slipstream models add {wanted}"
        )
    model = _model_at(path)
    if isinstance(model, LeftOut):
        raise ShelfError(f"{wanted}: {model.reason}.")
    return model


def _model_at(path: Path) -> LocalModel | LeftOut:
    """The model that the file at ``path`` is, or is a part of, wherever it lies."""
    file = path.absolute()
    name = split_name(file.name)
    parts = [file]
    if 1 <= name.number <= name.count <= MOST_PARTS:
        same = (
            file.with_name(f"{name.stem}-{number:05}-of-{name.count:05}.gguf") for number in range(1, name.count + 1)
        )
        parts += [part for part in same if part != file and part.is_file()]
    (found,) = file_sets(Candidate(part, NAMED) for part in parts)
    model = found if isinstance(found, LeftOut) else model_of(found, _KEPT)
    _KEPT.save()  # lets go of the vocabularies
    return model
