"""A disk with models of other tools on it, made up."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import huggingface_hub.utils
import pytest

from app.library.local import LocalModel, LocalScan, scan
from app.library.places import Folder
from app.library.shelf import Shelf
from tests.fixtures.homes import Home, make_home
from tests.fixtures.hub import Hub, Repo
from tests.fixtures.scripted import Script
from tests.unit.library.hub_asked import REPO
from tests.unit.library.shelves import HASTY

Scan = Callable[..., LocalScan]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Somebody's folder with models."""
    made = tmp_path / "models"
    made.mkdir()
    return made


@pytest.fixture
def look(folder: Path) -> Scan:
    """``look()``: what a scan of the folder finds."""
    return lambda *args: scan([Folder(folder, "here")], *args)


@pytest.fixture
def only(look: Scan) -> Callable[[], LocalModel]:
    """``only()``: the one model that the folder holds."""

    def find() -> LocalModel:
        found = look()
        assert found.left_out == ()
        (model,) = found.models
        return model

    return find


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scripted: Callable[..., Script], hub: Hub) -> Home:
    """A home of its own, with a catalogue, and a hub that has what it names."""
    return make_home(monkeypatch, tmp_path, scripted, hub)


@pytest.fixture
def shelf() -> Shelf:
    """Its shelf, without much patience."""
    return Shelf(patience=HASTY)


@pytest.fixture
def repo(hub: Hub) -> Repo:
    """A repository with a model in it."""
    made = hub.repo(REPO)
    made.put("some-Q4_K_M.gguf", b"GGUF" * 100)
    made.put("README.md", b"words")
    return made


@pytest.fixture
def no_proxies(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """None set and nothing left out (the hub's tests do that), and a client that has not read the settings yet."""
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    huggingface_hub.utils.close_session()
    yield
    huggingface_hub.utils.close_session()
