"""A conversation that has outgrown the context: refused, or which of its oldest turns are left out.

What is left out depends on the messages and the settings alone, never on what was sent before, so the same messages
give the same answer in any process. It is left out by rendering the shorter conversation anew: nothing is cut in the
middle of a turn and no position is shifted.

The cut moves in steps. If each message pushed out just enough for itself, the prompt would begin elsewhere every time
and nothing of it could be reused. Instead at least a multiple of a quarter of the room is left out, so the beginning
stays where it is until a quarter of the room has been filled again.
"""

from __future__ import annotations

import bisect
import contextlib
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.prompt import Prompt
from engine.protocol import GenerateSettings, Message, Outgrown

STEPS = 4
"""The beginning moves each time this part of the room has been filled anew."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A prompt that fits. ``dropped``: oldest messages left out; ``note``: the same in words, None when there are
    none."""

    prompt: Prompt
    dropped: int = 0
    note: str | None = None


class TooLarge(Exception):
    """Nothing (more) may be left out and it still does not fit. ``tokens``: the length of ``what`` has to be sent."""

    def __init__(self, tokens: int, what: str = "The conversation") -> None:
        super().__init__(tokens)
        self.tokens, self.what = tokens, what
        self.dropped, self.left = 0, tokens
        """See :class:`~engine.protocol.Outgrown`."""

    def outgrown(self, size: int) -> Outgrown:
        """The same for whoever has to decide what becomes of the conversation."""
        return Outgrown(tokens=self.tokens, context=size, dropped=self.dropped, left=self.left)

    def sentence(self, size: int) -> str:
        """What people read, with both numbers."""
        return (
            f"{self.what} is {self.tokens:,} tokens long and the context holds {size:,}. "
            "Nothing was sent or lost: shorten the message, start a new chat, or use a larger context."
        )

    def figures(self, size: int) -> str:
        """Both numbers for the details pane."""
        return f"prompt {self.tokens} tokens, context {size} tokens"


def fit(
    settings: GenerateSettings, render: Callable[[Sequence[Message]], Prompt], size: int, so_far: int = 0
) -> Fitted:
    """The conversation as a prompt that leaves room for a token in a context of ``size``, by the policy that
    ``settings.overflow`` names. Raises TooLarge, and what ``render`` raises.

    ``so_far``: tokens of an answer to be continued, which stand behind the prompt and are never left out. As long as
    they fit behind the prompt that they were begun with, that prompt stays, and with it the whole answer.
    """
    if settings.overflow == "drop-oldest":
        drop = functools.partial(drop_oldest, settings.messages, render, size=size, max_tokens=settings.max_tokens)
        if so_far:
            with contextlib.suppress(TooLarge):
                begun_with = drop()
                if _fits(begun_with.prompt, so_far, size):
                    return begun_with
        return drop(so_far=so_far)
    prompt = render(settings.messages)
    if not _fits(prompt, so_far, size):
        refused = _too_large(prompt, so_far, "The conversation")
        dropping = settings.model_copy(update={"overflow": "drop-oldest"})
        try:
            shorter = fit(dropping, lambda said: prompt if said is settings.messages else render(said), size, so_far)
            refused.dropped, refused.left = shorter.dropped, len(shorter.prompt.ids) + so_far
        except TooLarge as still:
            refused.left = still.tokens
        raise refused
    return Fitted(prompt)


def _fits(prompt: Prompt, so_far: int, size: int) -> bool:
    """Whether another token can follow. The last one of an answer needs no room, so an answer can be continued until
    the window is full; one that has still to begin is not asked for with a full one."""
    return len(prompt.ids) + so_far < size + (so_far > 0)


def _too_large(prompt: Prompt, so_far: int, what: str) -> TooLarge:
    return TooLarge(len(prompt.ids) + so_far, f"{what} with the answer so far" if so_far else what)


def reserve_for_answer(size: int, max_tokens: int | None) -> int:
    """Tokens of a context of ``size`` that ``drop-oldest`` keeps free: what the answer may be long at most, if that is
    asked for and leaves half of the context to the conversation; else a quarter."""
    return max_tokens if max_tokens is not None and max_tokens <= size // 2 else size // 4


def drop_oldest(
    messages: Sequence[Message],
    render: Callable[[Sequence[Message]], Prompt],
    *,
    size: int,
    max_tokens: int | None,
    so_far: int = 0,
) -> Fitted:
    """Leave out as many of the oldest turns (a user message and what follows it) as it takes to keep the reserve.

    System messages and the last user message with all behind it always stay; if they fit the context but not beside
    the reserve, the answer has what room there is. ``so_far``: tokens of the answer that stand behind the prompt.
    Renders about log2(turns) times. Raises TooLarge, and what ``render`` raises.
    """
    whole = render(messages)
    total = len(whole.ids) + so_far
    reserve = reserve_for_answer(size, max_tokens)
    room = size - reserve
    if total <= room:
        return Fitted(whole)
    system = [message for message in messages if message.role == "system"]
    spoken = [message for message in messages if message.role != "system"]
    cuts = [i for i, message in enumerate(spoken) if message.role == "user" and i > 0]

    @functools.cache
    def without(cut: int) -> Prompt:
        return render([*system, *spoken[cut:]])

    if not cuts:
        if not _fits(whole, so_far, size):
            raise _too_large(whole, so_far, "The conversation")
        return Fitted(whole)
    step = max(1, room // STEPS)
    wanted = -(-(total - room) // step) * step
    place = bisect.bisect_left(cuts, wanted, key=lambda cut: len(whole.ids) - len(without(cut).ids))
    cut = cuts[min(place, len(cuts) - 1)]
    prompt = without(cut)
    if not _fits(prompt, so_far, size):
        last = "The last message with the system prompt" if system else "The last message"
        raise _too_large(prompt, so_far, f"{last} and" if so_far and system else last)
    return Fitted(prompt, cut, _note(cut, total, size, reserve))


def _note(dropped: int, total: int, size: int, reserve: int) -> str:
    which = "the oldest message was" if dropped == 1 else f"the {dropped} oldest messages were"
    note = f"{which} left out: the conversation is {total:,} tokens long, the context holds {size:,}"
    return note if total >= size else f"{note}, {reserve:,} of them kept for the answer"
