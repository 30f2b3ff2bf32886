"""Text files that are attached to a message by ``@path``: found in its text, read, checked, and put into the prompt."""

from __future__ import annotations

import mimetypes
import os
import re
import stat
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from app.chats.records import Attachment
from app.clean import clean_line
from engine.files.sizes import size_words

if TYPE_CHECKING:
    from engine.protocol import AttachedFile

NOT_SENT: Final = "Nothing was sent. Without the @ it is only a name."
"""Said behind the reason why a file cannot be attached."""
LARGEST: Final = 1_000_000
"""Bytes of one file."""
LARGEST_TOGETHER: Final = 4_000_000

CHANGED: Final = "changed since"
GONE: Final = "gone"

_MENTION: Final = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|([^\s"@][^\s"]*))')
_BEHIND: Final = ".,;:!?)]}'"
_FENCE: Final = re.compile(r"^ {0,3}(`{3,})", re.MULTILINE)
_KINDS: Final = {
    ".pdf": "a PDF document",
    ".zip": "an archive",
    ".gz": "an archive",
    ".gguf": "a model file",
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tiff", ".heic", ".ico"), "a picture"),
    **dict.fromkeys((".mp3", ".wav", ".flac", ".ogg", ".m4a"), "a sound file"),
    **dict.fromkeys((".mp4", ".mov", ".mkv", ".webm", ".avi"), "a film"),
    **dict.fromkeys((".docx", ".xlsx", ".pptx", ".odt", ".ods"), "an office document"),
}


class AttachmentError(Exception):
    """A file that cannot be attached; the message is a sentence that says why."""


class Mention(NamedTuple):
    """``@path`` in a text."""

    path: str
    start: int
    end: int


def mentions(text: str) -> list[Mention]:
    """Every ``@path`` and ``@"path with spaces"`` at the beginning of a word."""
    if "@" not in text:
        return []
    return [Mention(match[1] or match[2], match.start(), match.end()) for match in _MENTION.finditer(text)]


def mention_of(path: str) -> str:
    """How ``path`` is written in a message."""
    return f'@"{path}"' if re.search(r"\s", path) or path[-1:] in _BEHIND else f"@{path}"


def read_attachment(folder: Path, path: str) -> Attachment | None:
    """The file that ``@path`` means, seen from ``folder``; None where there is none (``@somebody``). A full stop or a
    bracket behind it belongs to the sentence unless the file is called like that.

    Raises :class:`AttachmentError` for what cannot be attached. May wait for a slow disk."""
    name = path
    while True:
        place = folder / name
        try:
            place = Path(os.path.abspath(folder / Path(name).expanduser()))  # a link keeps its own name
            status = place.stat()
        except (OSError, ValueError, RuntimeError):
            status = None
        if status is not None or not name or name[-1] not in _BEHIND:
            break
        name = name[:-1]
    if status is None or stat.S_ISDIR(status.st_mode):
        return None
    shown = clean_line(name, 80)
    if not stat.S_ISREG(status.st_mode):
        raise AttachmentError(f"{shown} is a device or a pipe; only text files can be attached.")
    kind = _KINDS.get(place.suffix.lower())
    if kind:
        raise AttachmentError(f"{shown} is {kind}; only text files can be attached.")
    if status.st_size > LARGEST:
        raise AttachmentError(
            f"{shown} has {size_words(status.st_size)}; at most {size_words(LARGEST)} can be attached. "
            "Paste the part that matters."
        )
    try:
        raw = place.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise AttachmentError(f"{shown} cannot be read: {reason}.") from error
    return packed(name, str(place), raw, status.st_mtime)


def for_receipt(attached: Sequence[Attachment]) -> tuple[AttachedFile, ...]:
    """What the receipt of an answer says of the files that went along."""
    from engine.protocol import AttachedFile  # loaded long before the first answer, but not before the first paint

    files = (AttachedFile(path=one.path, sha256=one.sha256, modified=_utc(one.modified)) for one in attached)
    return tuple(dict.fromkeys(files))


def _utc(when: float) -> str:
    try:
        return datetime.fromtimestamp(when, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):  # a time that no calendar has
        return ""


def together(files: Iterable[Attachment]) -> tuple[Attachment, ...]:
    """The files of one message, each once, in their order. AttachmentError when they are too large altogether."""
    chosen = tuple({one.place: one for one in files}.values())
    size = sum(one.size for one in chosen)
    if size > LARGEST_TOGETHER:
        raise AttachmentError(
            f"The attached files have {size_words(size)} together; at most {size_words(LARGEST_TOGETHER)} go out at "
            "once."
        )
    return chosen


