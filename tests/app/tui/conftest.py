from __future__ import annotations

import pytest

from app.tui import clipboard


@pytest.fixture(autouse=True)
def no_clipboard_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test copies stays off the clipboard of whoever runs it."""
    monkeypatch.setattr(clipboard, "local_tool", lambda: None)
