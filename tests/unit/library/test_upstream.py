"""What another tool fetched from the hub bears the hub's names, and is not fetched a second time."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from app.library.found import HUB, LLAMA_CPP, LM_STUDIO, OURS
from app.library.inventory import take_inventory
from app.library.lookup import find_model
from app.library.shelf import Shelf
from app.library.upstream import Upstream, upstream
from engine.files.fit import estimate
from engine.files.sizes import size_words
from tests.fixtures.disks import write_ollama
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


def in_llama_cpp(home: Home, data: bytes, notes: str = "json", hashed: str = "") -> Path:
    """As ``-hf some/Tiny-GGUF`` of an older llama.cpp leaves it."""
    file = write(home.user / ".cache/llama.cpp/some_Tiny-GGUF_Tiny-Q4_K_M.gguf", data)
    etag = f'"{hashed or hashlib.sha256(data).hexdigest()}"'
    if notes == "json":
        url = f"https://hub.example/{REPO}/resolve/main/Tiny-Q4_K_M.gguf"
        said = {"etag": etag, "lastModified": "Thu, 01 Jan 2026 00:00:00 GMT", "url": url}
        write(file.with_name(f"{file.name}.json"), json.dumps(said).encode())
    else:
        write(file.with_name(f"{file.name}.etag"), etag.encode())
        manifest = {"ggufFile": {"rfilename": "Tiny-Q4_K_M.gguf", "size": len(data)}}
        write(file.with_name("manifest=some=Tiny-GGUF=latest.json"), json.dumps(manifest).encode())
    return file


PLACES = ("hub cache", "LM Studio", "llama.cpp", "llama.cpp, its manifest")


def put_there(home: Home, kept_by: str, data: bytes) -> Path:
    if kept_by == "hub cache":
        return in_hub_cache(home, data)
    if kept_by == "LM Studio":
        return write(home.user / ".lmstudio/models" / LOOSE, data)
    return in_llama_cpp(home, data, "manifest" if "manifest" in kept_by else "json")


def test_places_tell_repositories(tmp_path: Path) -> None:
    cache = tmp_path / "models--own-er--Re-po--2-GGUF/snapshots/c0ffee"
    assert upstream(cache / "UD/x.gguf", HUB) == Upstream("own-er/Re-po--2-GGUF", "UD/x.gguf")
    assert upstream(Path("/lm/models/owner/repo/x.gguf"), LM_STUDIO) == Upstream("owner/repo", "x.gguf")
    for odd in ("/x.gguf", "/snapshots/c/x.gguf", "/models--a/snapshots/c/x.gguf", "/models--a--b/snapshots/x.gguf"):
        assert upstream(Path(odd), HUB) is None, odd
    assert upstream(Path("/m/owner/repo/x.gguf"), OURS) is None


@pytest.mark.parametrize("kept_by", PLACES)
def test_it_is_used_and_nothing_is_fetched(home: Home, hub: Hub, shelf: Shelf, kept_by: str) -> None:
    data = home.files[ONE_TARGET]
    hub.repo(REPO).put("Tiny-Q4_K_M.gguf", data)
    there = put_there(home, kept_by, data)
    for name in (REPO, f"{REPO}:Q4_K_M", LOOSE, LOOSE.casefold()):
        assert find_model(name) == there, name
        assert shelf.files(name) == [there], name
    for name in (REPO, LOOSE):
        offer = shelf.plan(name)
        assert offer.refusal == f"{LOOSE} is here already; nothing is to be fetched."
        assert f"read in place, {kept_by.partition(',')[0]}" in offer.text
    assert hub.sent("cdn/*") == 0
    assert home.names() == []


@pytest.mark.parametrize("kept_by", PLACES)
def test_another_version_is_fetched(home: Home, hub: Hub, shelf: Shelf, kept_by: str) -> None:
    hub.repo(REPO).put("Tiny-Q4_K_M.gguf", home.files[ONE_TARGET])
    data = home.files[ONE_TARGET]  # LM Studio does not tell hashes: another size
    put_there(home, kept_by, data + bytes(32) if kept_by == "LM Studio" else data[:-1] + b"x")
    assert shelf.plan(LOOSE).refusal == ""
    pull(shelf, LOOSE)
    assert LOOSE in home.names()


LONE = "o_r_x.gguf"
NOTED = {"etag": f'"{"a" * 64}"', "url": "https://hub.example/o/r/resolve/main/x.gguf"}


def test_llama_cpp_tells_repository_path_and_hash(tmp_path: Path) -> None:
    write(tmp_path / f"{LONE}.json", json.dumps(NOTED).encode())
    assert upstream(tmp_path / LONE, LLAMA_CPP) == Upstream("o/r", "x.gguf", "a" * 64)
    url = "http://localhost:1/mirror/own-er/Re_po/resolve/refs%2Fpr%2F1/UD/x%20y.gguf"
    write(tmp_path / "own-er_Re_po_UD_x y.gguf.json", json.dumps({"etag": '"5f0-6"', "url": url}).encode())
    known = Upstream("own-er/Re_po", "UD/x y.gguf")
    assert upstream(tmp_path / "own-er_Re_po_UD_x y.gguf", LLAMA_CPP) == known, "an ETag that is no hash"


def test_a_manifest_of_llama_cpp_tells_of_all_parts(tmp_path: Path) -> None:
    said = {"ggufFile": {"rfilename": "Q8_0/x-00001-of-00002.gguf"}}
    write(tmp_path / "manifest=o=r=Q8_0.json", json.dumps(said).encode())
    for part in ("x-00001-of-00002.gguf", "x-00002-of-00002.gguf"):
        assert upstream(tmp_path / f"o_r_Q8_0_{part}", LLAMA_CPP) == Upstream("o/r", f"Q8_0/{part}")
    for other in ("o_r_Q8_0_x-00001-of-00003.gguf", "o_r_Q8_0_y-00001-of-00002.gguf", "o_r_Q8_0_x.gguf", LONE):
        assert upstream(tmp_path / other, LLAMA_CPP) is None, other


@pytest.mark.parametrize(
    "noted",
    [
        b"",
        b"[1]",
        b"[" * 200_000,
        b'{"url": 3, "etag": null}',
        b"\xff{}",
        json.dumps({**NOTED, "url": "https://hub.example/o/other/resolve/main/x.gguf"}).encode(),
        json.dumps({**NOTED, "url": "https://hub.example/o/r/resolve/main/y.gguf"}).encode(),
        json.dumps({**NOTED, "url": "https://hub.example/o/r/x.gguf"}).encode(),
        json.dumps({**NOTED, "url": "https://hub.example/a/b/c/resolve/main/../../x.gguf"}).encode(),
        json.dumps({**NOTED, "more": "x" * 1_000_000}).encode(),
    ],
)
def test_what_llama_cpp_notes_is_not_believed_unless_it_makes_up_the_name(tmp_path: Path, noted: bytes) -> None:
    write(tmp_path / f"{LONE}.json", noted)
    write(tmp_path / "manifest=o=r=latest.json", noted)
    assert upstream(tmp_path / LONE, LLAMA_CPP) is None


@pytest.mark.parametrize("name", ["tiny", "Tiny", "tiny:latest"])
def test_the_tag_latest_of_ollama_may_be_left_out(home: Home, shelf: Shelf, name: str) -> None:
    store = home.user / ".ollama/models"
    write_ollama(store, "registry.ollama.ai/library/tiny/latest", {"model": home.files[ONE_TARGET]})
    write_ollama(store, "registry.ollama.ai/library/other/1b", {"model": home.files[ONE_TARGET] + bytes(32)})
    (blob,) = shelf.files("tiny:latest")
    assert find_model(name) == blob
    assert shelf.files(name) == [blob]


@pytest.mark.parametrize("ours", [True, False])
def test_the_plan_of_what_is_here_tells_the_memory_that_check_tells(
    home: Home, hub: Hub, shelf: Shelf, ours: bool
) -> None:
    hub.repo(REPO).put("Tiny-Q4_K_M.gguf", home.files[ONE_TARGET])
    assert "memory   about 80" in shelf.plan(LOOSE).text, "by its size alone"
    if ours:
        pull(shelf, LOOSE)
    else:
        in_llama_cpp(home, home.files[ONE_TARGET])
    (model,) = (one for one in take_inventory().models if "Tiny-Q4" in one.path.name)
    needed = estimate(model.shape).total
    assert f"memory   about {size_words(needed)} of" in shelf.plan(LOOSE).text
    assert needed < 200e6
