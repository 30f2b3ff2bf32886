"""The words that cross the process boundary: requests in, events out, one JSON object a line.

Every request carries an ``id`` chosen by the client; every event carries the ``id`` of the request it belongs to
(0: the process itself). Events of one request end with exactly one :class:`Loaded`, :class:`Finished`,
:class:`Described`, :class:`SelfTested`, :class:`Replayed`, :class:`Counted` or :class:`Failed`.
"""

from __future__ import annotations

import json

from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic_core import PydanticSerializationError

from engine.protocol.events import (
    Counted,
    Described,
    Event,
    Failed,
    Finished,
    Loaded,
    Loading,
    PairChanged,
    Prefilling,
    Progress,
    Ready,
    Replayed,
    SelfTested,
    Started,
    TextDelta,
)
from engine.protocol.record import (
    ContextSize,
    ExactnessMode,
    FinishReason,
    GpuLayers,
    LoadingWhat,
    Overflow,
    Rollback,
    SpeculationMode,
    Thinking,
)
from engine.protocol.requests import (
    AnswerSoFar,
    Cancel,
    Count,
    Describe,
    Generate,
    GenerateSettings,
    Load,
    LoadSettings,
    Message,
    ModelFile,
    Replay,
    Request,
    Sampling,
    SelfTest,
)
from engine.protocol.results import (
    PLAIN_ONLY,
    AttachedFile,
    Device,
    Difference,
    ErrorCode,
    ModelInfo,
    Outgrown,
    PairInfo,
    Receipt,
    SelfTestResult,
    TemplateInfo,
    ThoughtMarkers,
)

__all__ = [
    "EVENTS",
    "MAX_LINE_BYTES",
    "PLAIN_ONLY",
    "REQUESTS",
    "AnswerSoFar",
    "AttachedFile",
    "Cancel",
    "ContextSize",
    "Count",
    "Counted",
    "Describe",
    "Described",
    "Device",
    "Difference",
    "ErrorCode",
    "Event",
    "ExactnessMode",
    "Failed",
    "FinishReason",
    "Finished",
    "Generate",
    "GenerateSettings",
    "GpuLayers",
    "Load",
    "LoadSettings",
    "Loaded",
    "Loading",
    "LoadingWhat",
    "Message",
    "ModelFile",
    "ModelInfo",
    "Outgrown",
    "Overflow",
    "PairChanged",
    "PairInfo",
    "Prefilling",
    "Progress",
    "Ready",
    "Receipt",
    "Replay",
    "Replayed",
    "Request",
    "Rollback",
    "Sampling",
    "SelfTest",
    "SelfTestResult",
    "SelfTested",
    "SpeculationMode",
    "Started",
    "TemplateInfo",
    "TextDelta",
    "Thinking",
    "ThoughtMarkers",
    "encode",
]

MAX_LINE_BYTES = 16 * 1024 * 1024
"""Longest line either side accepts; asyncio's own default of 64 KiB cannot carry a pasted document."""

REQUESTS: TypeAdapter[Request] = TypeAdapter(Request, config=ConfigDict(defer_build=True))
EVENTS: TypeAdapter[Event] = TypeAdapter(Event, config=ConfigDict(defer_build=True))


def encode(record: BaseModel) -> bytes:
    """One JSON line, newline included. Lone surrogates become replacement marks: a line is always valid UTF-8."""
    try:
        return record.model_dump_json().encode() + b"\n"
    except PydanticSerializationError:  # text that came in by way of surrogateescape, or from a damaged file
        text = json.dumps(record.model_dump(mode="python"), ensure_ascii=False)
        return text.encode("utf-8", "replace") + b"\n"
