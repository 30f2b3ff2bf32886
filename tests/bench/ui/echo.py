"""How long a key takes to the screen: letters at random moments, each timed until the terminal has been sent it."""

from __future__ import annotations

import random
import string
import time
from typing import Final

from tests.bench.ui.terminal import Program

GAP: Final = (0.08, 0.4)
"""Seconds between a letter that was seen and the next one."""
KNOWN_BY: Final = 4
"""A letter is known by the three before it, too: so many capitals in a row stand nowhere else on the screen."""
ROW: Final = 60
"""Letters after which the composer is emptied; it must not wrap, or a letter would stand alone."""
EMPTY: Final = b"\x15"
PATIENCE: Final = 5.0


def echo(program: Program, seconds: float, gap: tuple[float, float] = GAP) -> list[float]:
    """Seconds that each letter took; the composer is empty before and after."""
    chance = random.Random(7)
    times: list[float] = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        typed = "".join(chance.sample(string.ascii_uppercase, KNOWN_BY - 1))
        here = len(program.output)
        program.write(typed.encode())
        program.sees(typed.encode(), since=here)
        while len(typed) < ROW and time.perf_counter() < until:
            program.run(chance.uniform(*gap))
            typed += chance.choice(string.ascii_uppercase)
            here, pressed = len(program.output), time.perf_counter()
            program.write(typed[-1].encode())
            seen = program.sees(typed[-KNOWN_BY:].encode(), since=here, patience=PATIENCE)
            times.append(seen - pressed)
        program.write(EMPTY)
        program.run(0.1)
    return times
