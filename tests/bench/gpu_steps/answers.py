"""The same answers with speculation on or off, in the engine and through the command."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from engine.protocol import (
    SpeculationMode,
)
from tests.bench.figures import fork
from tests.bench.gpu_steps.setup import ROOT, Findings, Setup, kept, ten
from tests.bench.worker_engine import EngineWorker

TEMPERATURES = (0.0, 0.7)
DRAFTING: tuple[SpeculationMode, ...] = ("lookup", "draft", "auto")


def identity(setup: Setup, target: Path, draft: Path, count: int, tokens: int) -> Findings:
    """Is the answer the plain one with every drafter, and plain decoding its own when repeated; and where not."""
    worker = EngineWorker()
    loaded = worker.load(str(target), str(draft), "auto", 8192, setup.threads, setup.layers)
    yield {"target": target.name, "draft": draft.name, **kept(loaded, "badge", "backend", "gpu_layers", "notes")}
    prompts = ten(count)
    runs: list[SpeculationMode] = ["off", *DRAFTING]
    names = ["plain again", *DRAFTING]
    compared = dict.fromkeys(names, 0)
    forks: list[dict[str, Any]] = []
    rates: dict[str, list[float]] = {}
    accepted: dict[str, list[int]] = {}
    for prompt in prompts:
        for temperature in TEMPERATURES:
            ask: dict[str, Any] = {
                "text": prompt.text,
                "temperature": temperature,
                "seed": prompt.seed,
                "max_tokens": tokens,
            }
            plain = worker.generate(speculation="off", **ask)["tokens"]
            for name, mode in zip(names, runs, strict=True):
                got = worker.generate(speculation=mode, **ask)
                compared[name] += 1
                rates.setdefault(name, []).append(_rate(got))
                drafted = accepted.setdefault(name, [0, 0])
                drafted[0] += got["drafted"]
                drafted[1] += got["accepted"]
                place = fork(plain, got["tokens"])
                if place is not None:
                    forks.append({"mode": name, "prompt": prompt.id, "temperature": temperature, "token": place})
        yield {
            "compared": compared,
            "forks": {name: sum(one["mode"] == name for one in forks) for name in names},
            "where": forks,
            "tokens per second, median": {name: statistics.median(found) for name, found in rates.items()},
            "accepted of drafted": {name: f"{good}/{all_}" for name, (all_, good) in accepted.items() if all_},
        }
    worker.session.unload()


def _rate(answer: dict[str, Any]) -> float:
    return len(answer["tokens"]) / answer["decode_seconds"] if answer["decode_seconds"] else 0.0


def ask(setup: Setup) -> Findings:
    """The program as a person runs it, without a screen."""
    home = setup.work / "home"
    shutil.rmtree(home, ignore_errors=True)
    command = [sys.executable, "-m", "app", "ask", "--json", "--seed", "7", "--max-tokens", "32"]
    command += [
        "--model",
        str(setup.big),
        "--draft",
        str(setup.starter),
        "--context",
        "2048",
        "--threads",
        str(setup.threads),
    ]
    for name in ("--gpu-layers", "--draft-gpu-layers"):
        command += [name, str(setup.layers)]
    started = time.monotonic()
    done = subprocess.run(
        [*command, "--", "Name three rivers."],
        cwd=ROOT,
        env={**os.environ, "SLIPSTREAM_HOME": str(home), "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        check=False,
    )
    seconds = time.monotonic() - started
    yield {"exit code": done.returncode, "seconds": seconds, "stderr": done.stderr.strip()[-600:]}
    if done.returncode:
        raise RuntimeError(f"slipstream ask ended with exit code {done.returncode}")
    answer = json.loads(done.stdout)
    receipt, stats = answer["receipt"], answer["stats"]
    yield {
        "backend": receipt["backend"],
        "offloaded": receipt["target"]["gpu_layers"],
        "mode": receipt["mode"],
        "notes": receipt["notes"],
        "tokens": len(answer["token_ids"]),
        "total seconds": stats["total_seconds"],
        "load seconds": stats["load_seconds"],
    }
