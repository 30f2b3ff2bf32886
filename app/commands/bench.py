"""``slipstream bench``: what speculation brings with this pair on this machine, by kind of work."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from app import paths
from app.clean import clean
from app.commands import client
from app.commands.errors import CANCELLED, FAILED, CommandError, say
from app.commands.interrupts import interrupts
from app.commands.options import answer_request
from app.commands.stdout import Progress, print_text
from app.commands.wanted import system_messages, wanted_files, wanted_settings
from app.compare.bench import Bench, run_bench
from app.compare.bench_report import as_csv, as_json, as_markdown, as_text
from app.compare.runs import Run, RunFailed
from app.compare.suite import BadSuite, Task, bundled, choose, own
from app.compare.ways import BadWay, Way, read_ways
from engine.client import EngineClient
from engine.protocol import Described

DEFAULT_TOKENS: Final = 128
FORMS: Final = ("json", "csv", "markdown")


def run_bench_command(options: Mapping[str, Any]) -> int:
    """Returns the exit code: 0 measured, 1 error, 130 stopped before anything was whole."""
    form = _form(options)
    settings = wanted_settings(options)
    load = wanted_files(settings)
    try:
        ways = read_ways(options["ways"])
        tasks = choose(
            own(Path(options["prompts"])) if options["prompts"] else bundled(),
            [word.strip() for word in (options["categories"] or "").split(",") if word.strip()],
            options["each"],
        )
    except (BadWay, BadSuite) as error:
        raise CommandError(str(error)) from error
    system = system_messages(settings)
    limits = {
        **options,
        "max_tokens": options["max_tokens"] or DEFAULT_TOKENS,
        "seed": options["seed"] if options["seed"] is not None else secrets.randbelow(2**31),
    }
    bench = Bench(tasks, ways, answer_request(settings, system, limits), load, options["runs"])
    return asyncio.run(_Benching(client.make_client(), bench, form).run())


def _form(options: Mapping[str, Any]) -> str:
    """One of FORMS, or ``text``; CommandError where more than one is asked for."""
    asked = [form for form in FORMS if options[f"as_{form}"]]
    if len(asked) > 1:
        raise CommandError(f"{' and '.join(f'--{form}' for form in asked)} exclude each other: choose one of them.")
    return asked[0] if asked else "text"


class _Benching:
    """Runs a benchmark with progress on stderr; Ctrl+C ends it and what is whole is reported."""

    def __init__(self, engine: EngineClient, bench: Bench, form: str) -> None:
        self._engine, self._bench, self._form = engine, bench, form
        self._progress = Progress()

    async def run(self) -> int:
        engine, bench = self._engine, self._bench
        engine.wanted = bench.load
        try:
            with interrupts(engine, self._stop):
                described = await engine.describe()
                await run_bench(engine, bench, changed=self._show, warming=self._warm)
                pair = engine.pair
        except RunFailed as error:
            self._progress.clear()
            say(str(error))
            return FAILED
        finally:
            await engine.close()
        self._progress.clear()
        found = as_json(bench, pair, described if isinstance(described, Described) else None)
        text = json.dumps(found, indent=1, ensure_ascii=False)
        self._keep(text)
        if self._form == "json":
            print_text(text)
        else:
            forms = {"csv": lambda: as_csv(bench), "markdown": lambda: as_markdown(bench, pair)}
            print_text(clean(forms.get(self._form, lambda: as_text(bench, pair))()))
        return 0 if bench.runs_made else CANCELLED

    def _keep(self, text: str) -> None:
        """Beside the results of other days; a folder that cannot be written to is told and is no reason to fail."""
        stamp = datetime.now(UTC).strftime("%Y-%m-%d-%H%M%S")
        try:
            file = paths.bench_dir() / f"{stamp}.json"
            file.write_text(text, encoding="utf-8")
        except (OSError, paths.FolderError) as error:
            say(f"The results are not kept: {error}.")
        else:
            say(f"kept in {file}")

    def _warm(self, way: Way) -> None:
        self._progress.show(f"warming up {way.label}")

    def _show(self, task: Task, run: Run) -> None:
        left = self._bench.seconds_left
        words = "" if left is None else f", {_minutes(left)} left"
        made, wanted = self._bench.runs_made + 1, self._bench.runs_wanted
        self._progress.show(f"run {made}/{wanted}{words}: {task.category}, {run.way.label}")

    def _stop(self) -> None:
        self._bench.stopped = True
        for comparison in self._bench.comparisons:
            comparison.stopped = True


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
