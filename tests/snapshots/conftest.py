"""What most pictures are taken in: two themes, two sizes, on a quiet machine."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["dark", "light"])
def theme(request: pytest.FixtureRequest) -> str:
    return f"slipstream-{request.param}"


@pytest.fixture(params=[(80, 24), (120, 40)], ids=lambda size: f"{size[0]}x{size[1]}")
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    chosen: tuple[int, int] = request.param
    return chosen


@pytest.fixture(autouse=True)
def quiet_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """What else runs on this machine is in no picture."""
    monkeypatch.setattr("app.compare.neighbours.busy_seconds", lambda proc: None)
