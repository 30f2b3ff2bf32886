"""The benchmark of the interface runs: the real program, an engine that pretends, figures for everything."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="it reads /proc")


def test_a_short_run_measures_and_reports(tmp_path: Path) -> None:
    out = tmp_path / "ui.json"
    options = ["--only", "code,long,paste", "--seconds", "1", "--starts", "1", "--chats", "5", "--json", str(out)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.ui", *options], cwd=ROOT, capture_output=True, text=True, timeout=150
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(out.read_text())["rows"]
    assert [row["name"] for row in rows] == [
        "drawing at 150 tok/s, one long code block",
        "key echo (p95) while streaming one long code block",
        "drawing at 150 tok/s, prose behind 1,000 messages",
        "key echo (p95) while streaming prose behind 1,000 messages",
        "1 MB pasted, until its folded line is shown",
        "slowest key behind it",
    ]
    assert all(row["value"] > 0 for row in rows)
    assert all(row["samples"] for row in rows if "key" in row["name"])
    assert all(row["name"] in done.stdout for row in rows)


def test_what_cannot_be_measured_is_said() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.ui", "--only", "wings"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("There is no measurement wings; there are start, ")
