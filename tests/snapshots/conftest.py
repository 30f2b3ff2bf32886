"""What most pictures are taken in: two themes, two sizes."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["dark", "light"])
def theme(request: pytest.FixtureRequest) -> str:
    return f"slipstream-{request.param}"


@pytest.fixture(params=[(80, 24), (120, 40)], ids=lambda size: f"{size[0]}x{size[1]}")
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    chosen: tuple[int, int] = request.param
    return chosen
