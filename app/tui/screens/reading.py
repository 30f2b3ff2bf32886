"""What can be looked at in a chat, and copied out of it, without changing anything."""

from __future__ import annotations

from typing import Final

from textual import on

from app.tui.keymap import key_of
from app.tui.screens.turns import NO_RECEIPT, TurnScreen
from app.tui.widgets.legend import Legend
from app.tui.widgets.turns import AnswerTurn

NO_THOUGHTS: Final = "No answer on screen has thoughts to unfold."


class ReadingScreen(TurnScreen):
    """See the module's text."""

    def action_copy(self) -> None:
        """Copy what is selected; never quit."""
        text = self.composer.selected_text or self.get_selected_text()
        if text:
            self.copy_text(text)
        elif self.selected is not None:
            self.action_turn("copy")
        else:
            self.say(f"Nothing is selected to copy. {key_of('app.quit')} quits, {key_of('chat.stop')} stops an answer.")

    def action_latest(self) -> None:
        self.transcript.follow()

    def action_xray(self) -> None:
        """Tint the tokens of all answers by who proposed them, or no longer."""
        legend = self.query_one(Legend)
        legend.display = not legend.display
        self.transcript.show_xray(legend.display)

    def action_receipt(self, view: AnswerTurn | None = None) -> None:
        """Every figure of an answer, and what each means; without ``view`` of the selected or the last one."""
        target = view or self.target("receipt")
        view = target if isinstance(target, AnswerTurn) else None
        if view is None or view.receipt.stats is None:
            self.say(self.why_not("receipt") or NO_RECEIPT)
            return
        from app.tui.screens.receipt import ReceiptScreen  # with its own style sheet: not before it is wanted

        turn = view.turn
        self.app.push_screen(ReceiptScreen(view.receipt.stats, view.proof, turn.figures, turn.text, turn.doubts))

    @on(AnswerTurn.ReceiptWanted)
    def _receipt_wanted(self, event: AnswerTurn.ReceiptWanted) -> None:
        self.action_receipt(event.view)

    def action_thoughts(self, view: AnswerTurn | None = None) -> None:
        """Unfold what was thought before an answer, or fold it; without ``view`` of the selected one, or else of the
        last one that has thoughts."""
        if view is None and isinstance(self.selected, AnswerTurn):
            view = self.selected
        elif view is None:
            view = next((view for view in reversed(self.transcript.answers()) if view.body.thoughts), None)
        if view is None or not view.toggle_thoughts():
            self.say(NO_THOUGHTS)
