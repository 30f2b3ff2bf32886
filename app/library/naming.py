"""What a model on the disk is called in a list: short, and telling apart what is not the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from app.clean import clean_line
from app.library.choice import QUANT_TAG, split_name

MOST: Final = 60

_QUANT: Final = re.compile(rf"[-._ ]{QUANT_TAG}$", re.IGNORECASE)
_BLOB: Final = re.compile(r"^(?:sha256-)?[0-9a-f]{32,}$", re.IGNORECASE)
_SAYS_NOTHING: Final = re.compile(r"^(?:ggml[-_.])?(?:model|weights|main|file|unnamed|output|gguf)?$", re.IGNORECASE)


def model_name(path: Path, general_name: str | None = None, given: str | None = None) -> str:
    """The file's name without what other columns show (quantization, part numbers).

    ``given``: what the tool that keeps the file calls it, which goes first. A file whose name says nothing
    (``model.gguf``, a hash) is called by what its header says, else by its folder.
    """
    if given:
        return clean_line(given, MOST)
    stem = split_name(path.name).stem
    base = _QUANT.sub("", stem)
    if not _tells(base):
        folder = path.parent.name
        base = general_name if general_name and _tells(general_name) else folder if _tells(folder) else stem
    return clean_line(base, MOST) or clean_line(stem, MOST) or "(no name)"


def _tells(name: str) -> bool:
    return not (_BLOB.match(name) or _SAYS_NOTHING.match(name.strip(". ")))
