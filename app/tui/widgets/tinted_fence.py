"""A code block that the X-ray can be laid over."""

from __future__ import annotations

from textual.content import Content, Span

from app.tui import xray
from app.tui.widgets.labelled_fence import LabelledFence


class TintedFence(LabelledFence):
    """Keeps its tint when it is highlighted anew (another theme)."""

    _tint: tuple[Span, ...] = ()

    def tint(self, found: xray.Source | None) -> None:
        """Show who proposed the code, or not."""
        letters = found.of_code(self._token, self._highlighted_code.plain) if found else ""
        self._tint = tuple(xray.spans(letters)) if len(letters) == len(self._highlighted_code) else ()
        self.set_content(self._highlighted_code)

    def set_content(self, content: Content) -> None:
        super().set_content(content.add_spans(self._tint))
