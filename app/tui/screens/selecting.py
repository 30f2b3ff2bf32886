"""Which turn is selected, by keys from the composer upwards or by a click on the name above it; typing leads back to
the composer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual import actions, events, on

from app.tui.echo import EchoingScreen
from app.tui.widgets.code_label import CodeLabel
from app.tui.widgets.composer import Composer
from app.tui.widgets.notice import NoticeLine, Severity
from app.tui.widgets.selectable_turn import SelectableTurn
from app.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from app.tui.app import SlipstreamApp


class SelectingScreen(EchoingScreen):
    """See the module's text."""

    _selected: SelectableTurn | None = None

    @property
    def slipstream(self) -> SlipstreamApp:
        """The app."""
        return cast("SlipstreamApp", self.app)

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

    def add(self, text: str, severity: Severity = "warning") -> None:
        """A notice that leaves the warning before it in place."""
        self.notices.add(text, severity)

    def reply(self, text: str, severity: Severity = "information") -> None:
        """What a command has to say."""
        self.notices.reply(text, severity)

    def why_not_action(self, parameters: tuple[object, ...]) -> str:
        """Why a key can do nothing to a turn now, in a sentence; empty when it can."""
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
                if name == "turn" and (reason := self.why_not_action(parameters)):
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
