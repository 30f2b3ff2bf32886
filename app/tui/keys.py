"""Every key of the chat in one place. Ids allow remapping; the footer shows what `show` says and works now."""

from __future__ import annotations

from typing import Final

from textual.binding import Binding

COMPOSER: Final = (
    Binding("enter", "send", "send", id="composer.send"),
    Binding("ctrl+j,alt+enter,shift+enter", "new_line", "line", key_display="ctrl+j", id="composer.line"),
    Binding("pageup", "transcript('page_up')", "page up", show=False, id="transcript.page_up"),
    Binding("pagedown", "transcript('page_down')", "page down", show=False, id="transcript.page_down"),
    Binding("ctrl+home", "transcript('home')", "first message", show=False, id="transcript.first"),
    Binding("ctrl+end", "transcript('end')", "last message", show=False, id="transcript.last"),
)

CHAT: Final = (
    # With priority: an esc that has to bubble up from the composer is overtaken by the text and the enter behind it.
    Binding("escape", "stop", "stop", key_display="esc", id="chat.stop", priority=True),
    Binding("ctrl+t", "speculation", "speculation", id="chat.speculation"),
    Binding("ctrl+n", "new_chat", "new", id="chat.new"),
    Binding("ctrl+end", "latest", "latest", show=False, id="chat.latest"),
    Binding("ctrl+c,super+c", "copy", "copy", show=False, priority=True, id="chat.copy"),
)

APP: Final = (
    Binding("ctrl+p", "command_palette", "all", priority=True, id="app.palette"),
    Binding("ctrl+q", "quit", "quit", priority=True, id="app.quit"),
)

MODES: Final = (
    Binding("enter", "select", "choose", id="picker.choose"),
    Binding("up", "cursor_up", "move", key_display="↑↓", id="picker.move"),
)

PICKER: Final = (Binding("escape,ctrl+t", "close", "back", key_display="esc", id="picker.close"),)
