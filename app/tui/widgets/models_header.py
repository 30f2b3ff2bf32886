"""The first row of the Models screen: what there is room for on this machine."""

from __future__ import annotations

from typing import Final

from textual.content import Content
from textual.reactive import reactive

from app.library.records import Listing
from app.tui.widgets.line import Line
from engine.files.sizes import size_words

WIDE: Final = 98


class ModelsHeader(Line):
    """``models`` at the left, disk, memory and processor at the right."""

    listing: reactive[Listing | None] = reactive(None)
    backend: reactive[str] = reactive("")
    """Where models run now: ``CPU``, or the name of a GPU."""

    def parts(self, width: int) -> tuple[Content, Content]:
        left = Content.styled("models", "bold $accent")
        if self.listing is None:
            return left, Content.styled("looking at this disk…", "$muted")
        return left, Content.styled(" · ".join(self._room(width >= WIDE)), "$muted")

    def _room(self, wide: bool) -> list[str]:
        here = self.listing
        assert here is not None
        words = []
        if here.free_disk is not None:
            words.append(f"free disk {size_words(here.free_disk)}")
        if here.memory is not None:
            free = f", {size_words(here.free_memory)} free" if wide and here.free_memory is not None else ""
            words.append(f"memory {size_words(here.memory)}{free}")
        if here.free_gpu_memory is not None:
            words.append(f"GPU {size_words(here.free_gpu_memory)} free")
        if wide and here.cores:
            words.append(f"{here.cores} core{'s' * (here.cores != 1)}")
        if wide and self.backend:
            words.append(self.backend)
        return words
