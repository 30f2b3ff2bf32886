"""The user's own switch against the network, read as the hub's library reads it."""

from __future__ import annotations

import os
from typing import Final

SWITCHES: Final = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
"""The first that is set counts."""

_ON: Final = {"1", "ON", "YES", "TRUE"}


def network_is_off() -> str | None:
    """The environment variable by which the user forbids requests to the hub; None where none does."""
    name = next((name for name in SWITCHES if os.environ.get(name)), None)
    return name if name is not None and os.environ[name].upper() in _ON else None
