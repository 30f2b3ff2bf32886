"""Copying: the terminal is asked to (OSC 52), and a clipboard tool of this machine where there is one.

Nobody can ask a terminal whether it took the text; a tool says whether it did.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from app.tui.background import aside

PATIENCE: Final = 1.0
"""Seconds for a tool; one that talks to a display that is gone would wait for ever."""
TERMINAL_LIMIT: Final = 100_000
"""Base64 characters that most terminals take in one OSC 52 sequence; what some do beyond is cut or drop it."""

_FORWARDED: Final = re.compile(r"^[^:/]+:\d")
"""A display of another machine, as ``ssh -X`` sets it."""


@dataclass(frozen=True)
class Tool:
    """A command that puts its standard input on the clipboard."""

    name: str
    command: tuple[str, ...]
    encoding: str = "utf-8"
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Copied:
    """What became of a text. ``refused``: why the tool did not take it."""

    characters: int
    bytes: int
    tool: str = ""
    refused: str = ""

    def sentence(self, what: str = "") -> str:
        """For the notice. ``what``: which part of an answer it was."""
        amount = f"{self.characters:,} character{'s' * (self.characters != 1)}{f' ({what})' if what else ''}"
        if self.tool and not self.refused:
            return f"Copied {amount}: terminal (OSC 52) and {self.tool}."
        sent = f"Sent {amount} to the terminal's clipboard (OSC 52)."
        if self.refused:
            sent += f" {self.tool} did not take the text: {self.refused}."
        if 4 * self.bytes > 3 * TERMINAL_LIMIT:
            sent += " Many terminals cut or drop so long a text; a tool takes it all: wl-copy, xclip or xsel."
        return sent


def local_tool(
    environment: Mapping[str, str] = os.environ,
    which: Callable[[str], str | None] = shutil.which,
    platform: str = sys.platform,
) -> Tool | None:
    """The tool whose clipboard the person in front of the screen can paste from."""
    remote = "SSH_CONNECTION" in environment or "SSH_TTY" in environment
    display = environment.get("DISPLAY", "")
    tools: list[Tool] = []
    if not remote:
        if platform == "darwin":
            tools.append(Tool("pbcopy", ("pbcopy",), environment=(("LC_CTYPE", "UTF-8"),)))
        if platform == "win32" or "WSL_DISTRO_NAME" in environment:
            tools.append(Tool("clip.exe", ("clip.exe",), encoding="utf-16"))
        if environment.get("WAYLAND_DISPLAY"):
            tools.append(Tool("wl-copy", ("wl-copy",)))
    if display and (not remote or _FORWARDED.match(display)):
        tools.append(Tool("xclip", ("xclip", "-selection", "clipboard")))
        tools.append(Tool("xsel", ("xsel", "--clipboard", "--input")))
    return next((tool for tool in tools if which(tool.command[0])), None)


async def hand_over(text: str) -> Copied:
    """Give ``text`` to the local tool, in a thread; the terminal has it already. Never raises."""
    data = text.encode("utf-8", "replace")
    tool = local_tool()
    if tool is None:
        return Copied(len(text), len(data))
    return Copied(len(text), len(data), tool.name, await aside(run_tool, tool, text))


def run_tool(tool: Tool, text: str, patience: float = PATIENCE) -> str:
    """Why the tool did not take the text; empty when it did. xclip and its like stay behind to hand the text out, so
    nothing of theirs may be waited for but their first exit."""
    try:
        done = subprocess.run(
            tool.command,
            input=text.encode(tool.encoding, "replace"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=patience,
            env={**os.environ, **dict(tool.environment)},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it did not answer within {patience:g} s"
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return f"it ended with code {done.returncode}" if done.returncode else ""
