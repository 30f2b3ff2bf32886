"""The whole receipt of one answer: every figure with what it means, and what is needed to make the answer again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import Screen

from app import receipt, receipt_sheet
from app.chats.proof import no_proof
from app.clean import clean_line
from app.tui.keys import RECEIPT
from app.tui.names import pair_of
from app.tui.widgets.key_bar import KeyBar
from app.tui.widgets.line import Line
from app.tui.widgets.notice import NoticeLine
from app.tui.widgets.sheet import LABEL_OF_WORDS, Sheet, drafter, heading, pace, rows, small, time_bar
from app.tui.widgets.too_small import TooSmall
from engine.stats import FIGURES

if TYPE_CHECKING:
    from app.chats.records import Figures
    from engine.protocol import Receipt
    from engine.stats import Stats


class ReceiptHeader(Line):
    """Which answer this is about."""

    def __init__(self, proof: Receipt | None) -> None:
        super().__init__()
        self._proof = proof

    def parts(self, width: int) -> tuple[Content, Content]:
        left = Content.styled("receipt", "bold $accent")
        if self._proof is None:
            return left, Content()
        return left, Content.styled(
            clean_line(pair_of(self._proof.target, self._proof.draft), max(10, width - 12)), "$muted"
        )


class Measured(Sheet):
    """The left column: what was counted and timed."""

    def __init__(self, stats: Stats, proof: Receipt | None, figures: Figures | None = None) -> None:
        super().__init__()
        self._stats, self._proof, self._figures = stats, proof, figures

    def lines(self, width: int) -> list[Content]:
        stats = self._stats
        curve = pace(stats.pace, width - 20)
        times = receipt_sheet.times(stats)
        ended = receipt_sheet.ended(self._figures, stats, self._proof)
        blocks = [
            [*heading("speed"), *rows(receipt_sheet.speed(stats), width)],
            [*heading("over the answer"), *curve, *small(FIGURES["pace"], width)] if curve else [],
            [*heading("where the time went"), *time_bar(times, width), *rows(receipt_sheet.total(stats), width)]
            if times
            else [],
            [
                *heading("tokens"),
                *rows(receipt_sheet.tokens(stats, self._proof), width),
                *rows(ended, width, label=LABEL_OF_WORDS),
            ],
        ]
        return _apart(blocks)


class Made(Sheet):
    """The right column: what was proposed, how the answer was made, and with what."""

    def __init__(
        self, stats: Stats, proof: Receipt | None, figures: Figures | None = None, doubts: Sequence[str] = ()
    ) -> None:
        """``figures``: as the store has them; ``doubts``: what tells that the answer is not as it was made."""
        super().__init__()
        self._stats, self._proof, self._figures, self._doubts = stats, proof, figures, doubts

    def lines(self, width: int) -> list[Content]:
        stats, proof = self._stats, self._proof
        proposed = receipt_sheet.drafts(stats)
        blocks = [[*heading("drafts"), *rows(proposed, width)]] if proposed else []
        blocks += [drafter(found, width) for found in receipt_sheet.drafters(stats)]
        if proof is None:
            return _apart([*blocks, small(no_proof(self._figures), width)])
        if self._doubts:
            blocks.insert(0, [*heading("its seal"), *(line for words in self._doubts for line in small(words, width))])
        blocks.append(
            [*heading("how it was made"), *rows(receipt_sheet.making(stats, proof), width, label=LABEL_OF_WORDS)]
        )
        machine = receipt_sheet.machine(proof, self._figures)
        blocks.append([*heading("with what"), *rows(machine, width, label=LABEL_OF_WORDS)])
        if notes := receipt.notes(proof):
            blocks.append([*heading("otherwise than asked"), *(line for note in notes for line in small(note, width))])
        return _apart(blocks)


class ReceiptScreen(Screen[None]):
    """Two columns on wide terminals, one below the other on narrow ones."""

    CSS_PATH: ClassVar = ["receipt.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [*RECEIPT]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012

    def __init__(
        self, stats: Stats, proof: Receipt | None, figures: Figures | None, text: str, doubts: Sequence[str] = ()
    ) -> None:
        """``text``: of the answer, for the JSON; ``figures``: as the store has them, None while it is written;
        ``doubts``: what tells that it is not as it was made."""
        super().__init__()
        self._stats, self._proof, self._figures, self._text = stats, proof, figures, text
        self._doubts = doubts

    def compose(self) -> ComposeResult:
        yield ReceiptHeader(self._proof)
        with VerticalScroll(id="receipt-sheets", can_focus=False), Horizontal(id="receipt-columns"):
            yield Measured(self._stats, self._proof, self._figures)
            yield Made(self._stats, self._proof, self._figures, self._doubts)
        yield NoticeLine()
        yield KeyBar()
        yield TooSmall(markup=False)

    def on_resize(self, event: events.Resize) -> None:
        self.query_one(TooSmall).fit(event.size)

    def action_copy(self) -> None:
        """The receipt as JSON to the clipboard."""
        text = receipt_sheet.as_json(self._stats, self._proof, self._figures, self._text)
        self.app.copy_to_clipboard(text)
        self.query_one(NoticeLine).say(
            f"Sent the receipt, {len(text):,} characters of JSON, to the terminal's clipboard (OSC 52)."
        )

    def action_scroll(self, where: str) -> None:
        """``up``, ``down``, ``page_up``, ``page_down``, ``home`` or ``end``."""
        getattr(self.query_one("#receipt-sheets", VerticalScroll), f"scroll_{where}")(animate=False)

    def action_close(self) -> None:
        self.dismiss(None)


def _apart(blocks: list[list[Content]]) -> list[Content]:
    """Blocks with a blank line between them."""
    lines: list[Content] = []
    for block in blocks:
        if block:
            lines += [*([Content()] if lines else []), *block]
    return lines
