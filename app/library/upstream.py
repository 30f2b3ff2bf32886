"""Which file of which repository it is that another tool fetched, as far as its place says."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.library.found import HUB, LLAMA_CPP, LM_STUDIO
from app.library.llama_cpp import fetched_from

_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_REPO: Final = "models--"


@dataclass(frozen=True, slots=True)
class Upstream:
    """A file of a repository on the hub. ``path``: inside the repository. ``sha256``: None where the place does not say
    it."""

    repo: str
    path: str
    sha256: str | None = None


def upstream(file: Path, origin: str) -> Upstream | None:
    """Of ``models--OWNER--REPO/snapshots/COMMIT/PATH``, a link to a blob that is called by its hash, of LM Studio's
    ``OWNER/REPO/FILE``, and of what llama.cpp's old cache notes; None where nothing is known."""
    names = file.parts
    if origin == LM_STUDIO and len(names) > 3:
        return Upstream("/".join(names[-3:-1]), names[-1])
    if origin == LLAMA_CPP:
        return Upstream(*noted) if (noted := fetched_from(file)) is not None else None
    if origin != HUB or "snapshots" not in names:
        return None
    at = len(names) - 1 - names[::-1].index("snapshots")
    owner, _, repo = names[at - 1].removeprefix(_REPO).partition("--")
    if not names[at - 1].startswith(_REPO) or not repo or len(names) < at + 3:
        return None
    blob = os.path.basename(os.path.realpath(file))
    return Upstream(f"{owner}/{repo}", "/".join(names[at + 2 :]), blob if _SHA256.fullmatch(blob) else None)
