"""What the ``models`` commands share: the shelf, a question, and how text is printed."""

from __future__ import annotations

import sys

from app.clean import clean
from app.commands.errors import CommandError
from app.library.shelf import Shelf


def open_shelf() -> Shelf:
    """Tests put another one in its place."""
    return Shelf()


def confirmed(question: str, otherwise: str) -> bool:
    """Ask on stderr and read the answer from the terminal. ``otherwise``: what is said where nobody can be asked."""
    if sys.stdin is None or sys.stdin.closed or not sys.stdin.isatty():
        raise CommandError(f"{otherwise}: there is nobody to ask here. Add --yes to agree beforehand.")
    sys.stderr.write(clean(f"{question} [y/N] "))
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def show(text: str = "") -> None:
    """Print ``text`` to stdout: names of files and of the hub are foreign, and no terminal obeys them."""
    encoding = sys.stdout.encoding or "utf-8"
    print(clean(text).encode(encoding, "replace").decode(encoding))


def table(rows: list[tuple[str, ...]], right: tuple[int, ...] = ()) -> list[str]:
    """Rows as aligned lines; ``right``: the columns whose text stands at their right end."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))] if rows else []
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines
