"""``slipstream`` inside this process, against an engine that is a script."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from app import cli
from app.commands import client
from tests.fixtures_cli.results import Result, Slipstream
from tests.fixtures_cli.slipstream_fake import fake_client

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    file = tmp_path / "some model.gguf"
    file.write_bytes(b"GGUF")
    return file


@pytest.fixture
def slipstream(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Slipstream:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(client, "make_client", fake_client)

    def run(*arguments: str, stdin: bytes | None = None, play: dict[str, Any] | None = None) -> Result:
        monkeypatch.setenv("FAKE_HOST", json.dumps(play or {}))
        monkeypatch.setattr(sys, "argv", ["slipstream", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)) if stdin is not None else None)
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = capsys.readouterr()
        return Result(int(ended.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture
def ask(slipstream: Slipstream, model: Path) -> Slipstream:
    """``ask`` with a model that is there."""

    def run(*arguments: str, **options: Any) -> Result:
        return slipstream("ask", "--model", str(model), *arguments, **options)

    return run
