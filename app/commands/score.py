"""``slipstream score``: will speculation pay on this machine with this pair, and what limits it?"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from app import paths
from app.clean import clean
from app.commands import client
from app.commands.errors import CANCELLED, FAILED, CommandError, say
from app.commands.interrupts import interrupts
from app.commands.options import answer_request
from app.commands.stdout import Progress, print_text
from app.commands.wanted import wanted_files, wanted_settings
from app.compare.bench import Bench
from app.compare.runs import RunFailed
from app.compare.suite import Task
from app.score.card import judge
from app.score.measuring import Stopped, bundled_tasks, measure, own_tasks, scoring, stop
from app.score.told import as_json, as_text
from engine.client import EngineClient


def run_score(options: Mapping[str, Any]) -> int:
    """Returns the exit code: 0 measured, 1 error, 130 stopped."""
    settings = wanted_settings(options)
    load = wanted_files(settings)
    tasks = _own(Path(load.target.path)) if options["own_chats"] else bundled_tasks()
    bench = scoring(tasks, answer_request(settings, (), options), load, options["runs"])
    return asyncio.run(_score(client.make_client(), bench, options))


def _own(target: Path) -> list[Task]:
    tasks, left_out = own_tasks(paths.chats_file(), target)
    if left_out:
        say(left_out)
    if tasks:
        return tasks
    raise CommandError("This model has answered nothing in your chats yet; leave out --own-chats.")


async def _score(engine: EngineClient, bench: Bench, options: Mapping[str, Any]) -> int:
    progress = Progress()
    engine.wanted = bench.load
    try:
        with interrupts(engine, partial(stop, bench)):
            found = await measure(
                engine,
                bench,
                own_chats=bool(options["own_chats"]),
                testing=lambda: progress.show("measuring passes of 1 to 16 tokens"),
                changed=lambda task, run: progress.show(
                    f"run {bench.runs_made + 1}/{bench.runs_wanted}: {task.category}, {run.way.label}"
                ),
                warming=lambda way: progress.show(f"warming up {way.label}"),
            )
    except (RunFailed, Stopped) as error:
        progress.clear()
        say(str(error) or "Stopped before everything was measured; a part of it tells nothing.")
        return CANCELLED if isinstance(error, Stopped) else FAILED
    finally:
        await engine.close()
    progress.clear()
    card = judge(found)
    if options["as_json"]:
        print_text(json.dumps(as_json(card, found), indent=2, ensure_ascii=False))
    else:
        print_text(clean("\n".join(as_text(card, found))))
    return 0
