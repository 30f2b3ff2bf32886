"""What a terminal sends, cut into pastes, escape keys and whole sequences before Textual's parser sees it.

The parser of Textual 8.2.8 guesses where a sequence ends: an ESC inside a paste is typed as keys, ESC with text behind
it becomes alt+letter or ``^``, and an unknown sequence comes back as text. Here the ends are known, so the parser gets
text, or one whole sequence, and never waits for more.
"""

from __future__ import annotations

import logging
import re
from codecs import getincrementaldecoder
from collections.abc import Iterator
from typing import Final

from textual import constants, events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._xterm_parser import XTermParser
from textual.message import Message

log = logging.getLogger(__name__)

LINES_PAUSE: Final = 0.05
"""Pieces of one unbracketed paste follow each other within this many seconds."""
PASTE_PATIENCE: Final = 1.5
"""A bracketed paste of which nothing came for this many seconds has lost its end mark."""
PASTE_LIMIT: Final = 16 * 1024 * 1024
"""Bytes of a bracketed paste that are handed over at once; a longer one comes in several pieces."""

_ESC: Final = b"\x1b"
_PASTE: Final = b"\x1b[200~"
_PASTE_END: Final = b"\x1b[201~"
_MOUSE: Final = re.compile(rb"\x1b\[M([\x20-\xff]{0,3})")  # the old style: three bytes, of any value
_CSI: Final = re.compile(rb"\x1b\[(?:\[[A-E]|\d+\$|[0-?]{0,80}[ -/]{0,4}[@-Z\\-~])")  # Linux console, rxvt, all others
_BEGUN: Final = re.compile(rb"\x1b(?:\[(?:\[|[0-?]{0,80}[ -/]{0,4})|O)?\Z")
_BROKEN: Final = re.compile(rb"\x1b\[[ -?]{0,84}")
_REPORT: Final = re.compile(rb"[<=>?;:]")
_SS3: Final = frozenset(key[2:].encode() for key in ANSI_SEQUENCES_KEYS if len(key) == 3 and key.startswith("\x1bO"))
_WORD_KEYS: Final = (b"\x1bb", b"\x1bf")  # what Terminal.app and iTerm2 send for option and an arrow


