"""``slipstream`` with :mod:`tests.bench.ui.host` as its engine: what the benchmark starts and measures."""

from __future__ import annotations

import sys
from typing import Final

from app import paths
from app.commands import client
from app.start import main
from engine.client import EngineClient

COMMAND: Final = (sys.executable, "-m", "tests.bench.ui.host")


def make_client() -> EngineClient:
    """Like the function of this name that it stands in for."""
    return EngineClient(paths.engine_log(), command=COMMAND, cache=paths.engine_cache_dir())


if __name__ == "__main__":
    setattr(client, "make_client", make_client)  # noqa: B010
    main()
