"""``python -m tests.bench.gpu``: what a GPU does to the engine's promises, in a few minutes. ``tests/bench/gpu.sh``
builds for CUDA first and then runs this; ``--tiny --cpu`` tries it anywhere in seconds.

Every step is a process of its own with its own time: one that fails, hangs or crashes is recorded with what it had
found, and the next one runs. Exit code 1 when a step failed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from tests.bench import gpu_report

ROOT = Path(__file__).resolve().parents[2]
LEAST = 3.0
"""Seconds below which a step is not begun."""


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.gpu", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "gpu", help="where gpu.json and gpu.md go")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "gpu-work", help="where model files are made")
    parser.add_argument("--seconds", type=float, default=270.0, help="time for everything")
    parser.add_argument("--weights", choices=("q8_0", "f16"), default="q8_0", help="of the synthetic model")
    parser.add_argument("--only", help="steps whose names hold this text")
    parser.add_argument("--tiny", action="store_true", help="models of a few megabytes, to try the script")
    parser.add_argument("--cpu", action="store_true", help="offload nothing")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main() -> int:
    options = parse()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.step:
        return run_step(options)
    deadline = time.monotonic() + options.seconds
    records: list[gpu_report.Record] = []
    for name, most in names(options).items():
        if options.only and options.only not in name:
            continue
        left = deadline - time.monotonic()
        record = (
            supervise(name, min(most, left), options)
            if left >= LEAST
            else gpu_report.record(name, "skipped", 0.0, error="the time was used up")
        )
        gpu_report.keep(options.work, record)
        records.append(record)
        words = f": {record['error']}" if record["error"] else ""
        print(f"{name}: {record['status']} ({record['seconds']:.0f} s){words}", file=sys.stderr, flush=True)
    gpu_report.write(options.work, options.out)
    return int(any(record["status"] == "failed" for record in records))


def names(options: argparse.Namespace) -> dict[str, float]:
    """Every step, with the seconds it may take."""
    from tests.bench.gpu_steps import Setup, steps

    setup = Setup(options.work, options.tiny, options.cpu, options.weights)
    return {name: most for name, (most, _) in steps(setup).items()}


def supervise(name: str, seconds: float, options: argparse.Namespace) -> gpu_report.Record:
    """Run one step in a process of its own; its log is kept beside the models."""
    command = [sys.executable, "-m", "tests.bench.gpu", "--step", name, "--work", str(options.work.absolute())]
    command += ["--weights", options.weights, *(f"--{flag}" for flag in ("tiny", "cpu") if getattr(options, flag))]
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    found = options.work / "findings.json"
    found.unlink(missing_ok=True)
    started, error = time.monotonic(), ""
    with open(options.work / "gpu.log", "ab") as log:
        log.write(f"\n=== {name}\n".encode())
        log.flush()
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "PYTHONPATH": paths},
            start_new_session=True,  # so that it can be ended with whatever it started
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            end(process)
            error = f"not done within {seconds:.0f} s"
        except BaseException:
            end(process)
            raise
        else:
            error = "" if code == 0 else f"the process ended with exit code {code}"
    try:
        findings: dict[str, Any] = json.loads(found.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        findings = {}
    error = findings.pop("error", "") or error
    return gpu_report.record(
        name, "failed" if error else "ok", time.monotonic() - started, error=error, findings=findings
    )


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a step and what it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def run_step(options: argparse.Namespace) -> int:
    """The step's side: what it finds is written down at once."""
    from tests.bench.gpu_steps import Setup, steps

    setup = Setup(options.work, options.tiny, options.cpu, options.weights)
    findings: dict[str, Any] = {}
    try:
        for part in steps(setup)[options.step][1]():
            findings.update(part)
            keep_findings(options.work, findings)
    except Exception as error:  # the parent goes on with the next step
        traceback.print_exc()
        keep_findings(options.work, {**findings, "error": f"{type(error).__name__}: {error}"})
        return 1
    return 0


def keep_findings(work: Path, findings: dict[str, Any]) -> None:
    """Atomically, for a crash may come at any time."""
    new = work / "findings.new"
    new.write_text(json.dumps(findings, default=str), encoding="utf-8")
    new.replace(work / "findings.json")


if __name__ == "__main__":
    sys.exit(main())
