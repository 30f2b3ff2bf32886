"""Which files of a repository are meant: llama.cpp's conventions for ``-hf OWNER/REPO:QUANT``.

A quantization is the tag at the end of a name (``Qwen3-4B-Q4_K_M.gguf``); without one Q4_K_M is taken, then Q8_0, then
the first model that there is. A model that was cut into parts is one choice, and it must be complete. Files that
belong to a model but are none (projectors, importance matrices, draft heads) are never chosen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Protocol, TypeVar

from app.clean import clean_line
from app.library.hub_errors import HubError

DEFAULT_QUANTS = ("Q4_K_M", "Q8_0")

_SPLIT = re.compile(r"(.+)-([0-9]{5})-of-([0-9]{5})\.gguf", re.IGNORECASE | re.DOTALL)
QUANT_TAG = r"((?:UD-)?(?:I?Q|TQ|BF|F|FP|MXFP|NVFP)[0-9][A-Z0-9_]*)"
"""How a quantization is written at the end of a name, in any case of letters."""
_TAG = re.compile(rf"[-.]{QUANT_TAG}$", re.IGNORECASE)
_SIDECARS = ("mmproj", "imatrix", "mtp-", "eagle3-", "dflash-", "dspark-")
_SHOWN = 12
_SHOWN_PARTS = 5


class Named(Protocol):
    """Anything with a path inside a repository."""

    @property
    def path(self) -> str: ...


File = TypeVar("File", bound=Named)


@dataclass(frozen=True)
class SplitName:
    """A path cut into what all parts share, and the part's number."""

    stem: str
    """Without ``-00001-of-00002.gguf``, or without ``.gguf``."""
    number: int
    count: int
    """0: the name is not that of a part."""


def split_name(path: str) -> SplitName:
    """How ``path`` belongs to a split model, by its name alone."""
    if match := _SPLIT.fullmatch(path):
        return SplitName(match[1], int(match[2]), int(match[3]))
    return SplitName(path[: -len(".gguf")] if path.lower().endswith(".gguf") else path, 1, 0)


def quant_of(path: str) -> str | None:
    """The quantization that a file's name ends in, in upper case; None when it names none."""
    match = _TAG.search(split_name(path).stem)
    return match[1].upper() if match else None


def is_model(path: str) -> bool:
    """A GGUF file that can be run by itself or together with its other parts."""
    name = PurePosixPath(path).name.lower()
    return name.endswith(".gguf") and not any(mark in name for mark in _SIDECARS)


def choose(
    repo: str, files: Sequence[File], *, quant: str | None = None, pattern: str | None = None
) -> tuple[File, ...]:
    """The files of one model: those that ``pattern`` (a path, or a name with ``*``) names, else those of ``quant``.

    In the order of their parts. :class:`HubError` says which quantizations there are, or which part is missing.
    """
    models = [file for file in files if is_model(file.path)]
    if not models:
        raise HubError("file", _nothing_to_run(repo, files))
    starts = [file for file in models if split_name(file.path).count == 0 or split_name(file.path).number == 1]
    if pattern is not None:
        found = _by_pattern(repo, models, pattern, quant)
    elif quant is not None:
        found = _by_quant(starts, quant)
    else:
        found = next((file for tag in DEFAULT_QUANTS if (file := _by_quant(starts, tag))), None)
        found = found or (starts or models)[0]
    if found is None:
        wanted = quant if pattern is None else pattern
        if pattern is not None and (beside := _accompanying(files, pattern)):
            raise HubError(
                "file",
                f"{clean_line(beside, 80)} of {repo} goes along with a model and is none itself; {_offer(models)}.",
            )
        raise HubError("file", f"{repo} has no {clean_line(wanted or '', 80)}; {_offer(models)}.")
    return _whole_set(repo, models, found)


def part_words(numbers: Sequence[int]) -> str:
    """``part 2``, ``parts 2, 3 and 5``, ``parts 2, 3, 4, 5, 6 and 3 more``."""
    if len(numbers) == 1:
        return f"part {numbers[0]}"
    shown = [str(number) for number in numbers[:_SHOWN_PARTS]]
    last = f"{len(numbers) - len(shown)} more" if len(numbers) > len(shown) else shown.pop()
    return f"parts {', '.join(shown)} and {last}"


def _by_quant(starts: Sequence[File], quant: str) -> File | None:
    """The first model whose name ends in the tag, whole or after a dash or dot. One file goes before parts of the
    same quantization: some repositories hold both, and one file is easier to keep."""
    wanted = quant.casefold()
    fitting = [file for file in starts if _ends_in(split_name(file.path).stem.casefold(), wanted)]
    return min(fitting, key=lambda file: split_name(file.path).count > 0, default=None)


def _ends_in(stem: str, tag: str) -> bool:
    return stem.endswith(tag) and (stem == tag or stem[-len(tag) - 1] in "-._/")


def _by_pattern(repo: str, models: Sequence[File], pattern: str, quant: str | None) -> File | None:
    exact = [file for file in models if file.path == pattern]
    wanted = pattern.casefold()
    fitting = exact or [file for file in models if _matches(file.path.casefold(), wanted)]
    chosen = {split_name(file.path).stem for file in fitting}
    if len(chosen) > 1 and quant is not None:
        return _by_quant(fitting, quant)
    if len(chosen) > 1:
        raise HubError("file", f"{clean_line(pattern, 80)} is {len(chosen)} models of {repo}: {_offer(fitting)}.")
    return fitting[0] if fitting else None


def _accompanying(files: Sequence[Named], pattern: str) -> str:
    """The first file that ``pattern`` names among those that belong to a model and are none; empty: there is none."""
    wanted = pattern.casefold()
    beside = (file.path for file in files if file.path.lower().endswith(".gguf") and not is_model(file.path))
    return next((path for path in beside if _matches(path.casefold(), wanted)), "")


def _matches(path: str, pattern: str) -> bool:
    return path == pattern or fnmatchcase(path, pattern) or fnmatchcase(PurePosixPath(path).name, pattern)


def _whole_set(repo: str, models: Sequence[File], start: File) -> tuple[File, ...]:
    """``start`` and all other parts; a set with a hole is no model."""
    wanted = split_name(start.path)
    if wanted.count == 0:
        return (start,)
    parts: dict[int, File] = {}
    for file in models:
        name = split_name(file.path)
        if (name.stem, name.count) == (wanted.stem, wanted.count) and 1 <= name.number <= name.count:
            parts[name.number] = file
    missing = [number for number in range(1, wanted.count + 1) if number not in parts]
    if missing:
        raise HubError(
            "incomplete",
            f"{clean_line(wanted.stem, 120)} of {repo} is cut into {wanted.count} parts, and the hub lacks "
            f"{part_words(missing)}; choose another quantization.",
        )
    return tuple(parts[number] for number in range(1, wanted.count + 1))


def _offer(models: Sequence[Named]) -> str:
    """``it has: Q4_K_M, Q8_0``: the quantizations, or the names where these say none."""
    offered = list(dict.fromkeys(quant_of(file.path) or clean_line(file.path, 80) for file in models))
    more = f" and {len(offered) - _SHOWN} more" if len(offered) > _SHOWN else ""
    return f"it has: {', '.join(offered[:_SHOWN])}{more}"


def _nothing_to_run(repo: str, files: Sequence[Named]) -> str:
    if any(file.path.lower().endswith(".gguf") for file in files):
        return f"{repo} holds only files that accompany a model (projectors, matrices), and no model."
    return f"{repo} holds no GGUF file; models for this program are in repositories whose names end in -GGUF."
