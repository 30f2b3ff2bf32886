"""What another tool fetched from the hub bears the hub's names, and is not fetched a second time."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from app.library.found import HUB, LM_STUDIO, OURS
from app.library.lookup import find_model
from app.library.shelf import Shelf
from app.library.upstream import Upstream, upstream
from tests.fixtures.homes import ONE_TARGET, Home, write
from tests.fixtures.hub import Hub
from tests.unit.library.shelves import pull

REPO = "some/Tiny-GGUF"
LOOSE = f"{REPO}/Tiny-Q4_K_M.gguf"


def in_hub_cache(home: Home, data: bytes) -> Path:
    """As the hub's own client leaves it: a blob that is called by its hash, and a link to it."""
    folder = home.user / ".cache/huggingface/hub/models--some--Tiny-GGUF"
    blob = write(folder / "blobs" / hashlib.sha256(data).hexdigest(), data)
    link = folder / "snapshots" / "c0ffee" / "Tiny-Q4_K_M.gguf"
    link.parent.mkdir(parents=True)
    link.symlink_to(Path("../../blobs") / blob.name)
    return link


def test_places_tell_repositories(tmp_path: Path) -> None:
    cache = tmp_path / "models--own-er--Re-po--2-GGUF/snapshots/c0ffee"
    assert upstream(cache / "UD/x.gguf", HUB) == Upstream("own-er/Re-po--2-GGUF", "UD/x.gguf")
    assert upstream(Path("/lm/models/owner/repo/x.gguf"), LM_STUDIO) == Upstream("owner/repo", "x.gguf")
    for odd in ("/x.gguf", "/snapshots/c/x.gguf", "/models--a/snapshots/c/x.gguf", "/models--a--b/snapshots/x.gguf"):
        assert upstream(Path(odd), HUB) is None, odd
    assert upstream(Path("/m/owner/repo/x.gguf"), OURS) is None


@pytest.mark.parametrize("kept_by", ["hub cache", "LM Studio"])
def test_it_is_used_and_nothing_is_fetched(home: Home, hub: Hub, shelf: Shelf, kept_by: str) -> None:
    data = home.files[ONE_TARGET]
    hub.repo(REPO).put("Tiny-Q4_K_M.gguf", data)
    studio = home.user / ".lmstudio/models" / LOOSE
    there = in_hub_cache(home, data) if kept_by == "hub cache" else write(studio, data)
    for name in (REPO, f"{REPO}:Q4_K_M", LOOSE, LOOSE.casefold()):
        assert find_model(name) == there, name
        assert shelf.files(name) == [there], name
    for name in (REPO, LOOSE):
        offer = shelf.plan(name)
        assert offer.refusal == f"{LOOSE} is here already; nothing is to be fetched."
        assert f"read in place, {kept_by}" in offer.text
    assert hub.sent("cdn/*") == 0
    assert home.names() == []


@pytest.mark.parametrize("kept_by", ["hub cache", "LM Studio"])
def test_another_version_is_fetched(home: Home, hub: Hub, shelf: Shelf, kept_by: str) -> None:
    hub.repo(REPO).put("Tiny-Q4_K_M.gguf", home.files[ONE_TARGET])
    if kept_by == "hub cache":
        in_hub_cache(home, home.files[ONE_TARGET][:-1] + b"x")
    else:  # which does not tell hashes: another size
        write(home.user / ".lmstudio/models" / LOOSE, home.files[ONE_TARGET] + bytes(32))
    assert shelf.plan(LOOSE).refusal == ""
    pull(shelf, LOOSE)
    assert LOOSE in home.names()
