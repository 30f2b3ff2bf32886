"""Frames of a terminal, and the animated SVG that plays them: one film strip that CSS moves on, frame by frame.

Nothing but what the terminal showed gets in: each row of each frame is drawn from the cells of :mod:`pyte`'s screen. A
row that looks the same in many frames is drawn once.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Final

import pyte

WIDTH, HEIGHT = 8.4, 18.0
"""Of a cell, in pixels."""
FONT: Final = "ui-monospace, 'SF Mono', SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
SIZE: Final = 14
BASELINE: Final = 13.5
MARGIN, TITLE = 10.0, 30.0
LONGEST_PAUSE: Final = 2.5
"""Seconds; a longer one is cut to this."""
LAST_FRAME: Final = 4.0
"""Seconds it stays before the film begins again."""


@dataclass(frozen=True, slots=True)
class Look:
    """How cells are drawn. Colours as CSS has them; empty: the terminal's own."""

    colour: str = ""
    ground: str = ""
    bold: bool = False
    italic: bool = False
    underlined: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring cells of the same look."""

    column: int
    cells: int
    text: str
    look: Look


Row = tuple[Run, ...]
Frame = tuple[Row, ...]


def photograph(screen: pyte.Screen, ground: str) -> Frame:
    """What the screen shows now. ``ground``: the background, which need not be drawn."""
    return tuple(tuple(_runs(screen, y, ground)) for y in range(screen.lines))


def _runs(screen: pyte.Screen, y: int, ground: str) -> Iterator[Run]:
    line = screen.buffer[y]
    cells = [(x, line[x].data, _look(line[x], ground)) for x in range(screen.columns)]
    for look, group in groupby(cells, key=lambda cell: cell[2]):
        run = list(group)
        text = "".join(data for _, data, _ in run)
        if text.strip() or look.ground or look.underlined:
            yield Run(run[0][0], len(run), text, look)


def _look(char: pyte.screens.Char, ground: str) -> Look:
    fore, back = _colour(char.fg), _colour(char.bg)
    if char.reverse:
        fore, back = back or ground, fore or "text"
    back = "" if back == ground else back
    if not char.data.strip():
        return Look(ground=back, underlined=char.underscore)
    return Look(fore, back, char.bold, char.italics, char.underscore)


def _colour(name: str) -> str:
    """pyte's name of a colour: six hexadecimal digits, a word, or ``default``."""
    if name == "default":
        return ""
    return f"#{name}" if len(name) == 6 and all(digit in "0123456789abcdef" for digit in name.lower()) else name


@dataclass(frozen=True, slots=True)
class Shot:
    """A frame, and how many seconds it is on screen."""

    frame: Frame
    seconds: float


def shots(taken: Sequence[tuple[float, Frame]]) -> list[Shot]:
    """Frames with the moments at which they were taken, without those that show nothing new and without long waits."""
    if not taken:
        return []
    new = [one for before, one in pairwise([(0.0, ()), *taken]) if one[1] != before[1]]
    cut = [
        Shot(frame, min(LONGEST_PAUSE, until - moment)) for (moment, frame), (until, _) in pairwise([*new, taken[-1]])
    ]
    return [*cut[:-1], replace(cut[-1], seconds=LAST_FRAME)]


def to_svg(film: Sequence[Shot], columns: int, rows: int, *, title: str, text: str, ground: str) -> str:
    """The animated picture. ``title``: what it shows, for those who cannot see it; ``text`` and ``ground``: the
    terminal's own colours. Where animations are not wanted it is a still of the last frame."""
    width, height = columns * WIDTH, rows * HEIGHT
    names: dict[Row, str] = {}
    looks: dict[Look, str] = {}
    strip = []
    for number, shot in enumerate(film):
        uses = []
        for y, row in enumerate(shot.frame):
            if row:
                name = names.setdefault(row, f"r{len(names)}")
                uses.append(f'<use href="#{name}" y="{_number(y * HEIGHT)}"/>')
        strip.append(f'<g transform="translate(0 {_number(number * height)})">{"".join(uses)}</g>')
    drawn = [f'<g id="{name}">{"".join(_draw(run, looks) for run in row)}</g>' for row, name in names.items()]
    whole_width, whole_height = width + 2 * MARGIN, height + TITLE + MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_number(whole_width)} {_number(whole_height)}" '
            f'width="{_number(whole_width)}" height="{_number(whole_height)}" role="img">',
            f"<title>{html.escape(title)}</title>",
            f"<style>\n{_style(film, height, looks, text)}\n</style>",
            f'<rect width="100%" height="100%" rx="8" fill="{ground}"/>',
            *(
                f'<circle cx="{18 + 16 * n}" cy="15" r="5" fill="#{"ff5f57 febc2e 28c840".split()[n]}"/>'
                for n in range(3)
            ),
            "<defs>",
            *drawn,
            "</defs>",
            f'<svg x="{_number(MARGIN)}" y="{_number(TITLE)}" width="{_number(width)}" height="{_number(height)}">',
            '<g class="film">',
            *strip,
            "</g>\n</svg>\n</svg>\n",
        ]
    )


def _draw(run: Run, looks: dict[Look, str]) -> str:
    """A run: what is behind it, and its text, held to its cells whatever the font."""
    behind = ""
    if run.look.ground:
        fill = looks.setdefault(Look(colour=run.look.ground), f"c{len(looks)}")
        x, width = _number(run.column * WIDTH), _number(run.cells * WIDTH)
        behind = f'<rect class="{fill}" x="{x}" width="{width}" height="{_number(HEIGHT)}"/>'
    words = run.text.strip(" ")
    if not words.strip():
        return behind
    column = run.column + len(run.text) - len(run.text.lstrip(" "))
    cells = run.cells - (len(run.text) - len(words))
    name = looks.setdefault(replace(run.look, ground=""), f"c{len(looks)}")
    shown = html.escape(words, quote=False).replace(" ", "\u00a0")
    return (
        f'{behind}<text class="{name}" x="{_number(column * WIDTH)}" y="{_number(BASELINE)}" '
        f'textLength="{_number(cells * WIDTH)}">{shown}</text>'
    )


def _style(film: Sequence[Shot], height: float, looks: dict[Look, str], text: str) -> str:
    seconds = sum(shot.seconds for shot in film)
    own = {"": text, "text": text}
    lines = [f"text {{ font: {SIZE}px {FONT}; fill: {text}; }}"]
    for look, name in looks.items():
        rules = [f"fill: {own.get(look.colour, look.colour)}"]
        rules += ["font-weight: bold"] * look.bold + ["font-style: italic"] * look.italic
        rules += ["text-decoration: underline"] * look.underlined
        lines.append(f".{name} {{ {'; '.join(rules)} }}")
    last = f"translateY({_number(-height * (len(film) - 1))}px)"
    lines += [
        f".film {{ animation: film {seconds:.2f}s step-end infinite; }}",
        f"@media (prefers-reduced-motion: reduce) {{ .film {{ animation: none; transform: {last}; }} }}",
        "@keyframes film {",
        *(
            f"{100 * at / seconds:.3f}% {{ transform: translateY({_number(-height * n)}px) }}"
            for n, at in _starts(film)
        ),
        "}",
    ]
    return "\n".join(lines)


def _starts(film: Iterable[Shot]) -> Iterator[tuple[int, float]]:
    at = 0.0
    for number, shot in enumerate(film):
        yield number, at
        at += shot.seconds


def _number(value: float) -> str:
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