def read_mentioned(folder: Path, text: str) -> tuple[Attachment, ...]:
    """Everything that ``text`` mentions, as it is on the disk at this moment. Raises AttachmentError when a part of it
    cannot be attached. May wait for a slow disk."""
    found = (read_attachment(folder, path) for path in dict.fromkeys(mention.path for mention in mentions(text)))
    return together(one for one in found if one is not None)


def not_attached(folder: Path, text: str, attached: Sequence[Attachment], when: str = "") -> str:
    """That names behind an ``@`` go out as text, in a sentence; empty when all are files, or look like people rather
    than paths (``@somebody``). ``when``: what has to be done for that. May wait for a slow disk."""
    read = {one.path for one in attached}
    paths = dict.fromkeys(mention.path for mention in mentions(text))
    left = [path for path in paths if not {path, path.rstrip(_BEHIND)} & read]
    found = []
    for name in (path.rstrip(_BEHIND) or path for path in left):
        if is_folder(folder, name):
            found.append(f"@{clean_line(name, 80)} is a folder")
        elif _looks_like_a_file(name):
            found.append(f"there is no file {clean_line(name, 80)}")
    if not found:
        return ""
    words = ", ".join(found)
    return f"{words[0].upper()}{words[1:]}; {'it is' if len(found) == 1 else 'they are'} sent as text{when}."


def _looks_like_a_file(name: str) -> bool:
    """``@somebody`` and ``@app.get`` do not."""
    from pygments.lexers import find_lexer_class_for_filename  # Textual brings it along; not before it is needed

    kind = mimetypes.guess_type(name)[0] or ""
    return "/" in name or kind.startswith("text/") or find_lexer_class_for_filename(name) is not None


def is_folder(folder: Path, name: str) -> bool:
    """Whether ``name``, seen from ``folder``, is one."""
    try:
        return (folder / Path(name).expanduser()).is_dir()
    except (OSError, ValueError, RuntimeError):
        return False


def with_kept(text: str, new: Sequence[Attachment], before: Sequence[Attachment]) -> tuple[Attachment, ...]:
    """What goes with a message that was edited: ``new``, and of the files that went along ``before`` those that it
    still names but that could not be read anew, because they are gone."""
    named = {name for mention in mentions(text) for name in (mention.path, mention.path.rstrip(_BEHIND))}
    read = {one.path for one in new}
    return (*new, *(one for one in before if one.path in named and one.path not in read))


def packed(path: str, place: str, raw: bytes, modified: float) -> Attachment:
    """An attachment made of the bytes of a file. AttachmentError when they are no text."""
    import hashlib
    import zlib

    text = _text(raw, clean_line(path, 80))
    return Attachment(
        path, place, hashlib.sha256(raw).hexdigest(), len(raw), modified, zlib.compress(text.encode("utf-8"))
    )


def _text(raw: bytes, shown: str) -> str:
    coding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = raw.decode(coding)
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise AttachmentError(f"{shown} is not a text in UTF-8; only text files can be attached.")
    return text


def in_prompt(message: str, attached: Sequence[Attachment]) -> str:
    """The message as the model reads it: what was said, then every file as a fenced block under its path.

    A chat that is continued in a year must make the same prompt: never change what this returns for attachments that
    are stored already."""
    return "\n\n".join([message, *map(_block, attached)])


def _block(one: Attachment) -> str:
    text = one.text
    fence = "`" * max([3, *(len(match[1]) + 1 for match in _FENCE.finditer(text))])
    end = "" if text.endswith("\n") or not text else "\n"
    return f"{one.path}\n{fence}\n{text}{end}{fence}"


def since(one: Attachment) -> str:
    """What has become of the file: :data:`CHANGED`, :data:`GONE`, or nothing. May wait for a slow disk."""
    import hashlib

    place = Path(one.place)
    try:
        status = place.stat()
        if not stat.S_ISREG(status.st_mode):
            return GONE
        if status.st_size != one.size:
            return CHANGED
        if status.st_mtime == one.modified:
            return ""
        return "" if hashlib.sha256(place.read_bytes()).hexdigest() == one.sha256 else CHANGED
    except FileNotFoundError:
        return GONE
    except OSError:
        return ""  # it is there as far as can be told


def estimated_tokens(one: Attachment) -> int:
    """About how many tokens the text takes."""
    return max(1, about_tokens(one.size)) if one.size else 0


def about_tokens(size: int) -> int:
    """What a text of ``size`` bytes takes in most models: a token for four of them."""
    return round(size / 4)
