"""The program itself in a process of its own, with the real engine and a home of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.proofs.stored import Slipstream

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def slipstream(home: Path) -> Slipstream:
    environment = os.environ | {"SLIPSTREAM_HOME": str(home), "PYTHONPATH": str(ROOT)}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "app", *arguments],
            env=environment,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
        )

    return run
