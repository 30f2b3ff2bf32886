"""Downloads that go on behind the chat: a small sign in its header, and a word when one has ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from textual.timer import Timer

from app.library.records import ENDED, Getting, Library, Phase
from app.library.words import ended_words
from app.percent import written
from app.tui.keymap import key_of
from app.tui.widgets.header import Header
from app.tui.widgets.notice import Severity

if TYPE_CHECKING:
    from textual.app import App

    from app.tui.screens.chat import ChatScreen

LOOK_SECONDS: Final = 1.0


class DownloadWatch:
    """Looks once a second while something is being fetched, and not at all otherwise."""

    def __init__(self, app: App[None], library: Library, chat: Callable[[], ChatScreen | None]) -> None:
        self._library = library
        self._chat = chat
        self._before: dict[str, Phase] = {}
        self._timer: Timer = app.set_interval(LOOK_SECONDS, self.look, pause=True)

    def begin(self) -> None:
        """Something has begun or goes on."""
        self.look()
        self._timer.resume()

    def look(self) -> None:
        """Update the sign, and say what has ended since the last look."""
        chat = self._chat()
        if chat is None or not chat.opened:
            return
        if not (header := chat.query(Header)):
            return  # the app is being closed
        downloads = list(self._library.downloads())
        before, self._before = self._before, {getting.key: getting.phase for getting in downloads}
        header.first().getting = sign(downloads)
        for getting in downloads:
            if before.get(getting.key) in ENDED and getting.phase is not before[getting.key]:
                chat.notices.take_back(getting.key)  # another try has begun
            if before.get(getting.key) in (None, getting.phase) or not getting.ended:
                continue
            words = ended_words(getting)
            if getting.phase is Phase.DONE:
                chat.notices.also(f"{words}; choose it with {key_of('chat.models')}.", "information", about=getting.key)
            else:
                severity: Severity = "warning" if getting.phase is Phase.FAILED else "information"
                chat.notices.also(words, severity, about=getting.key)
        if not any(getting.running for getting in downloads):
            self._timer.pause()


def sign(downloads: Sequence[Getting]) -> str:
    """``↓ 41 %``: the share of all bytes that are being fetched; empty when none are."""
    moving = [getting for getting in downloads if getting.running]
    total = sum(getting.total for getting in moving)
    if not total:
        return "↓ …" if moving else ""
    share = min(99, int(100 * sum(getting.done for getting in moving) / total))
    stalled = all(getting.phase is Phase.STALLED or getting.silent for getting in moving)
    return f"↓ {written(share)}" + (" no data" if stalled else "")
