"""An answer on its way into the lines: what is said as it comes, what is thought as one line unless it is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.clean import StreamCleaner
from app.receipt_words import counted
from app.tui.thoughts import placed, tokens_of

if TYPE_CHECKING:
    from app.plain.lines import Lines
    from app.tui.answer import Answer
    from app.tui.thoughts import Thinking
    from engine.protocol import Receipt
    from engine.text.thoughts import ThoughtSplitter

TAIL: Final = 200
"""Characters of its last line that an answer which goes on is introduced with."""


class Speech:
    """One answer. ``feed`` as often as there may be something new, ``close`` at its end."""

    def __init__(self, lines: Lines, answer: Answer, speaker: str, *, thoughts: bool) -> None:
        """``speaker``: written before the first word, where it is not empty; ``thoughts``: write them, too."""
        self._lines = lines
        self._answer = answer
        self._speaker = speaker
        self._thoughts = thoughts
        self._splitter: ThoughtSplitter | None = None
        self._cleaner = StreamCleaner()
        self._at = 0
        """Pieces of the answer that were looked at."""
        self._heard = ""
        self._tokens = 0
        """Those that came with it."""
        self._thought_from: int | None = None
        """The same where the thought that is open began, its marker included; None: none is open."""
        self._since = 0
        """The same where the part before it ended."""

    @property
    def thinking(self) -> bool:
        """Whether there is a thought now that nobody sees."""
        return self._thought_from is not None and not self._thoughts

    def feed(self) -> None:
        """Write what has come since the last time."""
        pieces = self._answer.pieces
        while self._at < len(pieces):
            text, tokens = pieces[self._at]
            self._at += 1
            self._take(text, tokens)

    def close(self) -> None:
        """The answer has ended: the rest of it, and the line end."""
        self.feed()
        answer = self._answer
        if answer.text.startswith(self._heard) and answer.text != self._heard:
            self._take(answer.text[len(self._heard) :], answer.tokens)
        if self._splitter is not None:
            for part in self._splitter.finish():
                self._add(part.kind, part.text)
        self._end_thought(self._tokens)
        self._lines.write(self._cleaner.finish())
        self._lines.end_line()

    def _take(self, text: str, tokens: int) -> None:
        splitter = self._splitter or self._begin()
        self._heard += text
        within = splitter.inside or self._thought_from is None  # a thought that ends now ends within this piece
        for part in splitter.push(text):
            if part.kind == "said" and within:
                self._end_thought(tokens, exact=False)
            self._add(part.kind, part.text)
        if splitter.inside:
            self._begin_thought()
        self._tokens = tokens

    def _begin(self) -> ThoughtSplitter:
        """Of an answer that goes on, the line in which it stood still comes first."""
        self._splitter = self._answer.thinking.splitter()
        before = self._splitter.push(self._answer.so_far)
        if self._splitter.inside:
            self._begin_thought()
        elif before and before[-1].kind == "said":
            last = before[-1].text.rsplit("\n", 1)[-1]
            self._add("said", last if last == self._answer.so_far else f"…{last[-TAIL:]}")
        return self._splitter

    def _add(self, kind: str, text: str) -> None:
        if kind == "thought":
            self._begin_thought()
            if self._thoughts:
                self._lines.write(self._cleaner.feed(text))
            return
        self._end_thought(self._tokens)
        speaker, self._speaker = self._speaker, ""
        self._lines.write(speaker + self._cleaner.feed(text))

    def _begin_thought(self) -> None:
        if self._thought_from is None:
            self._thought_from = self._since
            if self._thoughts:
                self._lines.say("(thinking)")

    def _end_thought(self, tokens: int, *, exact: bool = True) -> None:
        if self._thought_from is None:
            return
        # A continued answer's tokens before the break were not kept apart.
        taken = None if self._answer.so_far else tokens - self._thought_from
        self._thought_from, self._since = None, tokens
        self._lines.write(self._cleaner.finish())
        line = _thought_line(taken, shown=self._thoughts, exact=exact)
        if self._thoughts:
            self._lines.say(line)
        else:
            self._lines.note(line)


def stored(text: str, proof: Receipt | None, thinking: Thinking, *, thoughts: bool) -> str:
    """A whole answer as :class:`Speech` would have written it."""
    parts = placed(text, thinking)
    said: list[str] = []
    for part, tokens in zip(parts, tokens_of(parts, text, proof.text_lengths if proof else ()), strict=True):
        if part.kind == "said":
            said.append(part.text)
        elif thoughts:
            said.append(f"(thinking)\n{part.text}\n{_thought_line(tokens, shown=True)}\n")
        else:
            said.append(f"{_thought_line(tokens, shown=False)}\n")
    return "".join(said).strip("\n")


def _thought_line(tokens: int | None, *, shown: bool, exact: bool = True) -> str:
    words = "" if tokens is None else f", {'' if exact else 'about '}{counted(tokens)}"
    return f"(end of thinking{words})" if shown else f"(thinking{words})"
