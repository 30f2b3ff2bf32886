"""Makes assets/chat.svg from the real program: the chat with the starter model, one short conversation.

Run it from a working copy: .venv/bin/python scripts/screenshot.py
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from app.chats.store import open_chats
from app.library.catalog import catalog
from app.library.resolve import find_source
from app.tui.app import SlipstreamApp
from engine.client import EngineClient
from engine.protocol import GenerateSettings, LoadSettings, ModelFile, Sampling

OUT = Path(__file__).resolve().parent.parent / "assets" / "chat.svg"

MESSAGES = (
    "Write a Python function that returns the n-th Fibonacci number, in a code block, and say how it works.",
    "Now return the same code with the function renamed to fib_number.",
)


async def main() -> None:
    folder = Path(tempfile.mkdtemp())
    target = find_source(catalog().starter.target, folder)
    engine = EngineClient(folder / "engine.log")
    store = open_chats(None, lambda notice: None)
    app = SlipstreamApp(
        engine,
        LoadSettings(target=ModelFile(path=str(target))),
        store,
        defaults=GenerateSettings(messages=(), seed=4, sampling=Sampling(temperature=0), max_tokens=220),
    )
    async with app.run_test(size=(120, 40)) as pilot:
        for message in MESSAGES:
            screen = app.chat_screen
            assert screen is not None
            screen.query_one("Composer").text = message  # type: ignore[attr-defined]
            await pilot.press("enter")
            await pilot.pause(0.5)
            while screen.answering.busy or screen._live is not None:
                await pilot.pause(0.1)
        await pilot.pause(0.5)
        OUT.write_text(app.export_screenshot(title="slipstream"), encoding="utf-8")
    await engine.close()
    store.close()


if __name__ == "__main__":
    asyncio.run(main())
