"""Makes assets/chat.svg and assets/models.svg from the real program: a short chat with the starter, and ctrl+l.

Run it from a working copy: .venv/bin/python scripts/screenshot.py
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path

from app import paths
from app.chats.store import open_chats
from app.library.catalog import catalog
from app.library.resolve import find_source
from app.library.shelf import Shelf
from app.tui.app import SlipstreamApp
from engine.client import EngineClient
from engine.protocol import GenerateSettings, LoadSettings, ModelFile, Sampling

ASSETS = Path(__file__).resolve().parent.parent / "assets"

MESSAGES = (
    "Write a Python function that returns the n-th Fibonacci number, in a code block, and say how it works.",
    "Now return the same code with the function renamed to fib_number.",
)


async def main() -> None:
    folder = Path(tempfile.mkdtemp())
    os.environ[paths.HOME_VARIABLE] = str(folder)
    target = find_source(catalog().starter.target, folder)
    engine = EngineClient(folder / "engine.log")
    store = open_chats(paths.chats_file(), lambda notice: None)
    app = SlipstreamApp(
        engine,
        LoadSettings(target=ModelFile(path=str(target))),
        store,
        defaults=GenerateSettings(messages=(), seed=4, sampling=Sampling(temperature=0), max_tokens=220),
        library=Shelf,
    )
    async with app.run_test(size=(120, 40)) as pilot:
        for message in MESSAGES:
            screen = app.chat_screen
            assert screen is not None
            screen.query_one("Composer").text = message  # type: ignore[attr-defined]
            await pilot.press("enter")
            await pilot.pause(0.5)
            while screen.answering.busy or screen.dialogue.live is not None:
                await pilot.pause(0.1)
        await pilot.pause(0.5)
        (ASSETS / "chat.svg").write_text(app.export_screenshot(title="slipstream"), encoding="utf-8")
        await pilot.press("ctrl+l")
        await pilot.pause(2)
        await pilot.press("down", "down")
        await pilot.pause(1)
        (ASSETS / "models.svg").write_text(app.export_screenshot(title="slipstream"), encoding="utf-8")
    await engine.close()
    store.close()


if __name__ == "__main__":
    asyncio.run(main())
