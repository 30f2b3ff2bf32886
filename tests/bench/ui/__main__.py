"""``python -m tests.bench.ui``: start, measure, report. See ``--help``. Linux only: it reads /proc."""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from pathlib import Path

from app.library.catalog import catalog
from app.library.resolve import packaged_file
from tests.bench.machine import describe, load_average
from tests.bench.ui import report, stores
from tests.bench.ui.measures import MEASURES, Plan
from tests.bench.ui.report import Row
from tests.bench.ui.terminal import COLUMNS, PROMPT, ROWS, program

CHATS, MESSAGES = 2_000, 1_000
NEED_CHATS = frozenset({"store", "long"})


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.ui",
        description="What the interface costs and how quick it is, beside the targets: about ten minutes. Run it on a "
        "quiet machine.",
    )
    parser.add_argument("--only", help=f"some of them, for example prose,code; there are {', '.join(MEASURES)}")
    parser.add_argument("--seconds", type=float, default=20.0, help="each stretch of streaming and of typing (20)")
    parser.add_argument("--starts", type=int, default=7, help="starts of which the median is taken (7)")
    parser.add_argument("--chats", type=int, default=CHATS, help=f"chats in the full store ({CHATS:,})")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep everything in this file, too")
    parser.add_argument("--profiles", type=Path, metavar="FOLDER", help="profile the program instead; see pstats")
    return parser.parse_args(arguments)


def main() -> int:
    options = parse()
    if not Path("/proc/self/stat").exists():
        say("This benchmark reads the processor time of the program from /proc, which this system does not have.")
        return 0
    names = options.only.split(",") if options.only else [*MEASURES]
    if unknown := [name for name in names if name not in MEASURES]:
        say(f"There is no measurement {unknown[0]}; there are {', '.join(MEASURES)}.")
        return 2
    rows: list[Row] = []
    settings: dict[str, object] = {"terminal": f"{COLUMNS}x{ROWS}", "seconds": options.seconds, "load": load_average()}
    with tempfile.TemporaryDirectory(prefix="slipstream-ui-") as folder, contextlib.suppress(KeyboardInterrupt):
        plan = prepare(options, Path(folder), with_chats=not NEED_CHATS.isdisjoint(names))
        for name in (name for name in MEASURES if name in names):
            for row in MEASURES[name](plan):
                rows.append(row)
                say(f"{row.name}: {report.shown(row.value, row.unit)}")
    print(report.to_markdown(rows))
    if options.json:
        report.save(options.json, report.to_json(rows, describe(), settings))
    return 0


def prepare(options: argparse.Namespace, homes: Path, *, with_chats: bool) -> Plan:
    """The folders that the program works in, and one start that is not counted: Python compiles what it imports."""
    for name in ("empty", "full"):
        (homes / name).mkdir()
    (homes / "steady.gguf").touch()
    if options.profiles:
        options.profiles.mkdir(parents=True, exist_ok=True)
    if with_chats:
        say(f"Making {options.chats:,} chats ...")
        begun = time.perf_counter()
        stores.fill(homes / "full", chats=options.chats, messages=MESSAGES)
        say(f"... took {time.perf_counter() - begun:.0f} s")
    starter = packaged_file(catalog().starter.target)
    plan = Plan(homes, options.seconds, options.starts, starter, options.profiles)
    with program(plan.command("warm-up"), homes / "empty") as running:
        running.sees(PROMPT)
        running.settle()
    return plan


if __name__ == "__main__":
    sys.exit(main())
