"""Files that a message mentions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.attached import (
    CHANGED,
    GONE,
    LARGEST,
    AttachmentError,
    in_prompt,
    mention_of,
    mentions,
    packed,
    read_attachment,
    since,
)


def paths(text: str) -> list[str]:
    return [mention.path for mention in mentions(text)]


def test_mentions_stand_at_the_beginning_of_a_word() -> None:
    assert paths("@a.txt and @src/b.py, not me@home.org @ or @@x") == ["a.txt", "src/b.py,"]
    assert paths('look at @"my notes.txt" please') == ["my notes.txt"]
    assert paths("no file here") == []
    assert mention_of("a.txt") == "@a.txt"
    assert mention_of("my notes.txt") == '@"my notes.txt"'
    assert paths(mention_of("odd).")) == ["odd)."]


def test_a_text_file_is_read_with_hash_size_and_time(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_bytes("\ufeffgrüße\r\n".encode())
    found = read_attachment(tmp_path, "notes.txt")
    assert found is not None
    assert (found.path, found.place, found.text) == ("notes.txt", str(file), "grüße\r\n")
    assert found.size == file.stat().st_size
    assert found.modified == file.stat().st_mtime
    assert len(found.sha256) == 64


def test_a_full_stop_behind_it_belongs_to_the_sentence(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "odd.").write_text("y")
    for written in ("notes.txt.", "notes.txt),", "notes.txt"):
        found = read_attachment(tmp_path, written)
        assert found is not None
        assert found.path == "notes.txt"
    odd = read_attachment(tmp_path, "odd.")
    assert odd is not None
    assert odd.text == "y"


def test_names_that_are_no_files_are_only_names(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name in ("somebody", "folder", "..", "...", "x\0y", "~nobody-here/x"):
        assert read_attachment(tmp_path, name) is None


def test_what_cannot_be_attached_says_why(tmp_path: Path) -> None:
    (tmp_path / "cat.png").write_bytes(b"\x89PNG")
    (tmp_path / "data").write_bytes(b"text\0more")
    (tmp_path / "latin").write_bytes(b"gr\xfc\xdfe")
    (tmp_path / "large.txt").write_bytes(b"x" * (LARGEST + 1))
    expected = {
        "cat.png": "cat.png is a picture; only text files can be attached.",
        "data": "data is not a text in UTF-8; only text files can be attached.",
        "latin": "latin is not a text in UTF-8; only text files can be attached.",
        "large.txt": "large.txt has 1.0 MB; at most 1.0 MB can be attached. Paste the part that matters.",
    }
    for name, words in expected.items():
        with pytest.raises(AttachmentError) as raised:
            read_attachment(tmp_path, name)
        assert str(raised.value) == words


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="needs rights that can be missing")
def test_a_file_that_may_not_be_read_says_so(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (tmp_path / "secret").chmod(0)
    with pytest.raises(AttachmentError, match=r"^secret cannot be read: permission denied\.$"):
        read_attachment(tmp_path, "secret")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(AttachmentError, match="pipe is a device or a pipe"):
        read_attachment(tmp_path, "pipe")


def test_utf_16_is_read_where_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_bytes("grüße".encode("utf-16"))
    found = read_attachment(tmp_path, "notes.txt")
    assert found is not None
    assert found.text == "grüße"


def test_the_prompt_is_the_same_for_ever() -> None:
    """Stored chats depend on every character of this."""
    one = packed("notes.txt", "/w/notes.txt", b"bread\n", 1.0)
    two = packed("doc.md", "/w/doc.md", b"a\n```\ncode\n```\n  ````\nend", 1.0)
    empty = packed("empty", "/w/empty", b"", 1.0)
    assert in_prompt("Look.", ()) == "Look."
    assert in_prompt("Look.", (one,)) == "Look.\n\nnotes.txt\n```\nbread\n```"
    assert in_prompt("Look.", (two,)) == "Look.\n\ndoc.md\n`````\na\n```\ncode\n```\n  ````\nend\n`````"
    assert in_prompt("Look.", (one, empty)) == "Look.\n\nnotes.txt\n```\nbread\n```\n\nempty\n```\n```"


def test_what_has_become_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("bread")
    one = read_attachment(tmp_path, "notes.txt")
    assert one is not None
    assert since(one) == ""
    os.utime(file, (5, 5))
    assert since(one) == "", "touched, not changed"
    file.write_text("broad")
    os.utime(file, (6, 6))
    assert since(one) == CHANGED
    file.write_text("more bread")
    assert since(one) == CHANGED
    file.unlink()
    assert since(one) == GONE
