"""What a lookup drafter could reach at most: one that knows, at every pass, how many of its proposals will hold.

The proposals are the engine's own lookup's; the lengths are chosen knowing the whole answer, so that the passes take
the least time in all. What auto stays below that is what its confidence cannot know; what the ceiling itself stays
below a target is in the text and in the cost of longer passes, and no pacing gets past it.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.drafters.lookup import LookupDrafter


def right_proposals(prompt: Sequence[int], answer: Sequence[int], longest: int) -> list[int]:
    """At each place of the answer, how many of lookup's proposals (at most ``longest``) come true.

    >>> right_proposals([1, 2, 3, 4, 9, 1, 2], [3, 4, 7], 3)
    [2, 1, 0]
    """
    lookup, history, found = LookupDrafter(), list(prompt), []
    lookup.begin(history)
    for place, token in enumerate(answer):
        proposed = lookup.draft(history, longest).tokens
        pairs = zip(proposed, answer[place:], strict=False)
        found.append(
            next((i for i, (one, other) in enumerate(pairs) if one != other), min(len(proposed), len(answer) - place))
        )
        history.append(token)
    return found


def ceiling(prompt: Sequence[int], answer: Sequence[int], verify: Sequence[float]) -> float:
    """How many times as fast as plain decoding the answer could be made. ``verify``: the times of passes over 1, 2, ...
    tokens, in any unit.

    >>> ceiling([1, 2, 3, 4, 9, 1, 2], [3, 4, 7], [1.0, 1.5, 1.8])
    1.666...
    """
    if not answer:
        return 1.0
    right = right_proposals(prompt, answer, len(verify) - 1)
    least = [0.0] * (len(answer) + 1)  # the time of what is left from each place on
    for place in reversed(range(len(answer))):
        longest = min(right[place], len(answer) - place - 1)
        least[place] = min(verify[k] + least[place + k + 1] for k in range(longest + 1))
    return len(answer) * verify[0] / least[0]
