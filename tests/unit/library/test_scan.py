"""A look at the disk: nothing is changed, headers are read once, and it is quick."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from app import paths
from app.library import facts as facts_module
from app.library.added_folders import add_folder
from app.library.facts import FactStore
from app.library.local import LocalModel, LocalScan, scan, scan_disk
from app.library.places import Folder
from tests.fixtures.disks import write_parts
from tests.fixtures.headers import write_model

Only = Callable[[], LocalModel]
Scan = Callable[..., LocalScan]


def test_nothing_of_others_is_changed(folder: Path, look: Scan, tmp_path: Path) -> None:
    write_model(folder / "a.gguf")
    write_parts(folder, "Cut", 2)
    (folder / "x.gguf.part").write_text("half")
    (folder / "gone.gguf").symlink_to(folder / "nowhere")

    def state() -> dict[str, tuple[int, str]]:
        return {
            str(path): (path.lstat().st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest())
            for path in folder.rglob("*")
            if path.is_file()
        }

    before, listing = state(), sorted(folder.iterdir())
    look(FactStore(tmp_path / "cache" / "facts.json"))
    assert (state(), sorted(folder.iterdir())) == (before, listing)


def test_headers_are_read_once(folder: Path, look: Scan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "cache" / "facts.json"
    write_model(folder / "a.gguf", extra={"llama.attention.head_count_kv": [1, 2]})
    write_parts(folder, "Cut", 2)
    (folder / "empty.gguf").touch()
    first = look(FactStore(file))
    read: list[str] = []
    real = facts_module.read_header
    monkeypatch.setattr(facts_module, "read_header", lambda path, **more: read.append(path.name) or real(path, **more))
    assert look(FactStore(file)) == first
    assert read == []
    changed = write_model(folder / "a.gguf", size=200_000)
    later = look(FactStore(file))
    assert read == ["a.gguf"]
    assert later.at(changed) != first.at(changed)
    touched = folder / "Cut-00002-of-00002.gguf"
    os.utime(touched, ns=(1, 1))
    look(FactStore(file))
    assert read == ["a.gguf", touched.name]


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b'{"version": 99, "files": {}}',
        b'{"version": 1, "files": {"x": 5}}',
        b"\xff\xfe",
        b"[" * 10_000,
    ],
)
def test_a_damaged_cache_is_no_cache(folder: Path, look: Scan, tmp_path: Path, damage: bytes) -> None:
    file = tmp_path / "facts.json"
    write_model(folder / "a.gguf")
    fresh = look(FactStore(file))
    file.write_bytes(damage)
    assert look(FactStore(file)) == fresh
    assert len(file.read_bytes()) > 100


def test_a_cache_that_was_changed_at_random(folder: Path, look: Scan, tmp_path: Path) -> None:
    file = tmp_path / "facts.json"
    write_model(folder / "a.gguf")
    fresh = look(FactStore(file))
    good = file.read_bytes()
    dice = random.Random(1)
    for _ in range(30):
        file.write_bytes(good[: dice.randrange(len(good))])
        assert look(FactStore(file)) == fresh


def test_a_cache_that_cannot_be_written_costs_nothing_else(folder: Path, look: Scan, tmp_path: Path) -> None:
    write_model(folder / "a.gguf")
    (tmp_path / "file").touch()
    assert len(look(FactStore(tmp_path / "file" / "facts.json")).models) == 1


def test_files_that_are_gone_are_forgotten(folder: Path, look: Scan, tmp_path: Path) -> None:
    file = tmp_path / "facts.json"
    path = write_model(folder / "long-gone.gguf")
    write_model(folder / "b.gguf")
    look(FactStore(file))
    assert "long-gone" in file.read_text()
    path.unlink()
    look(FactStore(file))
    assert "long-gone" not in file.read_text()


def test_who_gives_up_gets_what_was_found(folder: Path, tmp_path: Path) -> None:
    for number in range(10):
        write_model(folder / f"{number}.gguf", name=f"model {number}")
    asked = iter(range(1000))
    found = scan([Folder(folder, "here")], FactStore(tmp_path / "f.json"), cancelled=lambda: next(asked) >= 13)
    assert 0 < len(found.models) < 10
    assert not (tmp_path / "f.json").exists()


def test_a_file_that_goes_while_its_header_is_read(folder: Path, only: Only, monkeypatch: pytest.MonkeyPatch) -> None:
    write_model(folder / "m.gguf")

    def gone(path: Path, *, seen: object) -> None:
        raise FileNotFoundError(2, "No such file or directory", str(path))

    monkeypatch.setattr(facts_module, "read_header", gone)
    assert only().fault == "it is gone"


def test_a_fault_that_may_pass_is_not_kept(
    folder: Path, look: Scan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "facts.json"
    write_model(folder / "m.gguf")
    with monkeypatch.context() as patched:

        def refuse(path: Path, *, seen: object) -> None:
            raise PermissionError(13, "Permission denied", str(path))

        patched.setattr(facts_module, "read_header", refuse)
        assert not look(FactStore(file)).models[0].usable
    assert look(FactStore(file)).models[0].usable


def test_everywhere_on_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "LLAMA_CACHE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "ours"))
    studio = write_model(tmp_path / "home/.lmstudio/models/org/repo/Some-1B-Q8_0.gguf", name="one")
    hub = tmp_path / "home/.cache/huggingface/hub/models--org--Other-GGUF/snapshots/c0ffee/Other-Q4_0.gguf"
    write_model(hub, name="two")
    ours = write_model(tmp_path / "ours/models/org/repo/Mine-Q4_K_M.gguf", name="three")
    mine = write_model(tmp_path / "elsewhere/deep/er/Added-F16.gguf", name="four")
    add_folder(paths.model_folders_file(), tmp_path / "elsewhere")
    found = {model.path: (model.name, model.origin) for model in scan_disk().models}
    assert (
        found.items()
        >= {
            studio: ("Some-1B", "LM Studio"),
            hub: ("Other", "hub cache"),
            ours: ("Mine", "models folder"),
            mine: ("Added", "added folder"),
        }.items()
    )
    assert "SmolLM2-135M-Instruct" in {name for name, _ in found.values()}
    assert paths.model_facts_file() == tmp_path / "ours/cache/model-files.json"
    assert paths.model_facts_file().is_file()
