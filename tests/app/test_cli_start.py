"""The first tenth of a second: a Ctrl+C while Python imports, and names before files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.library.catalog import catalog
from app.library.resolve import find_source, resolve

SLOW_IMPORT = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "app.cli":
            os.kill(os.getpid(), signal.SIGINT)
        return None
sys.meta_path.insert(0, Finder())
from app.start import main
main()
"""


def test_ctrl_c_during_the_imports_ends_without_a_traceback() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SLOW_IMPORT], capture_output=True, text=True, cwd=Path(__file__).parents[2]
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_a_known_name_means_the_known_model_wherever_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    known = catalog()
    (tmp_path / known.starter.name).mkdir()
    assert resolve(known.starter.name, tmp_path, known) == find_source(known.starter.target, tmp_path)


@pytest.mark.parametrize("model", ["nowhere.gguf", "cut.gguf"])
def test_doctor_looks_at_the_model_that_is_named(tmp_path: Path, model: str) -> None:
    (tmp_path / "cut.gguf").write_bytes(b"GGUF\x03\x00\x00\x00")
    done = subprocess.run(
        [sys.executable, "-m", "app", "doctor", "--model", str(tmp_path / model)],
        capture_output=True,
        text=True,
        env=os.environ | {"SLIPSTREAM_HOME": str(tmp_path / "home")},
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 1
    assert model in done.stdout
    assert "1 problem" in done.stdout
