"""The state of the engine, as the worker that talks to it knows it."""

from __future__ import annotations

from dataclasses import dataclass

from engine.protocol import Failed, Loading, PairInfo


@dataclass
class EngineState:
    """What the header says about the engine."""

    pair: PairInfo | None = None
    loading: Loading | None = None
    is_loading: bool = False
    failure: Failed | None = None
    stopped: bool = False
    """It crashed; the next message starts it again."""
    instead_of: Failed | None = None
    """Why the pair that was asked for last is not the one that answers: it could not be loaded."""
