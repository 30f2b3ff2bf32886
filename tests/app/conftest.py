"""``slipstream`` inside this process, with a home of its own and a hub on loopback."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app import cli
from app.commands import client
from app.commands.models import pull
from app.library.shelf import Shelf
from app.library.transfer.patience import Patience
from tests.fixtures.homes import Home, make_home
from tests.fixtures.hub import Hub
from tests.fixtures.scripted import Script
from tests.fixtures_cli.results import Result, Slipstream
from tests.fixtures_cli.slipstream_fake import fake_client

ROOT = Path(__file__).resolve().parents[2]
HASTY = Patience(connect=1.0, stall=0.6, tries=2, first_tries=1, pause=0.05, longest_pause=0.1, tick=0.02)


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scripted: Callable[..., Script], hub: Hub) -> Home:
    return make_home(monkeypatch, tmp_path, scripted, hub)


@pytest.fixture
def slipstream(monkeypatch: pytest.MonkeyPatch, home: Home, capsys: pytest.CaptureFixture[str]) -> Slipstream:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(client, "make_client", fake_client)
    monkeypatch.setattr(pull, "LOOK_SECONDS", 0.02)
    for module in ("listing", "pull", "keeping", "checking"):
        monkeypatch.setattr(f"app.commands.models.{module}.open_shelf", lambda: Shelf(patience=HASTY))

    def run(*arguments: str, answer: str | None = None) -> Result:
        stdin = io.StringIO(answer)
        stdin.isatty = lambda: True  # type: ignore[method-assign]
        monkeypatch.setattr(sys, "stdin", None if answer is None else stdin)
        monkeypatch.setattr(sys, "argv", ["slipstream", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = capsys.readouterr()
        return Result(int(ended.value.code or 0), captured.out, captured.err)

    return run
