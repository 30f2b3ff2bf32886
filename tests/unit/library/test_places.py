"""Where other tools keep their models, and what their settings say about it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.library.added_folders import AddedFolderError, add_folder, added_folders, remove_folder
from app.library.catalog import catalog
from app.library.found import ADDED, HUB, JAN, LLAMA_CPP, LM_STUDIO, OLLAMA, OURS, PACKAGE, Candidate
from app.library.places import (
    Folder,
    HubCache,
    Surroundings,
    hub_folders,
    jan_folders,
    llama_cpp_folders,
    lm_studio_folders,
    ollama_folders,
    places,
)
from app.library.walk import LeftOut
from engine.files import whole

HOME = Path("/home/someone")


def around(home: Path = HOME, platform: str = "linux", **environment: str) -> Surroundings:
    return Surroundings(environment, home, platform)


@pytest.mark.parametrize(
    ("environment", "folders"),
    [
        ({}, ["/home/someone/.cache/huggingface/hub"]),
        ({"XDG_CACHE_HOME": "/x"}, ["/x/huggingface/hub"]),
        ({"XDG_CACHE_HOME": "/x", "HF_HOME": "/h"}, ["/h/hub"]),
        ({"HF_HOME": "/h", "HF_HUB_CACHE": "/c"}, ["/c"]),
        ({"HUGGINGFACE_HUB_CACHE": "/old"}, ["/old"]),
        ({"HF_HUB_CACHE": "~/c"}, ["/home/someone/c"]),
        ({"HF_HUB_CACHE": "  "}, ["/home/someone/.cache/huggingface/hub"]),
        ({"LLAMA_CACHE": "/l", "HF_HUB_CACHE": "/c"}, ["/c", "/l"]),
    ],
)
def test_the_hub_cache(environment: dict[str, str], folders: list[str]) -> None:
    assert hub_folders(around(**environment)) == [Path(folder) for folder in folders]


def test_the_old_folder_of_llama_cpp() -> None:
    assert llama_cpp_folders(around()) == [HOME / ".cache/llama.cpp"]
    assert llama_cpp_folders(around(XDG_CACHE_HOME="/x", LLAMA_CACHE="/l")) == [Path("/l"), Path("/x/llama.cpp")]
    assert llama_cpp_folders(around(platform="darwin")) == [HOME / "Library/Caches/llama.cpp"]
    assert llama_cpp_folders(around(platform="win32", LOCALAPPDATA="/a")) == [Path("/a/llama.cpp")]


def test_ollamas_stores() -> None:
    service = [Path("/usr/share/ollama/.ollama/models"), Path("/var/lib/ollama/models")]
    assert ollama_folders(around()) == [HOME / ".ollama/models", *service]
    assert ollama_folders(around(platform="darwin", OLLAMA_MODELS="/o")) == [Path("/o")]


def test_lm_studio_and_where_it_was_moved_to(tmp_path: Path) -> None:
    usual = [tmp_path / ".lmstudio/models", tmp_path / ".cache/lm-studio/models"]
    assert lm_studio_folders(around(tmp_path)) == usual
    pointed = tmp_path / "studio"
    pointed.mkdir()
    (tmp_path / ".lmstudio-home-pointer").write_text(f"{pointed}\n")
    assert lm_studio_folders(around(tmp_path)) == [pointed / "models", *usual]
    (pointed / "settings.json").write_text(json.dumps({"downloadsFolder": "/big/disk"}))
    assert lm_studio_folders(around(tmp_path)) == [Path("/big/disk"), pointed / "models", *usual]


@pytest.mark.parametrize("text", ["{", "[]", '{"downloadsFolder": 5}', '{"downloadsFolder": "a/b"}',
                                  '{"downloadsFolder": "/a\\u0000b"}', "[" * 100_000])  # fmt: skip
def test_settings_of_lm_studio_that_make_no_sense(tmp_path: Path, text: str) -> None:
    (tmp_path / ".lmstudio").mkdir()
    (tmp_path / ".lmstudio/settings.json").write_text(text)
    (tmp_path / ".lmstudio-home-pointer").write_text("not/absolute\0")
    assert lm_studio_folders(around(tmp_path)) == [tmp_path / ".lmstudio/models", tmp_path / ".cache/lm-studio/models"]


def test_jans_models() -> None:
    assert jan_folders(around()) == [HOME / ".local/share/Jan/data/llamacpp/models"]
    assert jan_folders(around(platform="darwin")) == [HOME / "Library/Application Support/Jan/data/llamacpp/models"]


def test_ours_come_first_and_the_starter_is_found_in_its_package(tmp_path: Path) -> None:
    added = tmp_path / "mine"
    everywhere = places(tmp_path / "models", catalog(), [added], around(tmp_path))
    origins = list(dict.fromkeys(place.origin for place in everywhere))
    assert origins == [OURS, PACKAGE, ADDED, HUB, LM_STUDIO, OLLAMA, LLAMA_CPP, JAN]
    found = [one for place in everywhere for one in place.find()]
    assert LeftOut(added, ADDED, "there is no such folder") in found
    assert [one.path.name for one in found if isinstance(one, Candidate) and one.origin == PACKAGE] == [
        "SmolLM2-135M-Instruct.Q4_1.gguf"
    ]


def test_a_hub_cache_with_links_of_two_steps(tmp_path: Path) -> None:
    hub = tmp_path / "hub"
    repository = hub / "models--org--Model-GGUF"
    shared = hub / "blobs" / "ab" / "abcd"
    for path in (shared, repository / "blobs" / "1234.abcd.incomplete", hub / "datasets--x" / "snapshots" / "d.gguf"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (repository / "blobs" / "5678").symlink_to(shared)
    snapshot = repository / "snapshots" / "c0ffee"
    (snapshot / "sub").mkdir(parents=True)
    (snapshot / "a.gguf").symlink_to(repository / "blobs" / "5678")
    (snapshot / "sub" / "b.gguf").symlink_to(repository / "blobs" / "gone")
    found = list(HubCache(hub).find())
    assert found == [
        Candidate(snapshot / "a.gguf", HUB),
        LeftOut(snapshot / "sub" / "b.gguf", HUB, "it is a link to a file that is gone"),
        LeftOut(repository / "blobs" / "1234.abcd.incomplete", HUB, "a file of org/Model-GGUF is still being written"),
    ]
    assert list(HubCache(tmp_path / "nowhere").find()) == []


def test_an_added_folder_is_kept_in_a_file_for_people(tmp_path: Path) -> None:
    file, folder = tmp_path / "config" / "model-folders.txt", tmp_path / "my models [a]"
    folder.mkdir()
    assert added_folders(file) == []
    assert add_folder(file, folder) == folder
    add_folder(file, folder)
    assert added_folders(file) == [folder]
    assert file.read_text().splitlines()[0].startswith("# Folders that Slipstream looks for models in")
    assert [place.folder for place in places(tmp_path, catalog(), added_folders(file), around()) if isinstance(
        place, Folder) and place.origin == ADDED] == [folder]  # fmt: skip


def test_a_file_edited_by_hand_keeps_its_comments(tmp_path: Path) -> None:
    file, one, two = tmp_path / "f.txt", tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    file.write_text(f"# mine\n\n{one}\nrelative/folder\n~nobody-at-all/x\n{one}\n/odd\x1b[2J\n")
    assert added_folders(file) == [one]
    add_folder(file, two)
    assert added_folders(file) == [one, two]
    assert remove_folder(file, one)
    assert added_folders(file) == [two]
    assert file.read_text().startswith("# mine\n")
    assert not remove_folder(file, one)


def test_what_cannot_be_added_says_why(tmp_path: Path) -> None:
    file = tmp_path / "f.txt"
    plain = tmp_path / "plain"
    plain.touch()
    for folder, words in (
        (tmp_path / "none", "does not exist; a folder with model files is wanted."),
        (plain, "is a file; a folder with model files is wanted."),
    ):
        with pytest.raises(AddedFolderError, match=words):
            add_folder(file, folder)
    odd = tmp_path / "odd\x1bname"
    odd.mkdir()
    with pytest.raises(AddedFolderError, match="holds control codes or ends in a space; it cannot be kept"):
        add_folder(file, odd)
    assert not file.exists()


def test_a_list_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(AddedFolderError, match="cannot be created"):
        add_folder(tmp_path / "file" / "f.txt", folder)


def test_a_list_on_a_full_disk_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, folder = tmp_path / "f.txt", tmp_path / "folder"
    folder.mkdir()
    file.write_text("# mine\n")

    def full(source: str, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(whole.os, "replace", full)
    with pytest.raises(AddedFolderError, match=r"f\.txt cannot be written: No space left on device\.$"):
        add_folder(file, folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f.txt", "folder"]
    assert file.read_text() == "# mine\n"
