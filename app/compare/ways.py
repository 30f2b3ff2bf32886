"""Ways to make an answer: who proposes, how far, and with which draft model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final, get_args

from engine.protocol import GenerateSettings, LoadSettings, ModelFile, SpeculationMode

LONGEST: Final = 64
_WAY: Final = re.compile(r"(off|lookup|draft|auto)(?::(\d{1,3}))?(?:=(.+))?")
MODES: Final[tuple[SpeculationMode, ...]] = get_args(SpeculationMode)


class BadWay(ValueError):
    """``str()`` is the sentence for people."""


@dataclass(frozen=True, slots=True)
class Way:
    """``draft_max`` None: the engine's choice. ``draft`` None: the draft that is loaded, if any; empty: none."""

    mode: SpeculationMode
    draft_max: int | None = None
    draft: str | None = None

    @property
    def label(self) -> str:
        """``auto``, ``lookup:4``, ``draft Qwen3-0.6B-Q8_0``."""
        length = "" if self.draft_max is None else f":{self.draft_max}"
        return f"{self.mode}{length}" + (f" {PurePath(self.draft).stem}" if self.draft else "")

    def settings(self, wanted: GenerateSettings) -> GenerateSettings:
        """``wanted`` made in this way, from an empty history."""
        return wanted.model_copy(
            update={"speculation": self.mode, "draft_max": self.draft_max, "fresh": True},
        )

    def load(self, wanted: LoadSettings) -> LoadSettings:
        """``wanted`` with this way's draft, where it names one."""
        if self.draft is None:
            return wanted
        layers = wanted.draft.gpu_layers if wanted.draft else "auto"
        return wanted.model_copy(
            update={"draft": ModelFile(path=self.draft, gpu_layers=layers) if self.draft else None}
        )


def read_ways(text: str) -> tuple[Way, ...]:
    """``off,lookup:4,draft=FILE``: at least two different ones, in the order they are shown; the first is what the
    others are held against. Raises BadWay."""
    ways = tuple(_read(word.strip()) for word in text.split(",") if word.strip())
    if len(set(ways)) < len(ways):
        raise BadWay("A way to compare is named twice.")
    if len(ways) < 2:
        raise BadWay("At least two ways are needed to compare, for example: off,auto")
    return ways


def _read(word: str) -> Way:
    match = _WAY.fullmatch(word)
    if match is None:
        raise BadWay(
            f"{word[:40]!r} is no way to answer. Known: {', '.join(MODES)}; a length: lookup:4; a draft: auto=FILE"
        )
    length = None if match[2] is None else int(match[2])
    if length is not None and not 1 <= length <= LONGEST:
        raise BadWay(f"The longest draft must be 1 to {LONGEST} tokens, not {length}.")
    mode: SpeculationMode = next(mode for mode in MODES if mode == match[1])
    if mode == "off" and (length or match[3]):
        raise BadWay("Without speculation there is no draft to give a length or a file to.")
    if mode == "lookup" and match[3]:
        raise BadWay(
            "Lookup proposes from the text so far, so there is no draft to give a file to: draft=FILE, auto=FILE."
        )
    return Way(mode, length, match[3])
