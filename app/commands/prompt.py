"""The prompt of ``slipstream ask``: the argument, and whatever is piped in."""

from __future__ import annotations

import re
import sys
import threading
from typing import Final

from app.commands.errors import CommandError, say

MAX_BYTES = 8 * 1024 * 1024
"""Half of the longest line that the engine takes; JSON may double a text's length."""

HINT_AFTER = 3.0
"""Seconds of silence on standard input before the person is told that it is being waited for."""

_SURROGATE = re.compile("[\ud800-\udfff]")


NO_PROMPT: Final = 'There is no prompt. Give one (slipstream ask "...") or pipe one in.'


def read_prompt(argument: str | None, nothing: str = NO_PROMPT) -> str:
    """The argument with standard input, when piped, after it. ``nothing``: what to say where there is neither."""
    piped = _read_stdin()
    prompt = "\n\n".join(part for part in (valid_text(argument or ""), piped) if part.strip())
    if not prompt:
        raise CommandError(nothing)
    return prompt


def valid_text(text: str) -> str:
    """An argument's bytes that are no UTF-8 (Python keeps them as lone surrogates) become replacement marks."""
    return _SURROGATE.sub("\ufffd", text)


def _read_stdin() -> str:
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return ""
    hint = threading.Timer(HINT_AFTER, say, ["Waiting for standard input to end (Ctrl+D; </dev/null gives none) ..."])
    hint.daemon = True
    hint.start()
    try:
        raw = sys.stdin.buffer.read(MAX_BYTES + 1)
    except OSError as error:
        raise CommandError(f"Standard input cannot be read: {error.strerror or error}.") from error
    finally:
        hint.cancel()
    if len(raw) > MAX_BYTES:
        raise CommandError(f"Standard input holds more than {MAX_BYTES >> 20} MiB of text, too much for one prompt.")
    return raw.decode("utf-8-sig", "replace")
