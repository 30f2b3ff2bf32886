"""Write the list of all keys in docs/keys.md anew, from app/tui/keys.py: ``python scripts/keys_page.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from app.tui import help_pages, keymap

PAGE: Final = Path(__file__).parents[1] / "docs" / "keys.md"
BEGIN: Final = "## All keys\n"
END: Final = "\n## Colours\n"


def tables() -> str:
    """A table for each place."""
    lines: list[str] = []
    for section in help_pages.all_keys():
        lines += ["", f"### {section.title[0].upper()}{section.title[1:]}", "", "| key | | name |", "|---|---|---|"]
        for row in section.rows:
            alike = [name for name in keymap.bindings() if name.startswith(help_pages.BLOCKS)]
            names = alike if row.name in alike else [row.name]
            lines.append(f"| {row.what} | {row.words} | {' '.join(f'`{name}`' for name in names)} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    PAGE.write_text(before + BEGIN + tables() + END + rest.split(END)[1], encoding="utf-8")
