"""The arrows of the house: contracts on the imports as written, and proof of what is really loaded."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOT_FOR_THE_ENGINE = {"textual", "rich", "typer", "huggingface_hub", "app"}


def loaded_by(statement: str) -> set[str]:
    """Top-level names in sys.modules after ``statement`` ran in a fresh process."""
    code = f"import sys\n{statement}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_import_contracts() -> None:
    command = [Path(sys.executable).with_name("lint-imports"), "--no-logo", "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_engine_brings_no_screen_and_no_hub() -> None:
    assert not loaded_by("import engine.host") & NOT_FOR_THE_ENGINE
    modules = [module.name for module in pkgutil.walk_packages([str(ROOT / "engine")], "engine.")]
    names = loaded_by(f"import {', '.join(modules)}")
    assert "pydantic" in names
    assert not names & NOT_FOR_THE_ENGINE


def test_the_screen_brings_no_model_library() -> None:
    names = loaded_by("import app.tui.app, app.commands.chat")
    assert "textual" in names
    assert not names & {"llama_cpp", "numpy", "huggingface_hub", "httpx2"}


def test_the_chat_in_lines_brings_no_screen() -> None:
    names = loaded_by("import app.plain.run, app.plain.chat; from app.tui.commands import registry; registry()")
    assert "pydantic" in names
    assert not names & {"llama_cpp", "numpy", "textual", "rich", "huggingface_hub", "httpx2"}


def test_the_client_brings_no_model_library() -> None:
    names = loaded_by("import app.commands.ask, app.commands.doctor")
    assert "asyncio" in names
    assert not names & {"llama_cpp", "numpy", "textual", "huggingface_hub", "httpx2", "rich"}
