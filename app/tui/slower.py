"""An answer that was slower than its like are here gets one quiet line below its figures, with the cause."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.chats.readonly import UnreadableStoreError
from app.clean import clean_line
from app.history.drop import judge
from app.history.past import read_past
from app.tui.background import aside
from app.tui.widgets.turns import Plain

if TYPE_CHECKING:
    from app.history.drop import Verdict
    from app.history.past import Mode
    from app.tui.live import LiveAnswer
    from app.tui.screens.chat import ChatScreen

log = logging.getLogger(__name__)

LOOKED_AT: Final = 400
"""The newest answers among which its like are looked for."""


class SpeedWatch:
    """Looks at every answer that has ended. A cause is told once, until an answer of that pair and mode is as fast as
    usual again."""

    def __init__(self, screen: ChatScreen, file: Path | None) -> None:
        """``file``: the store of chats; without one there is no history."""
        self._screen, self._file = screen, file
        self._told: set[tuple[tuple[str, str], Mode, str]] = set()

    def answered(self, live: LiveAnswer) -> None:
        """``live`` has ended and is kept."""
        message = live.turn.message
        if self._file is not None and message is not None and live.turn.figures is not None:
            self._screen.run_worker(self._look(live, message.id), group="speed", exit_on_error=False)

    async def _look(self, live: LiveAnswer, number: int) -> None:
        try:
            past = (await aside(read_past, self._file, LOOKED_AT)).answers
        except UnreadableStoreError as error:  # the store's own keeper tells of it, and mends it
            log.warning("an answer was not held against its like: %s", error)
            return
        answer = next((answer for answer in past if answer.id == number), None)
        verdict = judge(answer, past) if answer is not None else None
        if answer is None or verdict is None or not self._is_news(answer.marks, answer.mode, verdict):
            return
        if live.view.is_attached:
            await live.view.mount(Plain(clean_line(verdict.words, 200), classes="remark"), after=live.view.receipt)

    def _is_news(self, marks: tuple[str, str], mode: Mode, verdict: Verdict) -> bool:
        if verdict.cause is None:
            self._told = {told for told in self._told if told[:2] != (marks, mode)}
            return False
        this = (marks, mode, verdict.cause.kind)
        news = this not in self._told
        self._told.add(this)
        return news
