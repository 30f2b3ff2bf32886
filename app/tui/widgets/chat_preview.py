"""Beside the list, in wide terminals: the last turns of the highlighted chat, or the message that was found in it."""

from __future__ import annotations

from datetime import datetime

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from app.chats.matching import marks
from app.clean import clean, clean_line
from app.tui.chat_glance import Glance, Spoken

LEAST_LINES = 3
"""Lines of a turn that are shown in any case."""


class ChatPreview(VerticalScroll, can_focus=False):
    """Shows a :class:`Glance`."""

    _glance: Glance | None = None
    _words: tuple[str, ...] = ()

    def compose(self) -> ComposeResult:
        yield Static(markup=False)

    @property
    def text(self) -> str:
        """What there is to read."""
        return self._content(80, 60).plain

    def show(self, glance: Glance | None, words: tuple[str, ...] = ()) -> None:
        """Replace what stands there. ``words``: what was searched for."""
        self._glance, self._words = glance, words
        self._draw()
        self.scroll_home(animate=False)

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        region = self.scrollable_content_region
        for text in self.query(Static):  # none where the screen is being left
            text.update(self._content(region.width, region.height))

    def _content(self, width: int, height: int) -> Content:
        here = self._glance
        if here is None or width < 1:
            return Content()
        number = here.messages
        about = f"{number} message{'s' * (number != 1)} · begun {_day(here.chat.created)}"
        parts = [
            Content.styled(clean_line(here.chat.title, 200), "bold $foreground"),
            Content.styled(about, "$faint"),
        ]
        lines = max(LEAST_LINES, (height - 3) // max(1, len(here.turns)) - 2)
        for turn in here.turns:
            parts += [Content(), self._turn(turn, width, lines)]
        return Content("\n").join(parts)

    def _turn(self, turn: Spoken, width: int, lines: int) -> Content:
        text = clipped(clean(turn.text).strip(), width, lines)
        said = Content.styled(text if turn.begun else f"…{text}", "$muted")
        if self._words and self._glance is not None and self._glance.found:
            for start, end in marks(said.plain, self._words):
                said = said.stylize("bold $accent", start, end)
        return Content.assemble((clean_line(turn.speaker, 60), "$faint" if turn.own else "$accent"), "\n", said)


def clipped(text: str, width: int, lines: int) -> str:
    """About as much of ``text`` as ``lines`` of ``width`` cells hold."""
    kept: list[str] = []
    room = lines
    for line in text.split("\n"):
        if room <= 0:
            return "\n".join(kept).rstrip() + " …"
        if not line.strip() and kept and not kept[-1].strip():
            continue
        if len(line) > room * width:
            return "\n".join([*kept, line[: room * width - 2].rstrip() + " …"])
        kept.append(line)
        room -= 1 + max(0, len(line) - 1) // max(1, width)
    return "\n".join(kept)


def _day(when: float) -> str:
    day = datetime.fromtimestamp(when)
    return f"{day.day} {day:%b %Y}"
