"""What this machine has to hold a model with, for whoever judges files without loading them."""

from __future__ import annotations

from engine.machine import available_memory, usable_cores

__all__ = ["available_memory", "usable_cores"]

# The app may look into engine.files and not into the engine itself; these two load nothing and need no library.
