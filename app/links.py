"""Links that lead nowhere, such as to a disk that is not there: the system says of them that something exists, or that
nothing does."""

from __future__ import annotations

from pathlib import Path
from typing import Final

NOWHERE: Final = "it is a link that leads nowhere"


def dead_link(path: Path) -> Path | None:
    """The link without a target that ``path`` is or lies behind; None where there is none."""
    for place in (path, *path.parents):
        try:
            if place.is_symlink():
                return None if place.exists() else place
        except OSError:  # a folder that may not be looked into
            return None
    return None


def no_folder_words(error: OSError, folder: Path) -> str:
    """Why there is no such folder and none can be made, in a few words: ``permission denied``."""
    dead = dead_link(folder)
    if dead is None:
        return (error.strerror or str(error)).lower()
    return NOWHERE if dead == folder else f"{dead} is a link that leads nowhere"
