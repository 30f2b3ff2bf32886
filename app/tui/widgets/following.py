"""A scrolled column that stays at its end while that grows, unless the reader has gone up."""

from __future__ import annotations

from textual import events
from textual.containers import VerticalScroll
from textual.message import Message


class FollowingScroll(VerticalScroll, can_focus=False):
    """See the module's text."""

    class Following(Message):
        """Whether the end is followed has changed."""

        def __init__(self, following: bool) -> None:
            super().__init__()
            self.following = following

    _following = True

    @property
    def following(self) -> bool:
        """Whether new text keeps the end in view."""
        return self._following

    def follow(self) -> None:
        """Go to the end and stay there."""
        self._set_following(True)
        self.anchor()

    def let_go(self) -> None:
        """Stay here, whatever comes at the end."""
        super().release_anchor()
        self._set_following(False)

    def top_reached(self) -> None:
        """The reader has scrolled up to the first row."""

    def end_reached(self) -> None:
        """The reader has scrolled down to the last row."""
        self.follow()

    def release_anchor(self) -> None:
        """Called by Textual when the reader scrolls."""
        super().release_anchor()
        if self.max_scroll_y > 0:
            self._set_following(False)
            self.call_later(self.resume_at_end)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if new_value > old_value:
            self.resume_at_end()
        elif new_value <= 0 < old_value:
            self.top_reached()

    def resume_at_end(self) -> None:
        """Scrolling down to the end follows again; Textual alone forgets to (Textualize/textual#6677)."""
        if not self._following and self.scroll_target_y >= self.max_scroll_y:
            self.end_reached()

    def _set_following(self, following: bool) -> None:
        if following != self._following:
            self._following = following
            self.post_message(self.Following(following))

    def on_resize(self, _event: events.Resize) -> None:
        if self._following:
            self.scroll_end(animate=False, immediate=True)
