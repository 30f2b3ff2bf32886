"""Ollama's store: names, layers, and manifests that lead nowhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.library import ollama as ollama_module
from app.library.found import Candidate
from app.library.ollama import OllamaStore, name_of
from app.library.walk import LeftOut
from tests.fixtures.disks import write_ollama
from tests.fixtures.headers import write_model


@pytest.mark.parametrize(
    ("manifest", "name"),
    [
        ("registry.ollama.ai/library/llama3.2/1b", "llama3.2:1b"),
        ("registry.ollama.ai/someone/model/latest", "someone/model:latest"),
        ("hf.co/org/Repo-GGUF/Q4_K_M", "hf.co/org/Repo-GGUF:Q4_K_M"),
    ],
)
def test_models_are_called_what_people_call_them(manifest: str, name: str) -> None:
    assert name_of(Path(manifest)) == name


def test_layers_that_may_be_models(tmp_path: Path) -> None:
    store = tmp_path / "store"
    layers = {kind: kind.encode() for kind in ("model", "draft", "projector", "adapter", "template", "license")}
    write_ollama(store, "registry.ollama.ai/library/llama3.2/1b", layers)
    found = list(OllamaStore(store).find())
    assert all(isinstance(one, Candidate) for one in found)
    assert [one.path.read_bytes() for one in found] == [b"model", b"draft", b"projector", b"adapter"]
    assert {(one.name, one.renamed) for one in found if isinstance(one, Candidate)} == {("llama3.2:1b", True)}


def test_a_layer_that_is_not_here_and_one_under_way(tmp_path: Path) -> None:
    write_ollama(tmp_path, "registry.ollama.ai/library/m/latest", {"model": b""})
    (tmp_path / "blobs").mkdir(exist_ok=True)
    for name in ("sha256-aa-partial", "sha256-aa-partial-0", "sha256-aa-partial-1"):
        (tmp_path / "blobs" / name).touch()
    reasons = [one.reason for one in OllamaStore(tmp_path).find() if isinstance(one, LeftOut)]
    assert reasons == ["m:latest is not here in full", "it is still being written"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"layers": 5}',
        '{"layers": [{"mediaType": "application/vnd.ollama.image.model"}]}',
        "[" * 100_000,
        json.dumps({"layers": [{"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:../../x"}]}),
        json.dumps({"layers": [{"mediaType": "application/vnd.ollama.image.model", "digest": "/etc/passwd"}]}),
    ],
)
def test_a_manifest_that_makes_no_sense(tmp_path: Path, text: str) -> None:
    manifest = write_ollama(tmp_path, "registry.ollama.ai/library/m/latest", {})
    manifest.write_text(text)
    assert list(OllamaStore(tmp_path).find()) == [LeftOut(manifest, "Ollama", "its manifest cannot be understood")]


@pytest.mark.parametrize("layers", ["null", "[]"])
def test_a_model_of_the_cloud_has_nothing_here(tmp_path: Path, layers: str) -> None:
    manifest = write_ollama(tmp_path, "registry.ollama.ai/library/m/120b-cloud", {})
    manifest.write_text(f'{{"layers": {layers}}}')
    assert list(OllamaStore(tmp_path).find()) == []


def test_files_where_no_manifest_belongs(tmp_path: Path) -> None:
    write_model(tmp_path / "source.gguf")
    write_ollama(tmp_path, "registry.ollama.ai/library/m/latest", {"model": tmp_path / "source.gguf"})
    (tmp_path / "manifests/registry.ollama.ai/library/m/.DS_Store").write_bytes(b"\0\0\0\1Bud1")
    (tmp_path / "manifests" / "stray").touch()
    (tmp_path / "manifests" / "registry.ollama.ai" / "loop").symlink_to(tmp_path)
    (found,) = OllamaStore(tmp_path).find()
    assert isinstance(found, Candidate)


def test_no_store_at_all(tmp_path: Path) -> None:
    assert list(OllamaStore(tmp_path / "nowhere").find()) == []


def test_a_manifest_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = write_ollama(tmp_path, "registry.ollama.ai/library/m/latest", {"model": b"x"})

    def refuse(path: Path, mode: str) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(ollama_module, "open", refuse, raising=False)
    assert list(OllamaStore(tmp_path).find()) == [LeftOut(manifest, "Ollama", "it cannot be read: permission denied")]


def test_a_model_whose_name_holds_control_codes(tmp_path: Path) -> None:
    write_ollama(tmp_path, "registry.ollama.ai/library/m\x1b[2J/latest", {"model": b"x"})
    assert [one.reason for one in OllamaStore(tmp_path).find() if isinstance(one, LeftOut)] == [
        "its name holds control codes"
    ]
