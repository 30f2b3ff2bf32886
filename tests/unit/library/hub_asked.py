"""The hub is asked for a repository."""

from __future__ import annotations

import pytest

from app.library.hub import Hub, HubError

REPO = "owner/Some-GGUF"
HUB_WORDS = "What is on this disk works"


def refused(hub: Hub, repo: str = REPO, revision: str | None = None) -> tuple[str, str]:
    with pytest.raises(HubError) as error:
        hub.repo(repo, revision)
    assert error.value.__cause__ is None
    return error.value.code, str(error.value)
