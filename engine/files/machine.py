"""What this machine has to hold a model with, and what it is doing, for whoever looks without loading anything."""

from __future__ import annotations

from engine.machine import available_memory, usable_cores
from engine.processors import PROC, busy_seconds, process_seconds

__all__ = ["PROC", "available_memory", "busy_seconds", "process_seconds", "usable_cores"]

# The app may look into engine.files and not into the engine itself; these load nothing and need no library.
