"""``slipstream bench``: what speculation brings with this pair on this machine, by kind of work."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from app.clean import clean
from app.commands import client
from app.commands.bench_file import BenchFile
from app.commands.errors import CANCELLED, FAILED, CommandError, say
from app.commands.interrupts import interrupts
from app.commands.options import answer_request
from app.commands.stdout import Progress, print_text
from app.commands.wanted import system_messages, wanted_files, wanted_settings
from app.compare.bench import Bench, run_bench
from app.compare.bench_report import as_csv, as_json, as_markdown, as_text, cut_words, notes
from app.compare.runs import Run, RunFailed
from app.compare.suite import BadSuite, Task, bundled, choose, own
from app.compare.ways import BadWay, Way, read_ways
from engine.client import EngineClient
from engine.protocol import Described, Failed, PairInfo

DEFAULT_TOKENS: Final = 128
NOTHING: Final = "Nothing was measured, so nothing is kept."
FORMS: Final = ("json", "csv", "markdown")


def run_bench_command(options: Mapping[str, Any]) -> int:
    """Returns the exit code: 0 measured, 1 error, 130 stopped. What is whole by then is reported and kept."""
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
        self._file = BenchFile(self._text)
        self._described: Described | Failed | None = None
        self._pair: PairInfo | None = None
        self._run: Run | None = None

    async def run(self) -> int:
        engine, bench = self._engine, self._bench
        engine.wanted = bench.load
        try:
            with interrupts(engine, self._stop, self._leave):
                try:
                    self._described = await engine.describe()
                    await run_bench(engine, bench, changed=self._show, warming=self._warm)
                except RunFailed:  # bench.failure has the words
                    pass
                finally:  # also where a fault of our own ends it
                    self._pair = engine.pair or self._pair
                    self._keep()
                self._report()
        finally:  # at last: a Ctrl+C while the engine ends takes nothing along
            await engine.close()
        if bench.failure:
            return FAILED
        return CANCELLED if bench.stopped else 0

    def _report(self) -> None:
        """On stdout what was measured; on stderr the rest."""
        bench = self._bench
        told: list[str] = []
        if self._form in ("csv", "json") or not bench.runs_made:  # else the report itself has it
            told += notes(bench)
            told.append(cut_words(bench) if bench.runs_made else "" if bench.failure else NOTHING)
        if self._form == "json":
            print_text(self._text())
        elif bench.runs_made:
            forms = {"csv": lambda: as_csv(bench), "markdown": lambda: as_markdown(bench, self._pair)}
            print_text(clean(forms.get(self._form, lambda: as_text(bench, self._pair))()))
        for sentence in (*told, bench.failure):
            if sentence:
                say(sentence)

    def _text(self) -> str:
        described = self._described if isinstance(self._described, Described) else None
        return json.dumps(as_json(self._bench, self._pair, described), indent=1, ensure_ascii=False)

    def _keep(self) -> None:
        """Where there is something to keep."""
        self._progress.clear()
        if self._bench.runs_made:
            self._file.write()
            say(self._file.outcome)

    def _leave(self) -> None:
        """The second Ctrl+C: nobody waits for the run that goes on."""
        self._keep()
        if not self._bench.runs_made:
            say(NOTHING)

    def _warm(self, way: Way) -> None:
        self._progress.show(f"warming up {way.label}")

    def _show(self, task: Task, run: Run) -> None:
        if run is not self._run:  # it begins now: nothing is measured at this moment
            self._run = run
            self._pair = self._engine.pair or self._pair  # a crash of the engine takes it away
            if self._bench.runs_made:
                self._file.now_and_then()
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
