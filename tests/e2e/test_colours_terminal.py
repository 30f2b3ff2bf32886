"""Which colours leave the program, byte by byte, and keys that settings.toml gives."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.e2e.terminal import TerminalRun, program

ANSWER = (
    "# Rivers\n\nThe **Danube**, `code` and a list:\n\n- one\n- two\n\n```python\nif x:\n    return 'one'  # two\n```\n"
)
PLAY = {"pieces": ANSWER.splitlines(keepends=True), "pause": 0.01}
SGR = re.compile(rb"\x1b\[([\d;:]*)m")


def codes(output: bytes) -> set[str]:
    """What kinds of colour were asked for: ``rgb`` or ``256``, ``named`` or ``default``."""
    found = set()
    for match in SGR.finditer(output):
        parts = [int(part or 0) for part in re.split(rb"[;:]", match[1])]
        while parts:
            code = parts.pop(0)
            if code in (38, 48):
                found.add("rgb" if parts and parts[0] == 2 else "256")
                break
            if code in (39, 49):
                found.add("default")
            if 30 <= code <= 37 or 40 <= code <= 47 or 90 <= code <= 97 or 100 <= code <= 107:
                found.add("named")
    return found


def look_around(run: TerminalRun) -> None:
    """The chat with an answer, its X-ray, the help, the palette, chats, models."""
    run.sees("type a message")
    run.say("hi")
    run.sees("42.1 tok/s")
    run.write(b"\x1bOS")  # f4
    run.sees("proposed it")
    run.write(b"\x1bOP")  # f1
    run.sees("keys, commands, figures")
    run.write(b"\x1b")
    run.until(lambda: "keys, commands, figures" not in run.shown, "the chat")
    run.write(b"\x10")
    run.sees("Search for commands")
    run.write(b"\x1b")
    run.until(lambda: "Search for commands" not in run.shown, "the chat")
    run.write(b"\x0f")
    run.sees("1 chat")
    run.write(b"\x1b")
    run.sees("42.1 tok/s")
    run.write(b"/spec")
    run.sees("off|lookup|draft|auto")
    run.write(b"\x11")
    assert run.wait() == 0
    assert run.restored() == []


def test_the_terminals_own_colours_are_the_only_ones(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text('theme = "slipstream-terminal"\n')
    with program(tmp_path, play=PLAY) as run:
        look_around(run)
        assert codes(run.output) - {"default"} == {"named"}


def test_no_color_means_no_colour(tmp_path: Path) -> None:
    with program(tmp_path, play=PLAY, environment={"NO_COLOR": "1"}) as run:
        look_around(run)
        assert codes(run.output) <= {"default"}
        assert b"\x1b[7m" in run.output  # what is highlighted still is


def test_otherwise_there_are_colours(tmp_path: Path) -> None:
    with program(tmp_path, play=PLAY, environment={"NO_COLOR": ""}) as run:
        run.sees("type a message")
        run.write(b"\x11")
        assert run.wait() == 0
        assert "rgb" in codes(run.output)


def test_a_theme_is_remembered_and_the_settings_stand_above_it(tmp_path: Path) -> None:
    with program(tmp_path, play=PLAY) as run:
        run.sees("type a message")
        run.say("/theme slipstream-terminal")
        run.sees("also for the next start")
        run.write(b"\x11")
        assert run.wait() == 0
    kept = next(tmp_path.rglob("last-choice.json"))
    assert json.loads(kept.read_text())["theme"] == "slipstream-terminal"
    with program(tmp_path, play=PLAY) as run:
        run.sees("type a message")
        run.write(b"\x11")
        assert run.wait() == 0
        assert codes(run.output) - {"default"} == {"named"}
    (tmp_path / "settings.toml").write_text('theme = "slipstream-light"\n')
    with program(tmp_path, play=PLAY) as run:
        run.sees("type a message")
        run.write(b"\x11")
        assert run.wait() == 0
        assert "rgb" in codes(run.output)


@pytest.mark.parametrize("send", [b"\x1b\r", b"\x1b[13;5u"], ids=["alt+enter", "ctrl+enter (Kitty)"])
def test_enter_breaks_the_line_where_settings_say_so(tmp_path: Path, send: bytes) -> None:
    (tmp_path / "settings.toml").write_text(
        '[keys]\n"composer.send" = "ctrl+enter, alt+enter"\n"composer.line" = "enter"\n"app.quit" = "f10"\n'
    )
    with program(tmp_path, play={"pieces": ["fine"]}) as run:
        run.sees("type a message")
        run.write(b"one")
        run.sees("one")
        run.write(b"\r")
        run.write(b"two")
        run.sees("two")
        run.write(send)
        run.sees("fine")
        assert re.search(r"one\s*\n\s+two", run.shown)
        run.write(b"\x1b[21~")  # f10
        assert run.wait() == 0


def test_a_wrong_key_is_named_at_the_start(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('[keys]\n"chat.compare" = "banana"\n')
    with program(tmp_path, play=PLAY, size=(120, 30)) as run:
        run.sees('settings.toml, [keys]: chat.compare: there is no key "banana"; it stays ctrl+r.')
        run.write(b"\x11")
        assert run.wait() == 0
    assert file.read_text() == '[keys]\n"chat.compare" = "banana"\n'
