"""Deleting what Slipstream fetched, and nothing else."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from app.library.entries import may_delete
from app.library.found import OURS
from app.library.inventory import Inventory, PairHere
from app.library.local import LocalModel
from app.library.mapped import mapped
from app.library.origins import forget_origin, read_origin
from app.library.partly import Begun
from app.library.records import Removal, ShelfError
from app.library.transfer.leftovers import discard, tidy
from app.library.transfer.sidecar import PART, beside
from engine.files.sizes import size_words


def removal_of_pair(here: PairHere, inventory: Inventory) -> Removal:
    """Its files, without those that another pair needs that is whole as well."""
    files: list[Path] = []
    kept: list[str] = []
    for source in here.sources:
        model = source.model
        others = [
            other.pair.title
            for other in inventory.pairs
            if other.pair.name != here.pair.name and other.target.here and model in other.models
        ]
        if model is not None and others:
            kept.append(f"{model.path.name} stays: {', '.join(others)} needs it, too.")
        elif model is not None:
            _sort_out(model, inventory.models_dir, files, kept)
        if source.source.repo is not None and (source.begun or not others):
            folder = inventory.models_dir.joinpath(*source.source.repo.split("/"))
            files += [part for part in _parts_below(folder) if source.source.is_called(part.name.removesuffix(PART))]
    return _removal(here.pair.name, here.pair.title, files, kept)


def removal_of_model(model: LocalModel, name: str, inventory: Inventory) -> Removal:
    """One model; a pair that loses a file is named."""
    files: list[Path] = []
    kept: list[str] = []
    _sort_out(model, inventory.models_dir, files, kept)
    if files:  # what was begun of a newer one goes with it
        files += [beside(part.path, PART) for begun in inventory.begun_anew((model,)) for part in begun.parts]
    kept += [f"{other.pair.title} will lack a file." for other in inventory.pairs if model in other.models and files]
    return _removal(name, model.title, files, kept)


def removal_of_begun(begun: Begun) -> Removal:
    """A download that has not ended; a file that is there from before stays."""
    title = begun.name.rpartition("/")[2]
    kept = [f"{part.path} stays: it is the file from before." for part in begun.parts if begun.anew]
    title = f"The {begun.called} of {title}" if begun.called else title
    return _removal(begun.name, title, [beside(part.path, PART) for part in begun.parts], kept)


def remove_files(files: Sequence[str], models_dir: Path) -> int:
    """Delete them; returns the bytes that are free again. :class:`ShelfError` names the first that could not be."""
    freed = 0
    for name in files:
        file = Path(name)
        size = _size(file)
        try:
            if name.endswith(PART):
                whole = file.with_name(file.name.removesuffix(PART))
                if not discard(whole):
                    raise ShelfError(f"{whole.name} is being fetched now; pause or cancel it first. It was left alone.")
                if not whole.exists():
                    forget_origin(whole)
            else:
                file.unlink()
                forget_origin(file)
                tidy(file)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise ShelfError(
                f"{file} could not be deleted: {(error.strerror or str(error)).lower()}. "
                f"{size_words(freed)} were freed before."
            ) from error
        freed += size
        _tidy(file.parent, models_dir)
    return freed


def _sort_out(model: LocalModel, models_dir: Path, files: list[Path], kept: list[str]) -> None:
    ours = [part for part in model.parts if may_delete(part, models_dir)]
    files += ours
    if len(ours) < len(model.parts):
        whose = "" if model.origin == OURS else f" ({model.origin})"
        changed = any(read_origin(part) is not None for part in model.parts)
        why = "it is not the file that Slipstream fetched any more" if changed else "Slipstream did not fetch it"
        kept.append(f"{model.path} stays{whose}: {why}. Delete it yourself if you want it gone.")


def _removal(key: str, title: str, files: list[Path], kept: list[str]) -> Removal:
    files = list(dict.fromkeys(files))
    refusal = "" if files else " ".join(kept) or f"Nothing of {title} is on this disk; nothing was deleted."
    return Removal(
        key=key,
        title=title,
        files=tuple(str(file) for file in files),
        freed=sum(_size(file) for file in files),
        kept=() if refusal else tuple(kept),
        refusal=refusal,
        held=bool(mapped(files)),
    )


def _parts_below(folder: Path) -> list[Path]:
    return sorted(folder.rglob(f"*{PART}")) if folder.is_dir() else []


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _tidy(folder: Path, models_dir: Path) -> None:
    """Empty folders below ours go with their last file."""
    with contextlib.suppress(OSError, ValueError):
        while folder != models_dir and folder.is_relative_to(models_dir):
            os.rmdir(folder)
            folder = folder.parent
