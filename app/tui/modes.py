"""The speculation modes, and which of them a pair can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engine.protocol import PairInfo, SpeculationMode

MODES: Final[tuple[SpeculationMode, ...]] = ("off", "lookup", "draft", "auto")


def reasons_against(pair: PairInfo | None) -> dict[SpeculationMode, str | None]:
    """Every mode -> None when it can be used for the next answer, else why not."""
    if pair is None:
        return {"off": None, "lookup": None, "draft": "no model is loaded yet", "auto": None}
    return pair.available()
