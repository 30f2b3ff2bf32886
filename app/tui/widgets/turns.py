"""The two kinds of turns: what the user said, and what was answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from app import receipt
from app.clean import clean, clean_line
from app.tui.answering import Answer, Phase
from app.tui.names import speaker_name
from app.tui.widgets.attached_row import attached_line
from app.tui.widgets.line import Line
from app.tui.widgets.receipt_line import ReceiptLine

if TYPE_CHECKING:
    from app.tui.conversation import Turn
    from app.tui.widgets.live_markdown import LiveMarkdown

INTERRUPTED: Final = "interrupted: Slipstream ended before the answer did. What had arrived is kept."


class Speaker(Line):
    """Who speaks, and at the right what is going on."""

    def __init__(self, name: str, *, you: bool = False) -> None:
        super().__init__()
        self._who = clean_line(name, 60)
        self._weight = "$muted" if you else "bold $accent"
        self._doing = Content()

    def show(self, doing: str, style: str = "$faint") -> None:
        content = Content.styled(doing, style)
        if not self._doing.is_same(content):
            self._doing = content
            self.refresh()

    def rename(self, name: str) -> None:
        self._who = clean_line(name, 60)
        self.refresh()

    def parts(self, width: int) -> tuple[Content, Content]:
        return Content.styled(self._who, self._weight), self._doing


class Plain(Static):
    """Text as it is: no markup, no control codes."""

    def __init__(self, text: str, classes: str | None = None) -> None:
        super().__init__(Content(clean(text)), markup=False, classes=classes)

    def show(self, text: str) -> None:
        self.update(Content(clean(text)))
        self.display = bool(text)


class UserTurn(Vertical):
    """What the user said."""

    def __init__(self, turn: Turn) -> None:
        super().__init__(classes="turn")
        self.turn = turn

    def compose(self) -> ComposeResult:
        speaker = Speaker("you", you=True)
        if self.turn.message is None:
            speaker.show("waiting…", "$muted")
        yield speaker
        yield Plain(self.turn.text, classes="said")
        if self.turn.attached:
            yield Static(attached_line(self.turn.attached, self.turn.since), classes="attached", markup=False)

    def show_attached(self) -> None:
        """The files that went along, and what has become of them since."""
        for row in self.query(".attached").results(Static):
            row.update(attached_line(self.turn.attached, self.turn.since))


class AnswerTurn(Vertical):
    """An answer: who answers, the text, what went wrong if something did, and the receipt."""

    def __init__(self, turn: Turn, speaker: str) -> None:
        super().__init__(classes="turn")
        self.turn = turn
        self.live = turn.message is None
        stored = turn.figures.receipt() if turn.figures else None
        self.speaker = Speaker(speaker_name(stored.target) if stored else speaker)
        self.body = _body(turn.text, live=self.live)
        self.notes = Plain("", classes="notes")
        self.error = Plain("", classes="error")
        self.receipt = ReceiptLine()

    def compose(self) -> ComposeResult:
        yield self.speaker
        yield self.body
        yield self.error
        yield self.receipt
        yield self.notes

    def on_mount(self) -> None:
        self.error.display = self.notes.display = self.receipt.display = False
        if not self.live:
            self.show_turn()

    # ------------------------------------------------------------------------------------------------ while live

    def show_phase(self, answer: Answer, loading: str) -> None:
        """What is going on, at the right of the speaker's row."""
        match answer.phase:
            case Phase.WAITING:
                self.speaker.show(loading or "waiting…", "$muted")
            case Phase.READING:
                self.speaker.show(loading or _reading(answer.read), "$muted")
            case Phase.WRITING:
                self.speaker.show("writing…", "$muted")
            case Phase.STOPPING:
                self.speaker.show("stopping…", "$warning")
            case Phase.ENDED:
                pass

    async def feed(self, piece: str) -> None:
        if not isinstance(self.body, Plain):
            await self.body.feed(piece)

    def show_figures(self, answer: Answer) -> None:
        if answer.stats is not None:
            self.receipt.display = True
            self.receipt.show(answer.stats, answer.drafter)

    async def complete(self, answer: Answer) -> None:
        """The answer ended: final text, final figures, and what there is to say about them."""
        self.live = False
        if not isinstance(self.body, Plain):
            await self.body.complete(answer.text)
        if self.is_attached:
            self.show_turn()
            self.show_figures(answer)

    # -------------------------------------------------------------------------------------------------- as kept

    def show_turn(self) -> None:
        """State, figures and notes of the turn as the store has it."""
        message, figures = self.turn.message, self.turn.figures
        self.body.display = bool(self.turn.text.strip())
        self.speaker.show("")
        if self.turn.state == "cancelled":
            self.speaker.show("stopped" if self.body.display else "stopped before the answer began", "$muted")
        elif self.turn.state == "failed":
            self.error.show((message.error if message else None) or "The answer failed.")
        elif self.turn.state == "writing":
            self.speaker.show("another Slipstream is writing this", "$muted")
        elif self.turn.state == "interrupted":
            self.error.show(INTERRUPTED)
        stats = figures.stats() if figures else None
        stored = figures.receipt() if figures else None
        notes = [clean_line(note, 400) for note in receipt.notes(stored)] if stored else []
        if figures and figures.finish_reason == "length" and not any(note.endswith(" is full") for note in notes):
            self.error.show("cut off: the token limit or the end of the context was reached")
            self.error.add_class("calm")
        if stats is not None and stats.output_tokens:
            self.receipt.display = True
            self.receipt.show(stats, stored.drafter if stored else "")
        if stored is not None:
            self.speaker.rename(speaker_name(stored.target))
            self.notes.show("\n".join(notes))


def _body(text: str, *, live: bool) -> Plain | LiveMarkdown:
    from app.tui.widgets.live_markdown import PLAIN_ABOVE, LiveMarkdown  # 50 ms that the first paint can do without

    return Plain(text, classes="said") if len(text) > PLAIN_ABOVE else LiveMarkdown(text, live=live)


def _reading(read: tuple[int, int] | None) -> str:
    return "reading…" if read is None else f"reading {read[0]:,}/{read[1]:,}"
