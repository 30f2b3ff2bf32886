"""What can be done to a single turn: the selected one, or without a selection the last answer.

Keys, the mouse, and commands (typed, or chosen in the palette) end up in :meth:`TurnScreen.do`;
:meth:`TurnScreen.why_not` says what works.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from textual import on

from app.chats.proof import NO_TOKENS, no_proof
from app.tui import continuing
from app.tui.background import aside
from app.tui.branching import WRITING
from app.tui.keymap import with_keys
from app.tui.screens.selecting import SelectingScreen
from app.tui.widgets.code_label import CodeLabel
from app.tui.widgets.editing_row import EditingRow
from app.tui.widgets.selectable_turn import EDITED, SelectableTurn
from app.tui.widgets.turns import AnswerTurn, UserTurn

if TYPE_CHECKING:
    from app.tui.conversation import Turn
    from app.tui.dialogue import Dialogue
    from app.tui.screens.chat import ChatScreen

NOTHING: Final = "Nothing has been answered yet."
NOT_AT_END: Final = "The last answer is not on screen: {chat.latest} goes there, {chat.select_up} selects a turn here."
NOT_SENT: Final = "This message waits to be sent."
ONLY_YOURS: Final = "Only a message of yours can be edited; {turn.again} asks for another answer."
NO_TEXT: Final = "There is no text here yet."
NO_RECEIPT: Final = "There is no answer with figures yet."
NO_BLOCK: Final = "There is no code block here."
ONE_VARIANT: Final = "There is no other variant: {turn.again} makes one of an answer, {turn.edit} one of a message."


class TurnScreen(SelectingScreen):
    """See the module's text."""

    dialogue: Dialogue

    async def show_chat(self) -> None:
        """Draw the open chat from its end."""
        raise NotImplementedError

    def chat_shown(self) -> None:
        """The transcript shows another chat, or another branch."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------------- what can be done

    def target(self, name: str) -> SelectableTurn | None:
        """What ``name`` would be done to."""
        if self.selected is not None:
            return self.selected
        kind = UserTurn if name == "edit" else AnswerTurn
        views = (view for view in reversed(self.transcript.views) if isinstance(view, kind))
        if name == "receipt":
            return next((view for view in views if isinstance(view, AnswerTurn) and view.receipt.stats), None)
        return next(views, None)

    def why_not(self, name: str, number: int = 0) -> str:
        """Why ``name`` cannot be done now, in a sentence; empty when it can."""
        view, live = self.target(name), self.dialogue.live
        if self.selected is None and self.transcript.has_later:
            return with_keys(NOT_AT_END)
        if view is None:
            return NO_RECEIPT if name == "receipt" else NOTHING
        turn, is_live = view.turn, live is not None and view is live.view
        if turn.message is None and not is_live:
            return NOT_SENT
        match name:
            case "copy":
                return "" if self._text(view).strip() else NO_TEXT
            case "block":
                blocks = self._count_blocks(view)
                return "" if number <= blocks else f"There is no code block {number} here." if blocks else NO_BLOCK
            case "receipt":
                if isinstance(view, AnswerTurn) and view.receipt.stats:
                    return ""
                return no_proof(turn.figures) if turn.figures else NO_RECEIPT
            case "save" if not is_live:
                return "" if turn.text.strip() else NO_TEXT
        if live is not None:
            return with_keys(WRITING)
        match name:
            case "edit" if not isinstance(view, UserTurn):
                return with_keys(ONLY_YOURS)
            case "go_on":
                return continuing.why_not(turn)
            case "previous" | "next" if turn.variant is None:
                return with_keys(ONE_VARIANT)
            case "replay":
                return no_proof(turn.figures) or ("" if turn.figures and turn.figures.token_ids else NO_TOKENS)
        return ""

    def why_not_action(self, parameters: tuple[object, ...]) -> str:
        """:meth:`why_not` for the parameters of a key's action."""
        match parameters:
            case (str(name), int(number)):
                return self.why_not(name, number)
            case (str(name),):
                return self.why_not(name)
        return ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The footer shows what works now."""
        match action, parameters:
            case "turn", _:
                return not self.why_not_action(parameters)
            case "select", _:
                return bool(self.transcript.views)
            case "leave_edit", _:
                return self.dialogue.editing.turn is not None and self.selected is None
        return True

    # ---------------------------------------------------------------------------------------------------- doing it

    def action_turn(self, name: str, number: int = 0) -> None:
        """Keys come here in the app's task; what draws belongs into the screen's."""
        self.call_next(self.do, name, number)

    async def do(self, name: str, number: int = 0) -> None:
        """Do ``name`` (``again``, ``go_on``, ``edit``, ``previous``, ``next``, ``copy``, ``receipt``, ``replay``,
        ``save``, or ``block`` with a number from 1) to :meth:`target`, or say why not."""
        view, reason = self.target(name), self.why_not(name, number)
        if view is None or reason:
            self.say(reason)
            return
        match name:
            case "copy":
                self.copy_text(self._text(view))
            case "block":
                self._copy_block(view, number - 1)
            case "receipt" if isinstance(view, AnswerTurn):
                self.post_message(AnswerTurn.ReceiptWanted(view))
            case "save":
                self.run_worker(self._save(view.turn.text), name="save", group="save", exit_on_error=False)
            case "replay":
                self._replay()
            case "again":
                self.action_deselect()
                await self.dialogue.branching.regenerate(view.turn)
            case "go_on":
                self.action_deselect()
                await self.dialogue.branching.continue_(view.turn)
            case "edit":
                self.action_deselect()
                self.dialogue.branching.edit(view.turn)
            case "previous" | "next":
                await self.dialogue.branching.show_sibling(view.turn, -1 if name == "previous" else 1)

    def _replay(self) -> None:
        from app.tui.replaying import open_replay  # not before it is wanted

        if reason := open_replay(cast("ChatScreen", self), "as-was"):
            self.say(reason, "warning")

    @on(SelectableTurn.SiblingWanted)
    async def _sibling_wanted(self, event: SelectableTurn.SiblingWanted) -> None:
        await self.dialogue.branching.show_sibling(event.view.turn, event.step)

    async def show_branch(self, instead_of: int, message_id: int) -> None:
        """The chat's path goes through ``message_id`` now, no longer through ``instead_of``. What is above stays."""
        transcript, at = self.transcript, self.dialogue.chat.position(message_id)
        gone = transcript.from_message(instead_of)
        if at is None or not gone:
            await self.show_chat()
            return
        with self.app.batch_update():
            fresh = await transcript.add_from(at)
            if fresh and self.selected is gone[0]:
                self.select(fresh[0])
            await transcript.take_away(gone)
        self.chat_shown()

    # ------------------------------------------------------------------------------------------------------ editing

    def show_editing(self, turn: Turn | None) -> None:
        """``turn`` is in the composer, to be said otherwise."""
        self.query_one(EditingRow).display = turn is not None
        for view in self.transcript.views:
            view.set_class(turn is not None and view.turn is turn, EDITED)
        self.refresh_bindings()

    def action_leave_edit(self) -> None:
        self.dialogue.editing.leave()

    # ------------------------------------------------------------------------------------------------ text and code

    def _text(self, view: SelectableTurn) -> str:
        """What was said, as it was said, without thoughts; of a running answer what has arrived."""
        live = self.dialogue.live
        if live is not None and view is live.view:
            return live.answer.thinking.spoken(live.answer.whole)
        return view.spoken if isinstance(view, AnswerTurn) else view.turn.text

    def _count_blocks(self, view: SelectableTurn) -> int:
        return len(view.query(CodeLabel))

    def copy_text(self, text: str, what: str = "") -> None:
        """To the clipboard, wherever there is one; a notice says where. ``what``: which part it is."""
        self.app.copy_to_clipboard(text)
        self.run_worker(self._tell_copied(what), name="copied", group="copied", exit_on_error=False)

    async def _tell_copied(self, what: str) -> None:
        if self.slipstream.copied is not None:
            self.say((await self.slipstream.copied).sentence(what))

    def _copy_block(self, view: SelectableTurn, number: int) -> None:
        from app.tui.code_blocks import original_code

        fences = [label.fence for label in view.query(CodeLabel)]
        which = f"code block {number + 1} of {len(fences)}" if len(fences) > 1 else "the code block"
        parser = fences[number]._markdown._parser_factory
        self.copy_text(original_code(self._text(view), [fence.code for fence in fences], number, parser), which)

    @on(CodeLabel.CopyWanted)
    def _code_wanted(self, event: CodeLabel.CopyWanted) -> None:
        view = SelectableTurn.around(event.label)
        self._copy_block(view, [*view.query(CodeLabel)].index(event.label))

    async def _save(self, text: str) -> None:
        from app.saving import NotSaved, save_text

        try:
            file = await aside(save_text, text, self.dialogue.chat.title, self.slipstream.save_folder)
        except NotSaved as error:
            self.say(str(error), "warning")
        else:
            self.say(f"Saved {len(text):,} characters: {file}")
