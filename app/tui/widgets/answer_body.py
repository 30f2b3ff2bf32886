"""What an answer says: its text as Markdown, and its thoughts folded in front of it."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from app.clean import clean
from app.tui import xray
from app.tui.thoughts import Placed, Thinking, placed, tokens_of
from app.tui.widgets.column import Column
from app.tui.widgets.live_markdown import PLAIN_ABOVE, LiveMarkdown
from app.tui.widgets.thought import Thought
from engine.text.thoughts import Part, ThoughtSplitter


class LongText(Static):
    """An answer that is too long for Markdown: its text as it is."""

    def __init__(self, text: str) -> None:
        self._text = clean(text)
        super().__init__(Content(self._text), markup=False, classes="said")

    def tint(self, letters: str | None) -> None:
        """See :meth:`LiveMarkdown.tint`."""
        content = Content(self._text)
        tint = xray.spans(letters) if letters is not None and len(letters) == len(self._text) else []
        self.update(content.add_spans(tint), layout=False)


Piece = Thought | LiveMarkdown | LongText


class AnswerBody(Column):
    """Grows by :meth:`feed` while the answer is made; :meth:`complete` gives it the text that is kept."""

    DEFAULT_CSS = "AnswerBody { height: auto; }"

    def __init__(
        self,
        text: str,
        lengths: Sequence[int] = (),
        thinking: Thinking | None = None,
        *,
        blurred: int = 0,
        live: bool,
    ) -> None:
        """``text``: all of it, or with ``live`` what it begins with. ``lengths``: characters of each token, where they
        are known; ``blurred``: see :class:`app.tui.token_texts.TokenTexts`."""
        super().__init__()
        self._text, self._lengths, self._blurred, self._live = text, lengths, blurred, live
        self._thinking = thinking or Thinking()
        self._splitter: ThoughtSplitter | None = None
        self._pieces: list[Piece] = []
        self._tokens = 0
        """Tokens that were drawn."""
        self._begun_at = 0
        """The same when the thought that is open began."""

    def compose(self) -> ComposeResult:
        self._pieces = self._begun() if self._live else self._whole()
        yield from self._pieces

    # ------------------------------------------------------------------------------------------------ while live

    def _begun(self) -> list[Piece]:
        """What a live answer begins with."""
        pieces: list[Piece] = []
        if not self._text:
            return pieces
        self._splitter = self._thinking.splitter()
        for part in self._splitter.push(self._text):
            if part.kind == "said":
                pieces.append(LiveMarkdown(part.text, live=True))
            else:
                thought = Thought(live=self._splitter.inside)
                thought.feed(part.text)
                pieces.append(thought)
        return pieces

    async def feed(self, text: str, tokens: int | None, thinking: Thinking) -> None:
        """Add ``text``; ``tokens``: of the whole answer so far, None where that is not known; ``thinking``: how it
        thinks."""
        if self._splitter is None:
            self._splitter = thinking.splitter()
        for part in self._splitter.push(text):
            await self._add(part, tokens)
        if self._splitter.inside:
            (await self._open_thought()).count(self._since(tokens))
        elif self._pieces and isinstance(thought := self._pieces[-1], Thought):
            thought.end()
        self._tokens = tokens or 0

    async def _add(self, part: Part, tokens: int | None) -> None:
        if part.kind == "thought":
            thought = await self._open_thought()
            thought.feed(part.text)
            thought.count(self._since(tokens))
            return
        last = self._pieces[-1] if self._pieces else None
        if isinstance(last, Thought):
            last.end()  # what is said begins below it
        if not isinstance(last, LiveMarkdown):
            last = LiveMarkdown(live=True)
            await self._append(last)
        await last.feed(part.text)

    def _since(self, tokens: int | None) -> int | None:
        """Of ``tokens``, those of the thought that is open."""
        return None if tokens is None else tokens - self._begun_at

    async def _open_thought(self) -> Thought:
        last = self._pieces[-1] if self._pieces else None
        if isinstance(last, Thought) and last.live:
            return last
        self._begun_at = self._tokens
        thought = Thought(live=True)
        await self._append(thought)
        return thought

    async def _append(self, piece: Piece) -> None:
        self._pieces.append(piece)
        await self.mount(piece)

    # ------------------------------------------------------------------------------------------------- when done

    async def complete(self, text: str, lengths: Sequence[int], thinking: Thinking, blurred: int = 0) -> None:
        """The answer has ended: draw what is kept of it."""
        self._text, self._lengths, self._blurred = text, lengths, blurred
        self._thinking, self._live = thinking, False
        parts = placed(text, thinking)
        if [_kind(piece) for piece in self._pieces] != [part.kind for part in parts[: len(self._pieces)]]:
            await self.remove_children()
            self._pieces.clear()
        counts = tokens_of(parts, text, lengths, blurred)
        for piece, part, tokens in zip(self._pieces, parts, counts, strict=False):
            if isinstance(piece, Thought):
                piece.complete(part.text, tokens)
            elif isinstance(piece, LiveMarkdown):
                await piece.complete(part.text)
        for piece in self._whole()[len(self._pieces) :]:
            await self._append(piece)

    def _whole(self) -> list[Piece]:
        parts = placed(self._text, self._thinking)
        counts = tokens_of(parts, self._text, self._lengths, self._blurred)
        return [_piece(part, count) for part, count in zip(parts, counts, strict=True)]

    @property
    def thoughts(self) -> list[Thought]:
        """The thinking blocks."""
        return [piece for piece in self._pieces if isinstance(piece, Thought)]

    def toggle_thoughts(self) -> bool:
        """Unfold all thoughts, or fold them when all are open; False when there are none."""
        unfold = not all(thought.unfolded for thought in self.thoughts)
        for thought in self.thoughts:
            if thought.unfolded is not unfold:
                thought.toggle()
        return bool(self.thoughts)

    def tint(self, letters: str | None) -> None:
        """Lay the X-ray over the whole answer, or take it away. ``letters``: one a character of the text that is kept,
        see :func:`app.tui.xray.letters`."""
        for piece, part in zip(self._pieces, placed(self._text, self._thinking), strict=False):
            known = letters is not None and self._text[part.start : part.stop] == part.text  # not of joined blocks
            piece.tint(xray.cleaned(part.text, letters[part.start : part.stop]) if letters and known else None)


def _piece(part: Placed, tokens: int | None) -> Piece:
    if part.kind == "thought":
        return Thought(part.text, tokens)
    return LongText(part.text) if len(part.text) > PLAIN_ABOVE else LiveMarkdown(part.text)


def _kind(piece: Piece) -> str:
    return "thought" if isinstance(piece, Thought) else "said"
