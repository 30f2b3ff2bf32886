"""Makes assets/recording.svg: a short scene with the starter, played in a terminal by the real program.

The scene is keys and waits, nothing else; the program and the model do the rest, at their own speed. Pauses of more
than a few seconds are cut. Run it from a working copy on a quiet machine: .venv/bin/python -m scripts.record
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from app.library.catalog import catalog
from app.library.resolve import packaged_file
from app.tui.theme import DARK
from scripts.film import LONGEST_PAUSE, Frame, Shot, photograph, shots, to_svg
from tests.e2e.terminal import TerminalRun, program

ASSETS: Final = Path(__file__).resolve().parent.parent / "assets"
SIZE: Final = (112, 34)
OPTIONS: Final = ("--temperature", "0")
GROUND, TEXT = DARK.background or "#000000", DARK.foreground or "#ffffff"
TITLE: Final = (
    "A chat with Slipstream in a terminal: two questions are answered with live figures under the answers, the switch "
    "for speculation is opened, and a comparison runs the last question with and without it"
)
QUESTIONS: Final = (
    "Write a Python function that returns the n-th Fibonacci number, in a code block.",
    "Now return the same code with the function renamed to fib_number.",
)
EXPOSURE: Final = 0.1
"""Seconds between two looks at the screen."""
KEY: Final = 0.05
SPECULATION, COMPARE, BACK, ENTER = b"\x14", b"\x12", b"\x1b", b"\r"


class Camera:
    """Looks at a terminal while something goes on in it."""

    def __init__(self, run: TerminalRun) -> None:
        self.taken: list[tuple[float, Frame]] = []
        self.heard: list[tuple[float, int]] = []
        """How many bytes the program had written by then."""
        self._run = run
        self._begun = time.monotonic()

    def hold(self, seconds: float) -> None:
        """Film for that long."""
        until = time.monotonic() + seconds
        self.until(lambda: time.monotonic() >= until)

    def until(self, condition: Callable[[], bool], patience: float = 180.0) -> None:
        """Film until something has come true."""
        begun = time.monotonic()
        while not condition():
            if time.monotonic() - begun > patience:
                raise SystemExit(f"The scene does not go on:\n{self._run.shown}")
            self._run.pump(EXPOSURE)
            self._let_it_finish()
            moment = time.monotonic() - self._begun
            self.taken.append((moment, photograph(self._run.screen, GROUND)))
            self.heard.append((moment, len(self._run.output)))

    def sees(self, words: str) -> None:
        """Film until ``words`` are on screen."""
        self.until(lambda: words in self._run.shown)

    def misses(self, words: str) -> None:
        """Film until they are not."""
        self.until(lambda: words not in self._run.shown)

    def types(self, text: str) -> None:
        """Type as people do, and send it."""
        for letter in text:
            self._run.write(letter.encode())
            self.hold(KEY)
        self.hold(0.4)
        self.presses(ENTER)

    def presses(self, key: bytes) -> None:
        self._run.write(key)

    def _let_it_finish(self) -> None:
        """What is being drawn comes in pieces; half a frame is no frame."""
        for _ in range(10):
            before = len(self._run.output)
            self._run.pump(0.01)
            if len(self._run.output) == before:
                return


def play(camera: Camera) -> None:
    """The scene."""
    camera.hold(1.0)
    for question in QUESTIONS:
        camera.types(question)
        camera.sees("writing…")
        camera.misses("writing…")
        camera.hold(2.0)
    camera.presses(SPECULATION)
    camera.hold(2.5)
    camera.presses(BACK)
    camera.hold(0.7)
    camera.presses(COMPARE)
    camera.sees("done, 3 runs of each way")
    camera.hold(4.0)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.record", description=__doc__)
    parser.add_argument("--out", type=Path, default=ASSETS / "recording.svg", help="the animated picture")
    parser.add_argument("--cast", type=Path, metavar="FILE", help="also what the program wrote, for asciinema play")
    parser.add_argument("--stills", type=Path, metavar="FOLDER", help="also every frame as a picture of its own")
    options = parser.parse_args()
    starter = packaged_file(catalog().starter.target)
    if starter is None:
        parser.exit(1, "The starter is not here; make chat gets it.\n")
    arguments = ("--model", str(starter), *OPTIONS)
    with tempfile.TemporaryDirectory() as home, program(Path(home), real=True, size=SIZE, options=arguments) as run:
        run.sees("type a message")
        run.sees("ctx")  # the model is loaded
        run.pump(1.0)
        camera = Camera(run)
        play(camera)
        run.write(b"\x11")
        run.wait()
    film = shots(camera.taken)
    options.out.write_text(picture(film), encoding="utf-8")
    seconds = sum(shot.seconds for shot in film)
    print(f"{options.out.name}: {len(film)} frames, {seconds:.0f} s, {options.out.stat().st_size / 1000:.0f} kB")
    if options.cast:
        options.cast.write_text(cast(run.output, camera.heard), encoding="utf-8")
    if options.stills:
        options.stills.mkdir(parents=True, exist_ok=True)
        for number, shot in enumerate(film):
            (options.stills / f"{number:04}.svg").write_text(picture([shot]), encoding="utf-8")


def picture(film: list[Shot]) -> str:
    """The film in the colours of the theme it was taken in."""
    return to_svg(film, *SIZE, title=TITLE, text=TEXT, ground=GROUND)


def cast(output: bytes, heard: Sequence[tuple[float, int]]) -> str:
    """asciinema's format, version 2: the bytes themselves, and when they came."""
    header = {"version": 2, "width": SIZE[0], "height": SIZE[1], "idle_time_limit": LONGEST_PAUSE, "title": TITLE}
    lines, decoder, at = [json.dumps(header)], getincrementaldecoder("utf-8")("replace"), 0
    for moment, end in heard:
        if text := decoder.decode(output[at:end]):
            lines.append(json.dumps([round(moment, 3), "o", text], ensure_ascii=False))
        at = end
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
