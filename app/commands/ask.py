"""``slipstream ask``: one prompt in, one answer out. stdout holds the answer and nothing else."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

from app import receipt
from app.commands import client
from app.commands.errors import CANCELLED, FAILED, PIPE_CLOSED, say
from app.commands.interrupts import interrupts
from app.commands.options import answer_request
from app.commands.prompt import valid_text
from app.commands.stdout import AnswerWriter, Progress
from app.commands.wanted import wanted_files, wanted_messages, wanted_settings
from app.percent import share
from engine.client import EngineClient
from engine.protocol import (
    ErrorCode,
    Failed,
    Finished,
    GenerateSettings,
    Loading,
    LoadSettings,
    Prefilling,
    Receipt,
    TextDelta,
)


def run_ask(options: Mapping[str, Any]) -> int:
    """Returns the exit code: 0 answer, 1 error, 130 cancelled."""
    settings = wanted_settings(options)
    load = wanted_files(settings, draft_must_be_there=False)
    messages = wanted_messages(options, settings)
    stop = [valid_text(text) for text in options["stop"] or ()]
    request = answer_request(settings, messages, {**options, "stop": stop})
    return asyncio.run(_Answer(client.make_client(), as_json=options["as_json"]).run(load, request))


class _Answer:
    """One answer on its way to stdout, and the Ctrl+C that may end it."""

    def __init__(self, client: EngineClient, *, as_json: bool) -> None:
        self._client = client
        self._json = as_json
        self._told: str | None = None
        """Why a draft was refused, where that was said already."""
        self._out = AnswerWriter()
        self._progress = Progress()

    async def run(self, load: LoadSettings, request: GenerateSettings) -> int:
        self._client.wanted, self._told = load, load.draft_refused
        try:
            with interrupts(self._client):
                return await self._generate(request)
        except BrokenPipeError:
            return PIPE_CLOSED
        finally:
            await self._client.close()

    async def _generate(self, request: GenerateSettings) -> int:
        async with contextlib.aclosing(self._client.generate(request)) as events:
            async for event in events:
                if isinstance(event, Loading):
                    self._progress.show(f"loading {event.what} {share(event.fraction)}")
                elif isinstance(event, Prefilling):
                    self._progress.show(f"reading {event.done}/{event.total}")
                elif isinstance(event, TextDelta) and event.text and not self._json:
                    self._progress.clear()
                    self._out.write(event.text)
                elif isinstance(event, (Finished, Failed)):
                    self._progress.clear()
                    return self._finished(event) if isinstance(event, Finished) else self._failed(event)
        raise RuntimeError("the engine's events ended without a last one")

    def _finished(self, event: Finished) -> int:
        cancelled = event.finish_reason == "cancelled"
        if self._json:
            self._out.write(_as_json(event) + "\n")
        self._out.finish()
        say(_line(event))
        for note in _notes(event.receipt, self._told) if event.receipt else ():
            say(note)
        return CANCELLED if cancelled else 0

    def _failed(self, event: Failed) -> int:
        self._out.finish()
        if event.code is ErrorCode.CANCELLED:  # during load: there is no answer yet
            say("cancelled")
            return CANCELLED
        say(event.message)
        return FAILED


def _line(event: Finished) -> str:
    """The receipt in one line, with what the command line has no other place for: seed, mode and backend."""
    words = [receipt.line_of(event.stats, event.receipt)]
    if event.receipt:
        target = event.receipt.target
        words += [f"seed {event.receipt.seed}", event.receipt.mode]
        words.append(receipt.backend_words(event.receipt.backend, target.layers, target.gpu_layers))
    if event.finish_reason != "stop":
        words.append("cancelled" if event.finish_reason == "cancelled" else receipt.AT_THE_LIMIT)
    return " · ".join(words)


def _notes(proof: Receipt, told: str | None) -> list[str]:
    """What was done otherwise than asked; on the command line also of a draft that this answer would not have used.
    ``told``: why one was refused, where that was said before the answer."""
    notes, refused = receipt.notes(proof), proof.draft_refused
    if refused and refused == told:
        return [note for note in notes if refused not in note]
    if refused and not any(refused in note for note in notes):
        notes.append(f"draft refused: {refused}")
    return notes


def _as_json(event: Finished) -> str:
    return event.model_dump_json(include={"text", "token_ids", "finish_reason", "receipt", "stats"})
