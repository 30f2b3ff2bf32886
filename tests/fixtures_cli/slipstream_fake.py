"""``slipstream`` with the fake host as its engine, for tests that need a process: signals, terminals, closed pipes."""

from __future__ import annotations

import sys

from app.cli import main
from app.commands import client
from engine.client import EngineClient

COMMAND = (sys.executable, "-m", "tests.fixtures_cli.fake_host")


def fake_client() -> EngineClient:
    return EngineClient(client._log_path(), command=COMMAND)


if __name__ == "__main__":
    client.make_client = fake_client
    main()
