"""Which tool a text is given to, what it does with it, and what is said."""

from __future__ import annotations

import sys

import pytest

from app.tui.clipboard import Copied, Tool, local_tool, run_tool

ALL = {"wl-copy", "xclip", "xsel", "pbcopy", "clip.exe"}


def found(environment: dict[str, str], platform: str = "linux", here: set[str] = ALL) -> str | None:
    tool = local_tool(environment, lambda name: name if name in here else None, platform)
    return tool.name if tool else None


@pytest.mark.parametrize(
    ("environment", "platform", "tool"),
    [
        ({"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}, "linux", "wl-copy"),
        ({"DISPLAY": ":0"}, "linux", "xclip"),
        ({}, "linux", None),
        ({}, "darwin", "pbcopy"),
        ({}, "win32", "clip.exe"),
        ({"WSL_DISTRO_NAME": "Ubuntu", "DISPLAY": ":0"}, "linux", "clip.exe"),
        ({"SSH_CONNECTION": "1 2 3 4"}, "darwin", None),
        ({"SSH_CONNECTION": "1 2 3 4", "WAYLAND_DISPLAY": "wayland-0"}, "linux", None),
        ({"SSH_TTY": "/dev/pts/1", "DISPLAY": ":0"}, "linux", None),
        ({"SSH_TTY": "/dev/pts/1", "DISPLAY": "localhost:10.0"}, "linux", "xclip"),
    ],
)
def test_the_tool_whose_clipboard_one_can_paste_from(
    environment: dict[str, str], platform: str, tool: str | None
) -> None:
    assert found(environment, platform) == tool


def test_a_tool_that_is_not_installed_is_not_named() -> None:
    assert found({"DISPLAY": ":0"}, here={"xsel"}) == "xsel"
    assert found({"DISPLAY": ":0"}, here=set()) is None


def script(code: str) -> Tool:
    return Tool("tool", (sys.executable, "-c", code))


def test_a_tool_reads_the_text(tmp_path: object) -> None:
    check = "import sys; sys.exit(sys.stdin.buffer.read().decode() != 'Größe\\x1b')"
    assert run_tool(script(check), "Größe\x1b", patience=20) == ""


def test_what_a_tool_did_not_take() -> None:
    assert run_tool(script("import sys; sys.exit(3)"), "x", patience=20) == "it ended with code 3"
    assert run_tool(Tool("none", ("/no/such/tool",)), "x") == "no such file or directory"
    assert run_tool(script("import time; time.sleep(60)"), "x", patience=0.1) == "it did not answer within 0.1 s"


def test_sentences() -> None:
    assert Copied(1, 1).sentence() == "Sent 1 character to the terminal's clipboard (OSC 52)."
    assert Copied(1234, 1234, "wl-copy").sentence() == "Copied 1,234 characters: terminal (OSC 52) and wl-copy."
    assert (
        Copied(20, 20, "xclip", "it ended with code 1").sentence()
        == "Sent 20 characters to the terminal's clipboard (OSC 52). xclip did not take the text: it ended with code 1."
    )
    assert Copied(9, 9, "xsel").sentence("code block 2 of 3").startswith("Copied 9 characters (code block 2 of 3):")


def test_a_long_text_for_the_terminal_alone_is_said_to_be_long() -> None:
    words = "Many terminals cut or drop so long a text"
    assert words in Copied(80_000, 80_000).sentence()
    assert words not in Copied(70_000, 70_000).sentence()
    assert words not in Copied(80_000, 80_000, "xclip").sentence()
