from __future__ import annotations

import datetime
import os
from pathlib import Path

import pytest

from app.saving import NotSaved, file_name, save_text

NOW = datetime.datetime(2026, 11, 29, 15, 4, 5)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Rivers of Europe", "Rivers-of-Europe-2026-11-29-150405"),
        ("../../etc/passwd", "etc-passwd-2026-11-29-150405"),
        ("a\x1b[2J\nb", "a-2J-b-2026-11-29-150405"),
        ("Größe 長さ", "Größe-長さ-2026-11-29-150405"),
        ("?!", "answer-2026-11-29-150405"),
        ("", "answer-2026-11-29-150405"),
    ],
)
def test_a_name_is_made_of_the_words_of_the_title(title: str, name: str) -> None:
    assert file_name(title, NOW) == name


def test_a_name_fits_a_file_system() -> None:
    assert len(file_name("長" * 300, NOW).encode()) < 200


def test_nothing_is_written_over(tmp_path: Path) -> None:
    files = [save_text(text, "t", str(tmp_path), NOW) for text in ("one", "two", "three")]
    assert [file.name for file in files] == [f"t-2026-11-29-150405{n}.md" for n in ("", "-2", "-3")]
    assert [file.read_text() for file in files] == ["one", "two", "three"]


def test_the_text_is_written_as_it_was_said(tmp_path: Path) -> None:
    text = "a\r\nb\x1b[0m\u202e長"
    assert save_text(text, "t", str(tmp_path), NOW).read_bytes() == text.encode()


def test_without_a_folder_it_is_the_current_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert save_text("x", "t", "", NOW) == tmp_path / "t-2026-11-29-150405.md"


def test_a_folder_is_made_and_a_home_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert save_text("x", "t", "~/a/b", NOW).parent == tmp_path / "a" / "b"


def test_a_current_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(NotSaved, match=r"^Not saved: the current folder cannot be written to"):
        save_text("x", "t", "", NOW)


def test_half_a_text_does_not_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(*_args: object, **_more: object) -> None:
        raise OSError(28, os.strerror(28))

    opened = open

    def failing(file: Path, *args: object, **more: object) -> object:
        handle = opened(file, *args, **more)  # type: ignore[call-overload]

        class Full:
            def __enter__(self) -> Full:
                return self

            def __exit__(self, *_rest: object) -> None:
                handle.close()

            write = no_space

        return Full()

    monkeypatch.setattr("builtins.open", failing)
    with pytest.raises(NotSaved, match="no space left on device"):
        save_text("x", "t", str(tmp_path), NOW)
    assert list(tmp_path.iterdir()) == []
