"""JSON that somebody else may have written."""

from __future__ import annotations

import json
from typing import Any


def parsed(text: str | bytes) -> Any:
    """What ``text`` says. Raises ValueError, and nothing else, where it is no JSON, no UTF-8, or nested more deeply
    than Python reads."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
