"""Names from the hub are foreign text: what is safe to store, and where it goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.library.layout import part_file, place, same_place, wrong_path, wrong_repo


@pytest.mark.parametrize(
    "repo", ["Qwen/Qwen3-4B-GGUF", "a/b", "bartowski/Meta-Llama-3.1-8B-Instruct-GGUF", "_x/y_", "0/1"]
)
def test_repositories_that_can_be(repo: str) -> None:
    assert wrong_repo(repo) is None


@pytest.mark.parametrize(
    ("repo", "why"),
    [
        ("evil", "it is not OWNER/NAME"),
        ("../../evil", "it is not OWNER/NAME"),
        ("a/../../b", "it is not OWNER/NAME"),
        ("a/..", "it is not OWNER/NAME"),
        ("/a/b", "it is not OWNER/NAME"),
        ("a/b/c", "it is not OWNER/NAME"),
        ("a/b\n", "it is not OWNER/NAME"),
        ("ä/b", "it is not OWNER/NAME"),
        ("a/b-", "it is not OWNER/NAME"),
        ("a/" + "b" * 97, "it is not OWNER/NAME"),
        ("a/b..c", "such names are not given on the hub"),
        ("a--b/c", "such names are not given on the hub"),
        ("a/b.git", "such names are not given on the hub"),
        ("con/b", "Windows keeps that name for a device"),
        ("a/Lpt1.GGUF", "Windows keeps that name for a device"),
    ],
)
def test_repositories_that_cannot_be(repo: str, why: str) -> None:
    assert wrong_repo(repo) == why


@pytest.mark.parametrize(
    "path", ["Qwen3-4B-Q4_K_M.gguf", "UD-Q4_K_XL/big-00001-of-00002.gguf", "a/b/c.gguf", "größe (1).gguf", "模型.gguf"]
)
def test_paths_that_can_be(path: str) -> None:
    assert wrong_path(path) is None


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("", "it is empty"),
        ("../../x.gguf", "it leads out of its folder"),
        ("a/../x.gguf", "it leads out of its folder"),
        ("a\\..\\..\\x.gguf", "it leads out of its folder"),
        ("/tmp/x.gguf", "it is not relative to the repository"),
        ("\\\\server\\x.gguf", "it is not relative to the repository"),
        ("~/x.gguf", "it is not relative to the repository"),
        ("C:\\x.gguf", "it is not relative to the repository"),
        ("C:x.gguf", "it is not relative to the repository"),
        ("a/b/c/d.gguf", "it lies deeper than 2 folders"),
        ("a//x.gguf", "a part of it is empty"),
        ("./x.gguf", "a part of it is empty"),
        (".hidden.gguf", "a part of it begins or ends with a dot or a space"),
        ("a /x.gguf", "a part of it begins or ends with a dot or a space"),
        ("x.gguf.", "a part of it begins or ends with a dot or a space"),
        ("x.gguf:stream", "Windows allows no : in a name"),
        ("x?.gguf", "Windows allows no ? in a name"),
        ("a|b.gguf", "Windows allows no | in a name"),
        ("con.gguf", "Windows keeps that name for a device"),
        ("NUL", "Windows keeps that name for a device"),
        ("com1.gguf", "Windows keeps that name for a device"),
        ("COM¹.gguf", "Windows keeps that name for a device"),
        ("aux/x.gguf", "Windows keeps that name for a device"),
        ("x\x1b[2J.gguf", "it has control codes in it"),
        ("x\n.gguf", "it has control codes in it"),
        ("x\0.gguf", "it has control codes in it"),
        ("x\u202egguf.exe.gguf", "it has control codes in it"),
        ("x\ud800.gguf", "it has control codes in it"),
        ("x" * 201 + ".gguf", "it is too long"),
    ],
)
def test_paths_that_are_not_stored(path: str, why: str) -> None:
    assert wrong_path(path) == why


def test_a_file_has_its_place_in_the_models_folder(tmp_path: Path) -> None:
    file = place(tmp_path, "Qwen/Qwen3-4B-GGUF", "UD/x.gguf")
    assert file == tmp_path / "Qwen" / "Qwen3-4B-GGUF" / "UD" / "x.gguf"
    assert part_file(file).name == "x.gguf.part"


@pytest.mark.parametrize(("repo", "path"), [("a/..", "x.gguf"), ("a/b", "../x.gguf"), ("a/b", "/x.gguf")])
def test_no_file_has_its_place_outside(repo: str, path: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"it is|it leads"):
        place(tmp_path, repo, path)


def test_names_that_are_one_file_on_many_disks() -> None:
    assert same_place("A/Größe.gguf") == same_place("a/GRO\u0308SSE.gguf")
    assert same_place("a.gguf") != same_place("b.gguf")
