"""One answer in the making: from chosen tokens to text events, and the reason it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from engine.counting import Counter
from engine.llama.vocab import Vocabulary
from engine.protocol import FinishReason, Progress, TextDelta
from engine.text.stream import TextStream, shown_lengths

TEXT_INTERVAL = 0.02
PROGRESS_INTERVAL = 0.2
"""Seconds between events: text often enough to look immediate, figures often enough to read."""


class Answer:
    """Takes the loop's tokens one by one (:class:`engine.speculate.Sink`) and turns them into events.

    Ends at an end token (by id), at a stop string (on text, across tokens; one that is the text of a control token
    also by id) or at ``max_tokens``. Shown text never holds a piece of a stop string or half a character.

    ``so_far``: tokens that the answer begins with and that were shown before. What is new goes on in mid-character and
    in mid-stop-string, and is all that is counted and sent. ``visible``: texts of control tokens that are shown all
    the same.
    """

    def __init__(
        self,
        request_id: int,
        vocabulary: Vocabulary,
        *,
        stop: Iterable[str],
        max_tokens: int | None,
        drafter: str,
        counter: Counter,
        emit: Callable[[TextDelta | Progress], None],
        so_far: Sequence[int] = (),
        visible: Mapping[int, bytes] | None = None,
    ) -> None:
        self.token_ids: list[int] = []
        self.sources: list[str] = []
        self.text: list[str] = []
        self._completed: list[int] = []
        """Characters that each token completed, see :class:`engine.text.stream.Piece`."""
        self._id, self._vocabulary, self._drafter = request_id, vocabulary, drafter
        self._counter, self._emit = counter, emit
        self._max_tokens = max_tokens
        stops = [text for text in stop if text]
        self._ends = vocabulary.ends | {token for text in stops if (token := vocabulary.single_token(text)) is not None}
        self._visible = visible or {}
        self._stream = TextStream(stops)
        stopped = self._stream.behind(map(self._piece, so_far))
        self.complete = stopped or not self._ends.isdisjoint(so_far)
        """Whether the answer so far ended by itself: there is nothing to continue."""
        self._unsent_from = 0
        self._unsent_text: list[str] = []
        self._text_due = self._progress_due = 0.0

    def remaining(self) -> int | None:
        """How many more tokens may come; None: no limit."""
        return None if self._max_tokens is None else self._max_tokens - len(self.token_ids)

    def push(self, token: int, source: str) -> FinishReason | None:
        """See :class:`engine.speculate.Sink`."""
        self.token_ids.append(token)
        self.sources.append(source)
        if token in self._ends:
            self._completed.append(0)
            return "stop"
        piece = self._stream.push(self._piece(token))
        self._completed.append(piece.completed)
        self._add(piece.text)
        if piece.stopped:
            return "stop"
        if self._max_tokens is not None and len(self.token_ids) >= self._max_tokens:
            return "length"
        return None

    def after_pass(self) -> None:
        """Send what is due. Called once a pass, so a fast model costs a bounded number of events."""
        now = self._counter.clock()
        if now >= self._text_due:
            self._text_due = now + TEXT_INTERVAL
            self._send()
        if now >= self._progress_due:
            self._progress_due = now + PROGRESS_INTERVAL
            self._emit(Progress(id=self._id, stats=self._counter.snapshot(), drafter=self._drafter))

    def finish(self) -> str:
        """Release what was held back, send the rest, and return the whole text."""
        self._add(self._stream.finish())
        self._send()
        return "".join(self.text)

    def text_lengths(self) -> tuple[int, ...]:
        """Characters of the text that belong to each token, once it is finished; their sum is the text's length."""
        return shown_lengths(self._completed, sum(map(len, self.text)))

    @property
    def retracted(self) -> int:
        """Characters at the end of the text so far that belong to the stop string which ended the answer."""
        match = self._stream.match
        return max(0, -match.start) if match else 0

    def _piece(self, token: int) -> bytes:
        return self._visible.get(token) or self._vocabulary.piece(token)

    def _add(self, text: str) -> None:
        if text:
            self.text.append(text)
            self._unsent_text.append(text)

    def _send(self) -> None:
        start = self._unsent_from
        if start == len(self.token_ids) and not self._unsent_text:
            return
        self._emit(
            TextDelta(
                id=self._id,
                text="".join(self._unsent_text),
                token_ids=tuple(self.token_ids[start:]),
                sources="".join(self.sources[start:]),
                completed=tuple(self._completed[start:]),
            )
        )
        self._unsent_from = len(self.token_ids)
        self._unsent_text.clear()
