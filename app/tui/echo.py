"""What is typed is on screen at once, also while an answer grows."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from app.tui.sparing_screen import SparingScreen
from app.tui.widgets.composer import Composer

if TYPE_CHECKING:
    from textual import messages


class EchoingScreen(SparingScreen):
    """A screen that draws its composer as soon as that has changed.

    Textual 8.2.8 draws whatever has changed in its next frame, after laying out anew what needs it. Beside an answer
    that grows, a key would wait for one and a half frames and for the layout of the whole transcript, which moves
    nothing in the composer.
    """

    typed_at = 0.0
    """When the composer last changed, by ``time.monotonic``."""

    async def _on_update(self, message: messages.Update) -> None:
        await super()._on_update(message)
        widget = message.widget
        if not isinstance(widget, Composer):
            return
        self.typed_at = time.monotonic()
        if self._may_draw(widget):
            self._compositor.update_widgets({widget})
            self.app._display(self, self._compositor.render_update(screen_stack=self.app._background_screens))
            self._dirty_widgets.discard(widget)

    def _may_draw(self, composer: Composer) -> bool:
        """Whether the composer stays where it is and as high as it is, and nothing is between two states."""
        app: Any = self.app
        still = not app._batch_count and not app.is_inline and self is app.screen and composer in self._compositor
        return still and composer.keeps_height
