"""The engine's client as the commands use it; tests put another one in its place."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from app import paths
from app.commands.errors import say
from engine.client import EngineClient
from engine.protocol import Described, Failed


def make_client() -> EngineClient:
    """A client whose engine writes to the log folder, or to a temporary one when that cannot be written to."""
    return EngineClient(_log_path(), cache=paths.engine_cache_dir())


def describe_engine(patience: float) -> Described | Failed:
    """What an engine says of itself, started for this question only. TimeoutError after ``patience`` seconds."""

    async def ask() -> Described | Failed:
        engine = make_client()
        try:
            async with asyncio.timeout(patience):
                return await engine.describe()
        finally:
            await engine.close()

    return asyncio.run(ask())


def _log_path() -> Path:
    try:
        log = paths.engine_log()
        with open(log, "ab"):
            return log
    except (OSError, paths.FolderError) as error:
        elsewhere = Path(tempfile.mkdtemp(prefix="slipstream-")) / "engine.log"
        reason = error.strerror if isinstance(error, OSError) else str(error).rstrip(".")
        say(f"The log folder {paths.log_dir()} cannot be used ({reason}); the engine's log goes to {elsewhere}.")
        return elsewhere
