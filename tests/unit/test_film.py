"""The recording of README: frames of a terminal, and the picture that plays them."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pyte

from scripts.film import LAST_FRAME, LONGEST_PAUSE, Frame, Look, Run, Shot, photograph, shots, to_svg

GROUND = "#0e1315"
SVG = "{http://www.w3.org/2000/svg}"


def frame(data: str, columns: int = 20, lines: int = 3) -> Frame:
    screen = pyte.Screen(columns, lines)
    pyte.Stream(screen).feed(data)
    return photograph(screen, GROUND)


def test_cells_of_one_look_are_one_run() -> None:
    shown = frame("a \x1b[1;38;2;92;214;192mbold\x1b[0m\r\n\x1b[48;2;14;19;21m  \x1b[48;2;24;33;36m  \x1b[0m")
    first, second, third = shown
    assert first == (
        Run(0, 2, "a ", Look()),
        Run(2, 4, "bold", Look("#5cd6c0", bold=True)),
    )
    assert second == (Run(2, 2, "  ", Look(ground="#182124")),), "the terminal's own background is not drawn"
    assert third == ()


def test_what_stands_still_is_one_shot_and_long_pauses_are_cut() -> None:
    one, two, three = (frame(text) for text in "123")
    film = shots([(0.0, one), (0.1, one), (0.5, two), (9.0, three), (9.1, three)])
    assert film == [Shot(one, 0.5), Shot(two, LONGEST_PAUSE), Shot(three, LAST_FRAME)]
    assert shots([]) == []


def test_the_picture_is_whole_and_every_row_is_drawn_once() -> None:
    film = [Shot(frame("same\r\n<&> one"), 0.5), Shot(frame("same\r\n<&> two"), 1.5)]
    text = to_svg(film, 20, 3, title="A <chat>", text="#d8e0df", ground=GROUND)
    root = ElementTree.fromstring(text)
    assert root.findtext(f"{SVG}title") == "A <chat>"
    assert [node.text for node in root.iter(f"{SVG}text")] == ["same", "<&>\u00a0one", "<&>\u00a0two"]
    strip = [node for node in root.iter(f"{SVG}g") if node.get("transform")]
    assert [[use.get("href") for use in part] for part in strip] == [["#r0", "#r1"], ["#r0", "#r2"]]
    assert [part.get("transform") for part in strip] == ["translate(0 0)", "translate(0 54)"]
    assert "animation: film 2.00s step-end infinite" in text
    assert re.findall(r"(\S+)% { transform: translateY\((\S+)px", text) == [("0.000", "0"), ("25.000", "-54")]
    assert "prefers-reduced-motion" in text
