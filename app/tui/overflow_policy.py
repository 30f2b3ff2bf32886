"""What becomes of a chat that outgrows the context: what is said for all chats, and for one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, get_args

from engine.protocol import Overflow

Policy = Literal["ask", "stop", "drop-oldest"]

OVERFLOW: Final = "overflow"
"""Its name among what a chat does otherwise than the defaults."""
NO_MODEL: Final = "No model is loaded, so there is no context yet."
POLICIES: Final[tuple[Policy, ...]] = get_args(Policy)
MEANINGS: Final[dict[Policy, str]] = {
    "ask": "you are asked what to do",
    "stop": "nothing is sent, and the reason is said",
    "drop-oldest": "the model sees the newest turns only; all stay in the chat",
}


def policy_of(default: Policy, own: Mapping[str, object]) -> Policy:
    """What holds for a chat; a word that is not known (any more) counts as none."""
    return next((policy for policy in POLICIES if policy == own.get(OVERFLOW)), default)


def for_engine(policy: Policy) -> Overflow:
    """Who is asked must be asked first, so the engine refuses."""
    return "drop-oldest" if policy == "drop-oldest" else "stop"
