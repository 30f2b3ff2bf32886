"""``/context`` and ``/overflow``: how full the context is, another size for it, what becomes of a chat that is full."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, cast

from app.clean import clean_line
from app.tui.chat_settings import DEFAULT
from app.tui.commands import Command, RefusedError
from app.tui.overflow_policy import MEANINGS, NO_MODEL, OVERFLOW, POLICIES, Policy, policy_of
from app.tui.suggestion import Suggestion
from engine.files.limits import contexts_words, wrong_context

if TYPE_CHECKING:
    from app.tui.screens.chat import ChatScreen
    from app.tui.surface import Surface

_SIZE: Final = re.compile(r"(\d{1,4}(?:[,.]?\d{3})*)(k?)")


async def set_window(surface: Surface, argument: str) -> None:
    """``/context N`` loads the model with another window; without a number the question opens."""
    screen = cast("ChatScreen", surface)
    pair = screen.answering.state.pair
    if pair is None:
        raise RefusedError(NO_MODEL)
    if not argument:
        screen.overflowing.show()
        return
    size, stays = read_size(argument), f"It stays {pair.context:,}."
    if size is None or wrong_context(size) is not None:
        shown = clean_line(argument, 40)
        raise RefusedError(f"/context takes {contexts_words()}, as in 16384 or 16k, not {shown}. {stays}")
    if size == pair.context:
        raise RefusedError(f"The context has {size:,} tokens already.")
    window = (await screen.overflowing.windows(pair)).judge(size)
    if window.why_not:
        raise RefusedError(f"A context of {size:,} tokens is not possible: {window.why_not}. {stays}")
    screen.reply(screen.overflowing.widen(size))


def read_size(typed: str) -> int | None:
    """``16384``, ``16,384`` or ``16k``; None where it is no number."""
    match = _SIZE.fullmatch(typed.strip().casefold())
    if match is None:
        return None
    return int(re.sub(r"[,.]", "", match[1])) * (1024 if match[2] else 1)


def set_overflow(screen: Surface, argument: str) -> None:
    """``/overflow ask|stop|drop-oldest|default``: for this chat."""
    before = _policy(screen)
    if not argument:
        screen.reply(f"overflow is {before}: when this chat is full, {MEANINGS[before]}.")
        return
    wanted, own = argument.casefold(), dict(screen.chat.conversation.settings)
    if wanted == DEFAULT:
        own.pop(OVERFLOW, None)
    elif wanted in POLICIES:
        own[OVERFLOW] = wanted
    else:
        words = f"/overflow takes {', '.join(POLICIES)} or {DEFAULT}, not {clean_line(argument, 40)}."
        raise RefusedError(f"{words} It stays {before}.")
    screen.keep_settings(own)
    now = _policy(screen)
    became = f"is {now} already" if now == before else f"{before} → {now}"
    screen.reply(f"overflow {became}, in this chat: when it is full, {MEANINGS[now]}.")


def _policy(screen: Surface) -> Policy:
    return policy_of(screen.slipstream.overflow, screen.chat.conversation.settings)


def suggest_overflow(screen: Surface) -> Sequence[Suggestion]:
    default = screen.slipstream.overflow
    rows = [Suggestion(policy, policy, meaning) for policy, meaning in MEANINGS.items()]
    return [*rows, Suggestion(DEFAULT, DEFAULT, f"{default}, as for every chat")]


CONTEXT: Final = Command(
    "context",
    "Context",
    "how full it is; another size for it",
    set_window,
    "[N]",
    available=lambda screen: screen.answering.state.pair is not None,
    why_not=lambda screen: NO_MODEL,
    slow=True,
    where="screen",
    instead="slipstream chat --plain --context N opens the chat with another size.",
)

OVERFLOW_COMMAND: Final = Command(
    "overflow",
    "When the context is full",
    "ask, stop, or leave the oldest turns out",
    set_overflow,
    "ask|stop|drop-oldest",
    complete=suggest_overflow,
    asks=True,
    where="both",
)
