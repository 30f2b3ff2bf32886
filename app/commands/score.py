"""``slipstream score``: will speculation pay on this machine with this pair, and what limits it?"""

from __future__ import annotations

import asyncio
import json
import secrets
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from app import paths
from app.clean import clean
from app.commands import client
from app.commands.errors import FAILED, CommandError, say
from app.commands.options import answer_request, effective_settings, wanted_pair
from app.commands.stdout import Progress, print_text
from app.compare.bench import Bench, run_bench
from app.compare.memory import memory_of
from app.compare.runs import RunFailed
from app.compare.suite import Task, bundled, choose
from app.compare.ways import Way
from app.replay.kept import last_answers
from app.score.card import Measured, as_json, as_text, judge
from engine.client import EngineClient
from engine.files.fingerprint import fingerprint
from engine.protocol import LoadSettings, SelfTested

TOKENS: Final = 64
OWN_CHATS: Final = 8
"""The user's latest requests that are replayed, where they allow it."""


def run_score(options: Mapping[str, Any]) -> int:
    """Returns the exit code: 0 measured, 1 error."""
    loaded = effective_settings(options)
    for complaint in loaded.complaints:
        say(complaint)
    load, notes = wanted_pair(loaded.settings)
    for note in notes:
        say(note)
    tasks = _own(Path(load.target.path)) if options["own_chats"] else choose(bundled(), [], 1)
    ways = [Way("off"), Way("lookup"), Way("auto")]
    if load.draft is not None:
        ways.insert(2, Way("draft"))
    limits = {**options, "max_tokens": options["max_tokens"] or TOKENS, "seed": secrets.randbelow(2**31)}
    bench = Bench(tasks, tuple(ways), answer_request(loaded.settings, (), limits), load, options["runs"])
    return asyncio.run(_score(client.make_client(), bench, load, options))


def _own(target: Path) -> list[Task]:
    """The latest requests that this very file has answered; their text stays on this machine."""
    mark = fingerprint(target)
    answers = [
        answer
        for answer in last_answers(paths.chats_file(), most=200)
        if answer.receipt.target.fingerprint == mark and answer.receipt.prompt_ids
    ]
    if not answers:
        raise CommandError("This model has answered nothing in your chats yet; leave out --own-chats.")
    return [Task(str(answer.id), "own chats", (), answer.receipt.prompt_ids) for answer in answers[:OWN_CHATS]]


async def _score(engine: EngineClient, bench: Bench, load: LoadSettings, options: Mapping[str, Any]) -> int:
    progress = Progress()
    engine.wanted = load
    try:
        progress.show("measuring passes of 1 to 16 tokens")
        tested = await engine.self_test()
        await run_bench(
            engine,
            bench,
            changed=lambda task, run: progress.show(
                f"run {bench.runs_made + 1}/{bench.runs_wanted}: {task.category}, {run.way.label}"
            ),
            warming=lambda way: progress.show(f"warming up {way.label}"),
        )
        pair = engine.pair
    except RunFailed as error:
        progress.clear()
        say(str(error))
        return FAILED
    finally:
        await engine.close()
    progress.clear()
    if pair is None:
        say("The engine ended before everything was measured. Try again.")
        return FAILED
    shares = [run.foreign for one in bench.comparisons for run in one.runs if run.foreign is not None]
    found = Measured(
        pair,
        tested.result if isinstance(tested, SelfTested) else None,
        bench,
        _draft_memory(load, pair.context),
        statistics.median(shares) if shares else None,
        own_chats=bool(options["own_chats"]),
    )
    card = judge(found)
    if options["as_json"]:
        print_text(json.dumps(as_json(card, found), indent=2, ensure_ascii=False))
    else:
        print_text(clean("\n".join(as_text(card, found))))
    return 0


def _draft_memory(load: LoadSettings, context: int) -> int | None:
    alone, both = memory_of(Way("off"), load, context), memory_of(Way("auto"), load, context)
    return both - alone if alone is not None and both is not None and load.draft else None
