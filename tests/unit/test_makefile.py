"""``make ask``: whatever stands in PROMPT reaches slipstream as it is, and stdout is the answer alone."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    """An environment in which everything is set up and slipstream prints its arguments and its standard input."""
    folder = tmp_path / "venv"
    (folder / "bin").mkdir(parents=True)
    scripts = {"python": "exit 0", "slipstream": 'for word; do printf "[%s]" "$word"; done; cat'}
    for name, body in scripts.items():
        script = folder / "bin" / name
        script.write_text(f"#!/bin/sh\n{body}\n")
        script.chmod(0o755)
    for stamp in (".python", ".app", ".dev", ".starter"):
        (folder / stamp).touch()
    return folder


def make_ask(venv: Path, *arguments: str, stdin: str = "", **environment: str) -> str:
    inherited = {
        name: value for name, value in os.environ.items() if name not in ("PROMPT", "MAKEFLAGS", "MFLAGS", "MAKELEVEL")
    }
    done = subprocess.run(
        ["make", "ask", f"VENV={venv}", *arguments],
        cwd=ROOT, env=inherited | environment, input=stdin, capture_output=True, text=True, timeout=20,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


HOSTILE = [
    "cost $5 $HOME ${HOME} $(HOME) $$ $(shell touch /tmp/x)",
    "`id` \"double\" 'single' back\\slash # hash ; & | * ? <in >out !",
    "two\nlines\n\nand an end",
    "--json",
    "-n",
    "a = b := c",
    "río 日本 \U0001f30a",
]


@pytest.mark.parametrize("prompt", HOSTILE)
def test_the_prompt_on_the_command_line(venv: Path, prompt: str) -> None:
    assert make_ask(venv, f"PROMPT={prompt}") == f"[ask][--][{prompt}]"


@pytest.mark.parametrize("prompt", HOSTILE)
def test_the_prompt_in_the_environment(venv: Path, prompt: str) -> None:
    assert make_ask(venv, PROMPT=prompt) == f"[ask][--][{prompt}]"


def test_without_a_prompt_standard_input_is_the_prompt(venv: Path) -> None:
    assert make_ask(venv, stdin="piped") == "[ask]piped"


def test_a_standard_input_that_never_ends_is_not_waited_for(venv: Path) -> None:
    assert make_ask(venv, "PROMPT=hello", stdin="not read") == "[ask][--][hello]"
