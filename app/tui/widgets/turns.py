"""The two kinds of turns: what the user said, and what was answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from app import receipt
from app.chats.proof import damage
from app.clean import clean, clean_line
from app.tui import xray
from app.tui.answer import Answer, Phase
from app.tui.names import speaker_name
from app.tui.thoughts import Thinking
from app.tui.token_texts import TokenTexts
from app.tui.widgets.attached_row import attached_line
from app.tui.widgets.line import Line
from app.tui.widgets.receipt_line import ReceiptLine
from app.tui.widgets.selectable_turn import SelectableTurn, variant_sign

if TYPE_CHECKING:
    from app.tui.conversation import Turn
    from app.tui.widgets.answer_body import AnswerBody
    from engine.protocol import Receipt

INTERRUPTED: Final = "interrupted: Slipstream ended before the answer did. What had arrived is kept."
FULL: Final = "The answer ends here because {why}. /context makes room, then /continue goes on."
NO_XRAY: Final = "no X-ray: who proposed these tokens was not kept"
PART_XRAY: Final = "X-ray of what came last: who proposed the tokens that this answer goes on with was not kept"


class Speaker(Line):
    """Who speaks, and at the right what is going on."""

    auto_links = False

    def __init__(self, name: str, *, you: bool = False, variant: tuple[int, int] | None = None) -> None:
        super().__init__()
        self._who = clean_line(name, 60)
        self._weight = "$muted" if you else "bold $accent"
        self._doing = Content()
        self._variant = variant_sign(variant)

    def show(self, doing: str, style: str = "$faint") -> None:
        content = Content.styled(doing, style)
        if not self._doing.is_same(content):
            self._doing = content
            self.refresh()

    def show_variant(self, variant: tuple[int, int] | None) -> None:
        """Which of how many variants of the turn this is."""
        self._variant = variant_sign(variant)
        self.refresh()

    def action_before(self) -> None:
        """A click on the left one of the arrows."""
        SelectableTurn.around(self).want_sibling(-1)

    def action_behind(self) -> None:
        SelectableTurn.around(self).want_sibling(1)

    def rename(self, name: str) -> None:
        self._who = clean_line(name, 60)
        self.refresh()

    def parts(self, width: int) -> tuple[Content, Content]:
        gap = "  " if self._doing and self._variant else ""
        return Content.styled(self._who, self._weight), Content.assemble(self._doing, gap, self._variant)


class Plain(Static):
    """Text as it is: no markup, no control codes."""

    def __init__(self, text: str, classes: str | None = None) -> None:
        super().__init__(Content(clean(text)), markup=False, classes=classes)

    def show(self, text: str) -> None:
        self.update(Content(clean(text)))
        self.display = bool(text)


class UserTurn(SelectableTurn):
    """What the user said."""

    def compose(self) -> ComposeResult:
        speaker = Speaker("you", you=True, variant=self.turn.variant)
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


class AnswerTurn(SelectableTurn):
    """An answer: who answers, the text, what went wrong if something did, and the receipt."""

    class ReceiptWanted(Message):
        """The whole receipt of this answer is to be shown."""

        def __init__(self, view: AnswerTurn) -> None:
            super().__init__()
            self.view = view

    def __init__(self, turn: Turn, speaker: str) -> None:
        super().__init__(turn)
        self.live = turn.message is None
        self.xray = False
        """Whether the X-ray lies over the answer, or will when it has ended."""
        stored = self.proof
        self.speaker = Speaker(speaker_name(stored.target) if stored else speaker)
        self.body = _body(turn.text, self._texts(), stored, live=self.live)
        self.notes = Plain("", classes="notes")
        self.error = Plain("", classes="error")
        self.receipt = ReceiptLine()
        self.without_xray = Plain("", classes="remark")

    @property
    def proof(self) -> Receipt | None:
        """The receipt that is kept with the answer."""
        return self.turn.figures.receipt() if self.turn.figures else None

    def _texts(self) -> TokenTexts:
        """Which token made which stretch of the text, as it is kept."""
        figures = self.turn.figures
        return TokenTexts.of(self.turn.text, figures.sources if figures else "", self.proof, self.turn.earlier)

    @property
    def spoken(self) -> str:
        """What the answer says, without what was thought before: for copying."""
        return Thinking.of(self.proof).spoken(self.turn.text)

    def toggle_thoughts(self) -> bool:
        """Unfold the thoughts, or fold them; False when there are none."""
        return self.body.toggle_thoughts()

    def compose(self) -> ComposeResult:
        yield self.speaker
        yield self.body
        yield self.error
        yield self.receipt
        yield self.without_xray
        yield self.notes

    def on_mount(self) -> None:
        for part in (self.error, self.notes, self.receipt, self.without_xray):
            part.display = False
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

    async def feed(self, piece: str, answer: Answer) -> None:
        """Draw ``piece``, the newest text of ``answer``."""
        counted = None if answer.so_far else answer.tokens  # those that it begins with were not kept apart
        await self.body.feed(piece, counted, answer.thinking)

    def show_figures(self, answer: Answer) -> None:
        if answer.stats is not None:
            self.receipt.display = True
            self.receipt.show(answer.stats, answer.drafter, answer.context)

    async def complete(self, answer: Answer) -> None:
        """The answer ended: final text, final figures, and what there is to say about them."""
        self.live = False
        proof = answer.finished.receipt if answer.finished else None
        thinking = Thinking.of(proof) if proof else answer.thinking
        sources = answer.finished.sources if answer.finished else ""
        texts = TokenTexts.of(answer.whole, sources, proof, self.turn.earlier)
        await self.body.complete(answer.whole, texts.lengths, thinking, texts.blurred)
        if self.is_attached:
            self.show_turn()
            self.show_figures(answer)

    # -------------------------------------------------------------------------------------------------- as kept

    def show_turn(self) -> None:
        """State, figures and notes of the turn as the store has it."""
        message, figures, stored = self.turn.message, self.turn.figures, self.proof
        self.body.display = bool(self.turn.text.strip())
        self.speaker.show("")
        self.speaker.show_variant(self.turn.variant)
        if self.turn.state == "cancelled":
            self.speaker.show("stopped" if self.body.display else "stopped before the answer began", "$muted")
        elif self.turn.state == "failed":
            self.error.show((message.error if message else None) or "The answer failed.")
        elif self.turn.state == "writing":
            self.speaker.show("another Slipstream is writing this", "$muted")
        elif self.turn.state == "interrupted":
            self.error.show(INTERRUPTED)
        stats = figures.stats() if figures else None
        notes = [clean_line(note, 400) for note in receipt.notes(stored)] if stored else []
        if figures and figures.finish_reason == "length":
            why = clean_line(receipt.which_limit(stats, stored), 400)
            notes = [note for note in notes if note != why]
            self.error.show(FULL.format(why=why) if receipt.is_full(why) else f"cut off: {why}")
            self.error.add_class("calm")
        if stats is not None and stats.output_tokens:
            self.receipt.display = True
            self.receipt.show(stats, *receipt.known(stored))
        if stored is not None:
            self.speaker.rename(speaker_name(stored.target))
        notes = [*notes, *filter(None, [damage(figures)])]
        self.notes.set_class(not notes, "calm")
        self.notes.show("\n".join([*notes, *filter(None, [receipt.continued(stored) if stored else ""])]))
        if self.xray:
            self.show_xray(True)

    def show_xray(self, on: bool) -> None:
        """Tint the tokens by who proposed them, or no longer. A running answer is tinted at its end."""
        self.xray = on
        if self.live:
            return
        texts = self._texts() if on else TokenTexts()
        found = xray.letters(self.turn.text, texts.sources, texts.lengths)
        self.body.tint(found)
        remark = NO_XRAY if found is None else PART_XRAY if texts.blurred else ""
        self.without_xray.show(remark if on and self.body.display else "")

    @on(ReceiptLine.Opened)
    def _open_receipt(self, event: ReceiptLine.Opened) -> None:
        event.stop()
        self.post_message(self.ReceiptWanted(self))


def _body(text: str, texts: TokenTexts, proof: Receipt | None, *, live: bool) -> AnswerBody:
    from app.tui.widgets.answer_body import AnswerBody  # 50 ms that the first paint can do without

    return AnswerBody(text, texts.lengths, Thinking.of(proof), blurred=texts.blurred, live=live)


def _reading(read: tuple[int, int] | None) -> str:
    return "reading…" if read is None else f"reading {read[0]:,}/{read[1]:,}"
