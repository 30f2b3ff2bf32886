"""The chat gone on with otherwise: another answer, the rest of one, a message said anew, and the variants there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.chats.records import StoreError
from app.tui import continuing
from app.tui.asked_again import SAME_AGAIN, comes_again, question_of
from app.tui.keymap import with_keys
from app.tui.live import Beside

if TYPE_CHECKING:
    from app.tui.conversation import Turn
    from app.tui.dialogue import Dialogue
    from app.tui.stage import Stage

WRITING: Final = "An answer is being made: {chat.stop} stops it, then this works."
CHANGED: Final = "Another Slipstream has written here meanwhile. This is how the chat is now: look, then press again."
GONE: Final = "This turn is not in the chat any more; the chat is shown as it is now."


class Branching:
    """One for each dialogue."""

    def __init__(self, dialogue: Dialogue, stage: Stage) -> None:
        self._dialogue = dialogue
        self._stage = stage

    async def regenerate(self, turn: Turn) -> None:
        """Another answer to the message that ``turn`` answers, or is. What was there stays as a variant."""
        question = question_of(turn)
        if question is not None and await self.possible():
            if comes_again(self._stage.settings()):
                self._stage.say(SAME_AGAIN)
            await self._answer_again(question)

    async def continue_(self, turn: Turn) -> None:
        """Go on with an answer that was cut short. What was there stays as a variant."""
        if reason := continuing.why_not(turn):
            self._stage.say(reason)
        elif turn.message is not None and turn.message.parent is not None and await self.possible():
            await self._answer_again(turn.message.parent, goes_on=turn)

    async def _answer_again(self, question_id: int, goes_on: Turn | None = None) -> None:
        dialogue, stage = self._dialogue, self._stage
        beside = Beside(dialogue.chat.leaf, goes_on=goes_on, written=stage.composer.document.text)
        question = dialogue.chat.go_back_to(question_id)
        if question is not None:
            dialogue.editing.follow(dialogue.chat)
            await dialogue.ask(question, beside, goes_on, stage.transcript.from_message(question_id)[1:])

    def edit(self, turn: Turn) -> None:
        """Put what the user said into the composer, to be said otherwise."""
        if self._dialogue.live is not None:
            self._stage.say(with_keys(WRITING))
        elif turn.message is not None:
            self._dialogue.editing.begin(turn)

    async def show_sibling(self, turn: Turn, step: int) -> None:
        """The variant of ``turn`` that is ``step`` further, with what was said behind it last."""
        dialogue = self._dialogue
        if dialogue.live is not None:
            self._stage.say(with_keys(WRITING))
            return
        if turn.message is None:
            return
        try:
            variants = [message.id for message in dialogue.store.siblings(turn.message.id)]
            at = variants.index(turn.message.id) + step
            if 0 <= at < len(variants):
                dialogue.chat.show_branch(variants[at])
                await self._stage.show_branch(turn.message.id, variants[at])
        except StoreError:  # another instance took it back
            await self._look_again()

    async def possible(self) -> bool:
        """Whether the chat can be gone on with otherwise now; says why not."""
        dialogue, stage = self._dialogue, self._stage
        if dialogue.live is not None:
            stage.say(with_keys(WRITING))
            return False
        if dialogue.answering.load is None and dialogue.answering.state.pair is None:
            stage.say_no_model()
            return False
        if dialogue.chat.read_again():
            await stage.show_chat()
            stage.say(CHANGED, "warning")
            return False
        stage.notices.clear()
        return True

    async def _look_again(self) -> None:
        self._dialogue.chat.read_again()
        await self._stage.show_chat()
        self._stage.say(GONE, "warning")
