"""A stand-in for engine.host that writes tokens at a steady rate, as events of the same kinds, sizes and intervals.

The last message says what is wanted: ``prose for 20 s``, optionally ``at 150`` tokens a second; see
:data:`tests.bench.ui.texts.KINDS`. Anything else is answered with one sentence.
"""

from __future__ import annotations

import datetime
import itertools
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from typing import Final

from pydantic import BaseModel

from engine.counting import Counter
from engine.protocol import (
    REQUESTS,
    Cancel,
    Count,
    Counted,
    ErrorCode,
    Failed,
    Finished,
    FinishReason,
    Generate,
    GenerateSettings,
    Load,
    Loaded,
    Loading,
    ModelInfo,
    PairInfo,
    Prefilling,
    Progress,
    Ready,
    Receipt,
    TemplateInfo,
    TextDelta,
    ThoughtMarkers,
    encode,
)
from tests.bench.ui.texts import KINDS, tokens

TEXT_INTERVAL: Final = 0.02
PROGRESS_INTERVAL: Final = 0.2
"""Those of :mod:`engine.answer`, which would load llama.cpp; a test compares them."""
RATE: Final = 150.0
CONTEXT: Final = 131_072
ANYTHING: Final = "Yes."
ROUNDS: Final = (*[(0, 0)] * 6, (4, 2), (3, 3))
"""Proposed and accepted tokens of one pass after the other, over and over: half of the tokens come from drafts."""

WISH: Final = re.compile(rf"({'|'.join(KINDS)}) for ([\d.]+) s(?: at ([\d.]+))?\Z")
TEMPLATE: Final = TemplateInfo(
    name="model", sha256="0" * 64, thinking="switchable", markers=(ThoughtMarkers(open="<think>", close="</think>"),)
)


def main() -> None:
    """Read requests; an answer is made by a thread, so that a cancel is heard."""
    _say(Ready(pid=os.getpid(), versions={}))
    pair: PairInfo | None = None
    cancelled = threading.Event()
    for line in sys.stdin.buffer:
        request = REQUESTS.validate_json(line)
        match request:
            case Load():
                pair = _pair(request)
                _say(Loading(id=request.id, what="target", fraction=1.0))
                _say(Loaded(id=request.id, pair=pair))
            case Generate() if pair is not None:
                cancelled = threading.Event()
                threading.Thread(target=generate, args=(request, pair, cancelled), daemon=True).start()
            case Count():
                said = [message.content for message in request.messages] if request.text is None else [request.text]
                _say(Counted(id=request.id, tokens=sum(map(len, said)) // 4, context=CONTEXT))
            case Cancel():
                cancelled.set()
            case _:
                _say(Failed(id=request.id, code=ErrorCode.BAD_REQUEST, message="This engine only pretends."))


def generate(request: Generate, pair: PairInfo, cancelled: threading.Event) -> None:
    """Make one answer; ends with its Finished."""
    settings = request.settings
    wish = WISH.match(settings.messages[-1].content if settings.messages else "")
    counter = Counter()
    counter.prompt_tokens = sum(len(message.content) for message in settings.messages) // 4
    counter.prefill_end = counter.clock()
    _say(Prefilling(id=request.id, done=counter.prompt_tokens, total=counter.prompt_tokens))
    answer = Stream(request.id, counter)
    reason: FinishReason = "stop"
    if wish is None:
        answer.add([ANYTHING], "t")
    else:
        until = time.perf_counter() + float(wish[2])
        for pieces, sources in steady(counter, wish[1], float(wish[3] or RATE), cancelled):
            answer.add(pieces, sources)
            if time.perf_counter() >= until:
                break
        reason = "cancelled" if cancelled.is_set() else "stop"
    answer.send()
    counter.ended = counter.clock()
    _say(answer.finished(reason, _receipt(settings, pair, counter.prompt_tokens, answer)))


def steady(counter: Counter, kind: str, rate: float, cancelled: threading.Event) -> Iterator[tuple[list[str], str]]:
    """One pass after the other, each when it is due; ends when ``cancelled``. Pieces and sources of its tokens."""
    begun, done, text = time.perf_counter(), 0, tokens(kind)
    for proposed, accepted in itertools.cycle(ROUNDS):
        count = accepted + 1
        done += count
        if cancelled.wait(max(0.0, begun + done / rate - time.perf_counter())):
            return
        counter.count_pass(proposed + 1)
        counter.count_draft("lookup", proposed, accepted, stopped=False)
        for _ in range(count):
            counter.count_token()
        counter.count_round(done, proposed, count, count / rate, draft=0.0, choose=0.0)
        last = "t" if not proposed else "b" if accepted == proposed else "c"
        yield list(itertools.islice(text, count)), "l" * accepted + last


class Stream:
    """Text and figures on their way out, never more often than the engine sends them."""

    def __init__(self, request_id: int, counter: Counter) -> None:
        self.pieces: list[str] = []
        self.sources = ""
        self._id, self._counter = request_id, counter
        self._sent = 0
        self._text_due = self._figures_due = 0.0

    def add(self, pieces: list[str], sources: str) -> None:
        """The tokens of one pass."""
        self.pieces += pieces
        self.sources += sources
        now = time.perf_counter()
        if now >= self._text_due:
            self._text_due = now + TEXT_INTERVAL
            self.send()
        if now >= self._figures_due:
            self._figures_due = now + PROGRESS_INTERVAL
            _say(Progress(id=self._id, stats=self._counter.snapshot(), drafter="lookup"))

    def send(self) -> None:
        """What has not been sent yet."""
        start, self._sent = self._sent, len(self.pieces)
        if start < self._sent:
            ids = tuple(range(start, self._sent))
            text = "".join(self.pieces[start:])
            _say(TextDelta(id=self._id, text=text, token_ids=ids, sources=self.sources[start:]))

    def finished(self, reason: FinishReason, receipt: Receipt) -> Finished:
        """The last event."""
        return Finished(
            id=self._id,
            finish_reason=reason,
            text="".join(self.pieces),
            token_ids=tuple(range(len(self.pieces))),
            sources=self.sources,
            stats=self._counter.snapshot(),
            receipt=receipt,
        )


_mutex = threading.Lock()


def _say(event: BaseModel) -> None:
    with _mutex:
        sys.stdout.buffer.write(encode(event))
        sys.stdout.buffer.flush()


def _pair(request: Load) -> PairInfo:
    target = ModelInfo(
        path=request.settings.target.path,
        name="Steady 0B",
        architecture="none",
        size_bytes=1,
        fingerprint="f" * 64,
        layers=1,
        gpu_layers=0,
        context_trained=CONTEXT,
        vocabulary=1,
    )
    return PairInfo(
        target=target,
        draft=None,
        template=TEMPLATE,
        context=CONTEXT,
        threads=1,
        backend="CPU",
        badge="exact",
        load_seconds=0.0,
    )


def _receipt(settings: GenerateSettings, pair: PairInfo, prompt_tokens: int, answer: Stream) -> Receipt:
    return Receipt(
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        target=pair.target,
        draft=None,
        template=pair.template,
        prompt_ids=tuple(range(prompt_tokens)),
        settings=settings.model_copy(update={"messages": ()}),
        seed=1,
        drafter="lookup",
        draft_max=4,
        mode=pair.badge,
        backend=pair.backend,
        threads=pair.threads,
        context=pair.context,
        prefill_chunk=512,
        versions={},
        text_lengths=tuple(map(len, answer.pieces)),
    )


if __name__ == "__main__":
    main()
