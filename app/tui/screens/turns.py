"""What can be done to a single turn: the selected one, or without a selection the last answer.

Keys, the mouse, and commands (typed, or chosen in the palette) end up in :meth:`TurnScreen.do`;
:meth:`TurnScreen.why_not` says what works.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from textual import actions, events, on

from app.chats.proof import NO_TOKENS, no_proof
from app.tui import continuing
from app.tui.background import aside
from app.tui.branching import WRITING
from app.tui.echo import EchoingScreen
from app.tui.keymap import with_keys
from app.tui.widgets.code_label import CodeLabel
from app.tui.widgets.composer import Composer
from app.tui.widgets.editing_row import EditingRow
from app.tui.widgets.notice import NoticeLine, Severity
from app.tui.widgets.selectable_turn import EDITED, SelectableTurn
from app.tui.widgets.transcript import Transcript
from app.tui.widgets.turns import AnswerTurn, UserTurn

if TYPE_CHECKING:
    from app.tui.app import SlipstreamApp
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


class TurnScreen(EchoingScreen):
    """See the module's text."""

    dialogue: Dialogue
    _selected: SelectableTurn | None = None

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)

    @property
    def composer(self) -> Composer:
        return self.query_one(Composer)

    @property
    def notices(self) -> NoticeLine:
        return self.query_one(NoticeLine)

    def say(self, text: str, severity: Severity = "information") -> None:
        """A notice above the composer."""
        self.notices.say(text, severity)

    async def show_chat(self) -> None:
        """Draw the open chat from its end."""
        raise NotImplementedError

    def chat_shown(self) -> None:
        """The transcript shows another chat, or another branch."""
        raise NotImplementedError

    # --------------------------------------------------------------------------------------------------- selecting

    @property
    def selected(self) -> SelectableTurn | None:
        """The selected turn."""
        view = self._selected
        return view if view is not None and view.is_attached else None

    def select(self, view: SelectableTurn) -> None:
        """From now on keys act on this turn."""
        before, self._selected = self.selected, view
        if before is view:
            return
        if before is not None:
            before.mark_selected(None)
            self._name_blocks(before, on=False)
        view.mark_selected(self._take)
        self._name_blocks(view, on=True)
        self.set_focus(view, scroll_visible=False)
        self.transcript.call_after_refresh(self.transcript.reveal, view)

    def action_deselect(self) -> None:
        """Back to the composer."""
        self.set_focus(self.composer)
        self._forget_selected()

    def _forget_selected(self) -> None:
        view, self._selected = self.selected, None
        if view is not None:
            view.mark_selected(None)
            self._name_blocks(view, on=False)
        self.refresh_bindings()

    def on_descendant_focus(self) -> None:
        if self._selected is not None and self.focused is not self._selected:
            self._forget_selected()

    def action_select(self, where: str) -> None:
        """``up`` or ``down``; from the composer the lowest turn in view."""
        views, selected = self.transcript.views, self.selected
        if selected is None or selected not in views:
            view = self.transcript.last_seen() if where == "up" else None
            if view is not None:
                self.select(view)
            return
        to = views.index(selected) + (1 if where == "down" else -1)
        if to == len(views) and self.transcript.has_later:
            self.call_next(self._select_later, selected)
        elif to == len(views):
            self.action_deselect()
        elif to >= 0:
            self.select(views[to])
        elif self.transcript.has_earlier:
            self.call_next(self._select_earlier, selected)

    async def _select_earlier(self, first: SelectableTurn) -> None:
        await self.transcript.mount_earlier()
        views = self.transcript.views
        if self.selected is first and views.index(first) > 0:
            self.select(views[views.index(first) - 1])

    async def _select_later(self, last: SelectableTurn) -> None:
        await self.transcript.mount_later()
        views = self.transcript.views
        if self.selected is last and views[-1] is not last:
            self.select(views[views.index(last) + 1])

    @on(SelectableTurn.Picked)
    def _picked_turn(self, event: SelectableTurn.Picked) -> None:
        self.select(event.view)

    def _take(self, event: events.Event) -> bool:
        """A key that is no command now, or a paste, for a selected turn."""
        if isinstance(event, events.Key):
            view = self._selected
            bound = view._bindings.key_to_bindings.get(event.key) if view is not None else None
            if bound:
                _, name, parameters = actions.parse(bound[0].action)
                if name == "turn" and (reason := self._why_not_action(parameters)):
                    self.say(reason)
                return True
            if not event.is_printable:
                return False
        self.action_deselect()
        self.composer._forward_event(event)
        return True

    def renew_selected(self) -> None:
        """The blocks of a running answer are made anew at its end."""
        if self.selected is not None:
            self._name_blocks(self.selected, on=True)

    def _name_blocks(self, view: SelectableTurn, *, on: bool) -> None:
        """Each code block says which key copies it."""
        for number, label in enumerate(view.query(CodeLabel), start=1):
            label.show_key(str(number) if on and number < 10 else "")

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

    def _why_not_action(self, parameters: tuple[object, ...]) -> str:
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
                return not self._why_not_action(parameters)
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
        await transcript.add_rest(at)
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
        app = cast("SlipstreamApp", self.app)
        app.copy_to_clipboard(text)
        self.run_worker(self._tell_copied(app, what), name="copied", group="copied", exit_on_error=False)

    async def _tell_copied(self, app: SlipstreamApp, what: str) -> None:
        if app.copied is not None:
            self.say((await app.copied).sentence(what))

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

        app = cast("SlipstreamApp", self.app)
        try:
            file = await aside(save_text, text, self.dialogue.chat.title, app.save_folder)
        except NotSaved as error:
            self.say(str(error), "warning")
        else:
            self.say(f"Saved {len(text):,} characters: {file}")
