"""The files that go out with the message: name, size, and how many tokens they take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.widgets import Static

from app.chats.records import Attachment
from app.clean import clean_line
from engine.files.sizes import size_words


@dataclass(frozen=True, slots=True)
class Chip:
    """One file. ``tokens``: as the model counts them, or about (``exact`` False)."""

    path: str
    size: int
    tokens: int
    exact: bool = False


class AttachedRow(Static):
    """Hidden while nothing is attached."""

    chips: tuple[Chip, ...] = ()

    def __init__(self) -> None:
        super().__init__(markup=False)
        self.display = False

    def show(self, chips: Sequence[Chip]) -> None:
        """Name these files; none: the row goes."""
        if tuple(chips) != self.chips:
            self.chips = tuple(chips)
            self.update(Content("   ").join(map(_chip, chips)))
        self.display = bool(chips)


def _chip(chip: Chip) -> Content:
    about = "" if chip.exact else "~"
    return Content.assemble(
        ("+ ", "$accent"),
        (clean_line(chip.path, 60), "$foreground"),
        (f"  {size_words(chip.size)} · {about}{chip.tokens:,} token{'s' * (chip.tokens != 1)}", "$muted"),
    )


def attached_line(attached: Sequence[Attachment], since: Mapping[int, str]) -> Content:
    """``+ notes.txt  12 kB   + plan.md, changed since``: under a message that was sent."""
    return Content("   ").join(
        Content.assemble(
            ("+ ", "$faint"),
            (clean_line(one.path, 60), "$muted"),
            (f", {since[one.id]}", "$warning") if since.get(one.id) else (f"  {size_words(one.size)}", "$faint"),
        )
        for one in attached
    )
