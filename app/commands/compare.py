"""``slipstream compare``: one request in several ways, on whole answers, and what may be said about the difference."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Mapping
from typing import Any

from app import paths
from app.clean import clean
from app.commands import client
from app.commands.errors import CANCELLED, FAILED, CommandError, say
from app.commands.interrupts import interrupts
from app.commands.options import answer_request
from app.commands.stdout import Progress, print_text
from app.commands.wanted import wanted_files, wanted_messages, wanted_settings
from app.compare.causes import Cause, explain
from app.compare.conduct import Comparison, conduct
from app.compare.memory import memory_of
from app.compare.report import as_json, as_text
from app.compare.runs import Run, RunFailed
from app.compare.verdict import first_fork
from app.compare.ways import BadWay, Way, read_ways
from app.replay.again import CannotReplay
from app.replay.again import wanted_pair as pair_of
from app.replay.kept import DamagedRecordError, last_records
from app.settings import Settings
from engine.client import EngineClient
from engine.protocol import GenerateSettings, LoadSettings

DEFAULT_TOKENS = 256
NOTHING_TO_COMPARE = (
    'There is no prompt. Give one (slipstream compare "...") or pipe one in; --last and --chat take one of your chats.'
)


def run_compare(options: Mapping[str, Any]) -> int:
    """Returns the exit code: 0 compared, 1 error, 130 stopped. What is whole by then is reported."""
    settings = wanted_settings(options)
    try:
        ways = read_ways(options["ways"])
    except BadWay as error:
        raise CommandError(str(error)) from error
    load, request = _stored(options) or _given(options, settings)
    changes = {"seed": request.seed if request.seed is not None else secrets.randbelow(2**31)}
    changes["max_tokens"] = options["max_tokens"] or request.max_tokens or DEFAULT_TOKENS
    comparison = Comparison(ways, request.model_copy(update=changes), load, options["runs"])
    return asyncio.run(_Comparing(client.make_client(), comparison, as_json=options["as_json"]).run())


def _given(options: Mapping[str, Any], settings: Settings) -> tuple[LoadSettings, GenerateSettings]:
    """The pair of the settings, and the prompt that was given."""
    load = wanted_files(settings)
    return load, answer_request(settings, wanted_messages(options, settings, NOTHING_TO_COMPARE), options)


def _stored(options: Mapping[str, Any]) -> tuple[LoadSettings, GenerateSettings] | None:
    """The pair and the request of an answer that was given before; None where none is asked for."""
    chat = options["chat"]
    if not options["last"] and chat is None:
        return None
    if options["prompt"]:
        raise CommandError("Give a prompt, or --chat, or --last: one of them.")
    found = last_records(paths.chats_file(), chat)
    if not found:
        where = "There is no chat" if chat is None else f"There is no chat {chat}"
        raise CommandError(f"{where} with an answer that has a receipt. Ask something first, or give a prompt.")
    answer = found[0]
    if isinstance(answer, DamagedRecordError):
        raise CommandError(str(answer))
    try:
        return pair_of(answer), answer.request()
    except CannotReplay as error:
        raise CommandError(str(error)) from error


class _Comparing:
    """Runs a comparison with progress on stderr; Ctrl+C ends it and what is whole is reported."""

    def __init__(self, engine: EngineClient, comparison: Comparison, *, as_json: bool) -> None:
        self._engine, self._comparison, self._json = engine, comparison, as_json
        self._progress = Progress()

    async def run(self) -> int:
        comparison, cause = self._comparison, None
        self._engine.wanted = comparison.load
        try:
            with interrupts(self._engine, self._stop):
                try:
                    await conduct(self._engine, comparison, changed=self._show, warming=self._warm)
                    cause = await self._cause()
                except RunFailed:  # comparison.failure has the words
                    pass
                self._progress.clear()
                if comparison.rounds or not comparison.failure:
                    self._report(cause)
        finally:  # at last: a Ctrl+C while the engine ends takes nothing along
            await self._engine.close()
        if comparison.failure:
            say(comparison.failure)
            return FAILED
        return CANCELLED if comparison.stopped else 0

    async def _cause(self) -> Cause | None:
        forked = first_fork(self._comparison)
        return await explain(self._engine, *forked) if forked and not self._comparison.stopped else None

    def _report(self, cause: Cause | None) -> None:
        comparison = self._comparison
        context = next((run.receipt.context for run in comparison.runs if run.receipt), 0)
        memory = [
            memory_of(way, comparison.load, context, comparison.refused) if context else None for way in comparison.ways
        ]
        if self._json:
            print_text(json.dumps(as_json(comparison, memory, cause), indent=2, ensure_ascii=False))
        else:
            print_text(clean("\n".join(as_text(comparison, memory, cause))))

    def _warm(self, way: Way) -> None:
        self._progress.show(f"warming up {way.label}")

    def _show(self, run: Run) -> None:
        comparison = self._comparison
        number = len(comparison.runs)
        left = comparison.seconds_left
        words = "" if left is None else f", {left:.0f} s left"
        self._progress.show(f"run {number}/{comparison.repetitions * len(comparison.ways)}{words}: {run.way.label}")

    def _stop(self) -> None:
        self._comparison.stopped = True
