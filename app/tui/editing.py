"""A message that is in the composer again, to be said otherwise; what stood there before waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.chats.records import Unsent
from app.tui.commands import typed_as

if TYPE_CHECKING:
    from app.tui.conversation import OpenChat, Turn
    from app.tui.stage import Stage

KEPT: Final = "What you changed is kept for now: e on that message brings it back."


class Editing:
    """``turn`` is the message whose text is in the composer: what is sent next becomes a variant of it."""

    def __init__(self, stage: Stage) -> None:
        self.turn: Turn | None = None
        self.waiting = Unsent()
        """What stood in the composer before: this, and not what it holds now, is the chat's unsent text."""
        self.came_back = ""
        """What the message had become when it was sent and refused: it must not get lost with the process."""
        self._stage = stage
        self._left: dict[int, Unsent] = {}
        """Message -> what it had become when its editing was left."""

    def begin(self, turn: Turn, text: str | None = None) -> None:
        """Put ``text`` into the composer, by default what ``turn`` says or had become."""
        assert turn.message is not None
        self.leave()
        left = self._left.pop(turn.message.id, None)
        self.waiting = self._stage.take_unsent()
        self.turn = turn
        self.came_back = typed_as(text) if text is not None else ""
        composer = self._stage.composer
        if text is None and left is not None:
            composer.restore(left)
        else:
            composer.give_back(typed_as(turn.text if text is None else text))
        self._stage.show_editing(turn)

    def leave(self) -> None:
        """Without sending: the composer holds again what it held before."""
        turn = self.turn
        if turn is not None and turn.message is not None:
            left = self._stage.take_unsent()
            if left.text.strip() and left.text != typed_as(turn.text):
                self._left[turn.message.id] = left
                self._stage.say(KEPT)
            self.end()

    def end(self) -> None:
        """It was sent, or left: the composer holds again what it held before, and what was typed since."""
        self.turn, self.came_back = None, ""
        unsent, self.waiting = self.waiting.above(self._stage.take_unsent()), Unsent()
        self._stage.put_unsent(unsent)
        self._stage.show_editing(None)

    def follow(self, chat: OpenChat) -> None:
        """Another chat or branch is on screen: leave what is not in it."""
        if self.turn is not None and self.turn.message is not None and chat.position(self.turn.message.id) is None:
            self.leave()
