"""The file with the user's token, looked at before the hub's library opens it: a pipe would never end."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from app.clean import clean_line
from app.links import NOWHERE, dead_link

MOST_BYTES: Final = 65_536
"""No list of tokens comes near it."""

_NOT_REGULAR: Final = "it is no regular file"
_PIPE: Final = "it is a pipe, which gives its token only once"
"""``HF_TOKEN_PATH=<(…)`` of a shell: every request asks for the token anew."""
_OTHER_SOURCES: Final = ("HF_OIDC_RESOURCE", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
"""Where one of them is set, the library does not read the file."""


def wrong_token_file() -> str | None:
    """A sentence about the file with the token, or the one beside it with all that were saved, where it is there and
    can be none; None: it is absent, or plain."""
    from huggingface_hub import constants  # late: it takes its time

    if any(os.environ.get(name, "").strip() for name in _OTHER_SOURCES):
        return None
    token, saved = Path(constants.HF_TOKEN_PATH), Path(constants.HF_STORED_TOKENS_PATH)
    try:
        if why := _why_none(token, token.stat()):
            return token_file_words(token, why)
    except FileNotFoundError:
        return token_file_words(token, NOWHERE) if dead_link(token) == token else None
    except (OSError, ValueError) as error:
        return token_file_words(token, _reason(error))
    try:  # the library does without this one, unless it waits for it
        if stat.S_ISFIFO(saved.stat().st_mode):
            return token_file_words(saved, _PIPE)
    except (OSError, ValueError):
        pass
    return None


def _why_none(file: Path, status: os.stat_result) -> str:
    if file.samefile(os.devnull):  # a way to have no token
        return ""
    if stat.S_ISDIR(status.st_mode):
        return "it is a folder"
    if not stat.S_ISREG(status.st_mode):
        return _PIPE if stat.S_ISFIFO(status.st_mode) else _NOT_REGULAR
    return f"it has {status.st_size:,} bytes" if status.st_size > MOST_BYTES else ""


def unreadable_token_file(error: Exception) -> str:
    """The sentence for what the library raised when it read the file."""
    from huggingface_hub import constants

    return token_file_words(Path(constants.HF_TOKEN_PATH), _reason(error))


def token_file_words(file: Path, why: str) -> str:
    """That the hub was not asked, and what helps."""
    return (
        f"The file with your token, {clean_line(str(file), 200)}, cannot be read: {why}. The hub was not asked; log in "
        "again with `hf auth login`, or set HF_TOKEN."
    )


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return "it is no text" if isinstance(error, UnicodeError) else "it is no path"