class TerminalInput:
    """Bytes in, messages out. Nobody waits for ever: :meth:`tick` ends whatever was begun and does not go on."""

    def __init__(self, debug: bool = False) -> None:
        self._debug = debug
        self._parser = XTermParser(debug)
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._begun = b""  # a sequence
        self._paste: bytearray | None = None
        self._lines: list[str] = []  # of an unbracketed paste
        self._last = 0.0

    @property
    def waiting(self) -> bool:
        """Whether something was begun, and :meth:`tick` is due soon."""
        return bool(self._begun or self._lines or self._paste is not None)

    def feed(self, data: bytes, now: float) -> Iterator[Message]:
        """The messages of what was read."""
        joined = bool(self._begun)
        if self._lines and now - self._last >= LINES_PAUSE:
            yield from self._end_lines()
        self._last = now
        data, self._begun = self._begun + data, b""
        at = 0
        while at < len(data):
            if self._paste is not None:
                before = len(self._paste)
                self._paste += data[at:]
                end = self._paste.find(_PASTE_END, max(0, before - len(_PASTE_END) + 1))
                if end < 0:
                    if len(self._paste) > PASTE_LIMIT:
                        yield from self._part_of_paste()
                    return
                at += end + len(_PASTE_END) - before
                del self._paste[end:]
                yield from self._end_paste()
            elif (escape := data.find(_ESC, at)) != at:
                run = data[at:escape] if escape >= 0 else data[at:]
                at += len(run)
                yield from self._text(run)
            else:
                yield from self._end_text()
                if data.startswith(_PASTE, at):
                    self._paste = bytearray()
                    at += len(_PASTE)
                elif data.startswith(_PASTE_END, at):  # of a paste that was given up
                    at += len(_PASTE_END)
                elif mouse := _MOUSE.match(data, at):
                    if len(mouse[1]) < 3 and mouse.end() == len(data):
                        self._begun = mouse[0]
                    at = mouse.end()
                elif csi := _CSI.match(data, at):
                    yield from self._parse(csi[0].decode())
                    at = csi.end()
                elif _BEGUN.match(data, at):
                    self._begun = data[at:]
                    return
                elif broken := _BROKEN.match(data, at):
                    yield from self._give_up(broken[0])
                    at = broken.end()
                else:
                    length, messages = self._escaped(data, at, joined)
                    yield from messages
                    at += length

    def tick(self, now: float) -> Iterator[Message]:
        """Call it when nothing came: ends what was begun too long ago."""
        pause = now - self._last
        if self._begun and pause >= constants.ESCAPE_DELAY:
            begun, self._begun = self._begun, b""
            yield from self._give_up(begun)
        if self._lines and pause >= LINES_PAUSE:
            yield from self._end_lines()
        if self._paste is not None and pause >= PASTE_PATIENCE:
            log.warning("a paste without an end")
            yield from self._end_paste()

    # ---------------------------------------------------------------------------------------------------- sequences

    def _escaped(self, data: bytes, at: int, joined: bool) -> tuple[int, list[Message]]:
        """ESC and something that is no CSI sequence: how many bytes it takes, and what it means."""
        pair, after = data[at : at + 2], data[at + 2 : at + 3]
        if pair == b"\x1bO" and after in _SS3:
            more = data[at + 3 : at + 4]
            if not more or more[0] < 0x20:  # "Only this" behind an escape key is text
                return 3, self._parse(data[at : at + 3].decode())
        if pair in (b"\x1b\r", b"\x1b\n"):
            return 2, [events.Key("alt+enter", None)]
        if pair in _WORD_KEYS:
            known = at + 2 == len(data) and not joined
        else:
            known = pair != b"\x1b\x1b" and (pair[1] < 0x20 or pair[1] == 0x7F) and pair.decode() in ANSI_SEQUENCES_KEYS
        if known:
            return 2, self._parse(pair.decode())
        return 1, [_escape_key()]

    def _give_up(self, begun: bytes) -> Iterator[Message]:
        """A sequence that does not go on: the escape key and what was typed after it, or half a report."""
        if begun.startswith(b"\x1b[M") or _REPORT.search(begun):
            return
        yield _escape_key()
        if rest := begun[1:].decode():
            yield from self._parse(rest)

    def _parse(self, text: str) -> list[Message]:
        """Plain text or one whole sequence; one that the parser does not know costs that sequence, nothing else."""
        try:
            messages = list(self._parser.feed(text))
        except Exception:
            log.warning("input that no terminal should send: %.80r", text, exc_info=True)
            messages = []
        else:
            if self._parser._awaiting.timeout is None:
                return messages
        old, self._parser = self._parser, XTermParser(self._debug)
        for name in ("last_x", "last_y", "mouse_pixels", "terminal_size", "terminal_pixel_size"):
            setattr(self._parser, name, getattr(old, name))
        return messages

    # ------------------------------------------------------------------------------------------------ text and pastes

    def _text(self, run: bytes) -> Iterator[Message]:
        text = self._decoder.decode(run)
        if text and is_unbracketed_paste(text, continued=bool(self._lines)):
            self._lines.append(text)
        elif text:
            yield from self._end_lines()
            yield from self._parse(text)

    def _end_text(self) -> Iterator[Message]:
        """Before a sequence: half a character will not become whole."""
        half = self._decoder.decode(b"", True)
        self._decoder.reset()
        if half and self._lines:
            self._lines.append(half)
        elif half:
            yield from self._parse(half)
        yield from self._end_lines()

    def _end_lines(self) -> Iterator[Message]:
        if self._lines:
            text = "".join(self._lines)
            self._lines.clear()
            yield _paste(text)

    def _part_of_paste(self) -> Iterator[Message]:
        """Hand over what has come, but for a piece of the end mark or of a character."""
        assert self._paste is not None
        cut = len(self._paste) - len(_PASTE_END)
        while self._paste[cut] & 0xC0 == 0x80 and cut > PASTE_LIMIT // 2:
            cut -= 1
        part = bytes(self._paste[:cut])
        del self._paste[:cut]
        yield _paste(part.decode("utf-8", "replace"))

    def _end_paste(self) -> Iterator[Message]:
        paste, self._paste = self._paste, None
        if paste:
            yield _paste(paste.decode("utf-8", "replace"))


def _escape_key() -> Message:
    return events.Key("escape", "\x1b")


def _paste(text: str) -> Message:
    return events.Paste(text.replace("\x00", ""))  # as Textual does


def is_unbracketed_paste(text: str, *, continued: bool = False) -> bool:
    """Whether ``text``, read in one piece, is pasted lines rather than keys.

    Keys come one or a few at a time; several lines in one read, with text behind the first line end, come from a
    terminal that does not bracket pastes. ``continued``: the read before was one, so this is its rest.
    """
    if "\x1b" in text or not text.strip("\r\n"):
        return False
    if any(character < " " and character not in "\r\n\t" for character in text):
        return False
    if continued:
        return True
    head, line_end, rest = text.replace("\n", "\r").partition("\r")
    return bool(head and line_end and rest.strip("\r"))
