"""What looking for models yields, whoever keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from app.library.walk import LeftOut

OURS: Final = "models folder"
PACKAGE: Final = "Python package"
ADDED: Final = "added folder"
HUB: Final = "hub cache"
LM_STUDIO: Final = "LM Studio"
OLLAMA: Final = "Ollama"
LLAMA_CPP: Final = "llama.cpp"
JAN: Final = "Jan"
NAMED: Final = "named by its path"

DOWNLOADING: Final = (HUB, LM_STUDIO, OLLAMA, LLAMA_CPP, JAN)
"""Tools that may have begun a download and can finish it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that may be a model. ``name``: what its tool calls it, where the path does not say. ``renamed``: it does
    not bear its own name there, so the parts of a cut model cannot be found."""

    path: Path
    origin: str
    name: str | None = None
    renamed: bool = False


Found = Candidate | LeftOut


class Place(Protocol):
    """Somewhere models are kept. Looking never fails and never changes anything."""

    @property
    def origin(self) -> str:
        """Whose place it is, for people."""

    def find(self) -> Iterator[Found]:
        """What lies there now; nothing, where the place does not exist."""
