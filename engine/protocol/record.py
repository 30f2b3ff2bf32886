"""What all records share: they are frozen, know no other fields, and use these words."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict
from pydantic_core import PydanticCustomError

from engine.files.limits import contexts_words, wrong_context

SpeculationMode = Literal["off", "lookup", "draft", "auto"]
ExactnessMode = Literal["auto", "exact", "fast"]
FinishReason = Literal["stop", "length", "cancelled"]
LoadingWhat = Literal["target", "draft"]
GpuLayers = int | Literal["auto", "all"]
Rollback = Literal["full", "bounded", "none"]
"""What a model's memory can take back: a tail of any length, a few tokens of the last pass, or nothing."""
Overflow = Literal["stop", "drop-oldest"]
"""What becomes of a conversation that outgrows the context: it is refused, or its oldest turns are left out."""

Thinking = Literal["none", "always", "switchable"]
"""Whether a model thinks before it answers: not that its chat template says, always, or as the request says."""


def _possible(context: int) -> int:
    """One bound alone would leave the person to find out the other."""
    if wrong_context(context) is not None:
        raise PydanticCustomError("context_size", "Input should be {possible}", {"possible": contexts_words()})
    return context


ContextSize = Annotated[int, AfterValidator(_possible)]
"""Tokens of a context window that is asked for."""


class Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
