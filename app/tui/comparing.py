"""What is compared from the chat: its last request, plainly and as the next answer would be made."""

from __future__ import annotations

import secrets
from functools import partial
from typing import TYPE_CHECKING, Final

from app.clean import clean_line
from app.tui.chat_settings import system_prompt

if TYPE_CHECKING:
    from app.compare.conduct import Comparison
    from app.compare.ways import Way
    from app.tui.screens.chat import ChatScreen

NOTHING_TO_COMPARE: Final = "There is nothing to compare yet: ask something, and let the answer end."
COMPARED_TOKENS: Final = 256
"""Of an answer without a limit, so much is compared."""


def may_compare(screen: ChatScreen) -> bool:
    """Whether there is a request to compare with, and an engine that does nothing else."""
    idle = screen.dialogue.live is None and screen.answering.state.pair is not None
    return idle and bool(screen.chat.last_question())


def comparison(screen: ChatScreen) -> tuple[Comparison, str, int] | None:
    """What to compare; the request's words; the context. None: nothing."""
    chat, load, pair = screen.chat, screen.answering.load, screen.answering.state.pair
    if not may_compare(screen) or load is None or pair is None:
        return None
    from app.compare.conduct import Comparison  # not before it is wanted
    from app.compare.ways import Way

    mode = "auto" if screen.mode == "off" else screen.mode
    settings = screen.settings()
    changes = {
        "messages": chat.prompt(system_prompt(screen.system_prompt, chat.conversation.settings), question=True),
        "seed": settings.seed if settings.seed is not None else secrets.randbelow(2**31),
        "max_tokens": settings.max_tokens or COMPARED_TOKENS,
    }
    wanted = settings.model_copy(update=changes)
    return Comparison((Way("off"), Way(mode, settings.draft_max)), wanted, load), chat.last_question(), pair.context


def open_comparison(chat: ChatScreen) -> None:
    """Over the chat, which answers as is chosen there when it is back."""
    wanted = comparison(chat)
    if wanted is None:
        chat.say(NOTHING_TO_COMPARE)
        return
    from app.tui.local_drafts import local_drafts  # not before it is wanted
    from app.tui.screens.compare import CompareScreen, title_of

    compared, question, context = wanted
    app = chat.slipstream
    drafts = partial(local_drafts, app, compared.load) if app.has_library else None
    screen = CompareScreen(app.engine, compared, title_of(question), context, drafts)

    def back(way: Way | None) -> None:
        chat.keep_way(way, loaded_others=screen.loaded_others)
        if screen.left_behind:
            leave_behind(chat, screen.left_behind)

    app.push_screen(screen, back)


def leave_behind(chat: ChatScreen, words: str) -> None:
    """A line below the last answer, until the chat is opened anew: no hint, which would be gone in seconds."""
    from app.tui.widgets.turns import AnswerTurn, Plain

    view = next((view for view in reversed(chat.transcript.views) if isinstance(view, AnswerTurn)), None)
    if view is None:
        chat.reply(words)
    else:
        view.mount(Plain(clean_line(words, 1000), classes="remark"), after=view.receipt)
