"""``python -m tests.bench``: make the pairs, measure, report. See ``--help``."""

from __future__ import annotations

import argparse
import datetime
import sys
import time
from pathlib import Path

from engine.machine import usable_cores
from tests.bench import report
from tests.bench.machine import copy_rate, describe
from tests.bench.pairs import DEFAULT_FOLDER, PairMissing, make_pair
from tests.bench.plan import PairPlan, plan_pair
from tests.bench.run import Limits, Results, Runner
from tests.bench.targets import verdicts
from tests.bench.work import CATEGORIES, QUESTIONS_VARIABLE, SHORT_FORM, load_work

SHORT_MINUTES, FULL_MINUTES = 10.0, 85.0
SHORT_PROMPTS, FULL_PROMPTS = 5, 2
NEW_TOKENS = 128


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench",
        description="Is drafting worth it here? Short form: pair a, two categories, 10 minutes. Full form: four "
        "pairs, all categories, under 90 minutes on two cores. Ctrl+C reports what was measured so far.",
    )
    parser.add_argument("--full", action="store_true", help="the full form")
    parser.add_argument("--pairs", help="which pairs, for example a,c (full form: a,b,c,d; short form: a)")
    parser.add_argument("--minutes", type=float, help=f"time for everything ({SHORT_MINUTES:g}, full {FULL_MINUTES:g})")
    parser.add_argument("--categories", help=f"which categories (short form: {','.join(SHORT_FORM)})")
    parser.add_argument("--prompts", type=int, help=f"prompts a category ({SHORT_PROMPTS}, full {FULL_PROMPTS})")
    parser.add_argument("--offset", type=int, default=0, help="begin at this prompt of each category: other prompts")
    parser.add_argument("--questions", type=Path, help=f"Spec-Bench's questions.jsonl (also {QUESTIONS_VARIABLE})")
    parser.add_argument("--tokens", type=int, default=NEW_TOKENS, help="most new tokens of an answer")
    parser.add_argument("--repetitions", type=int, help="at most this many repetitions (default: while time is left)")
    parser.add_argument("--threads", type=int, help="threads for everybody (default: what the engine would use)")
    parser.add_argument("--folder", type=Path, default=DEFAULT_FOLDER, help="where the model files are made and kept")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="keep every run in this file")
    parser.add_argument("--markdown", action="store_true", help="print the whole report, not the verdicts alone")
    parser.add_argument("--show", type=Path, metavar="FILE.json", help="measure nothing; show what --out wrote")
    parser.add_argument("--check", action="store_true", help="exit code 1 when a target is not met")
    return parser.parse_args(arguments)


def main() -> int:
    options = parse()
    if options.show:
        results = report.load(options.show)
    else:
        results = measure(options)
        if options.out:
            report.save(results, options.out)
    print(report.to_markdown(results) if options.markdown else report.to_lines(results))
    if report.mismatches(results):
        return 1
    if results.interrupted:
        return 130
    return int(options.check and any(one.status == "not met" for one in verdicts(results)))


def measure(options: argparse.Namespace) -> Results:
    """The whole run: files, machine, plans, measurements."""
    started = time.monotonic()
    minutes = options.minutes or (FULL_MINUTES if options.full else SHORT_MINUTES)
    categories = CATEGORIES if options.full else list(SHORT_FORM)
    if options.categories:
        categories = options.categories.split(",")
    work = load_work(options.questions)
    prompts = work.choose(
        categories, options.prompts or (FULL_PROMPTS if options.full else SHORT_PROMPTS), options.offset
    )
    if not prompts:
        sys.exit(f"There are no prompts of the categories {', '.join(categories)}; known: {', '.join(CATEGORIES)}.")
    threads = options.threads or usable_cores()[0]
    results = Results(
        form=f"{'full' if options.full else 'short'} form",
        work=work.source,
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        threads=threads,
        tokens=options.tokens,
        machine=describe(),
    )
    plans: list[PairPlan] = []
    try:
        for key in (options.pairs or ("abcd" if options.full else "a")).replace(",", ""):
            try:
                plans.append(plan_pair(make_pair(key, options.folder, say)))
            except PairMissing as error:
                results.troubles.append(f"pair {key} is left out: {error}")
                say(results.troubles[-1])
        results.copy_bytes_per_second = copy_rate(threads)
    except KeyboardInterrupt:
        results.interrupted = True
        return results
    say(f"{len(prompts)} prompts; {work.source}; {minutes:g} minutes at most")
    limits = Limits(options.tokens, threads, started + 60 * minutes, options.repetitions)
    Runner(plans, prompts, limits, results, options.folder, say).run()
    results.minutes = round((time.monotonic() - started) / 60, 1)
    return results


if __name__ == "__main__":
    sys.exit(main())
