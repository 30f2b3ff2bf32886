"""What all records share: they are frozen, know no other fields, and use these words."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

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


class Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
