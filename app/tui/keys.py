"""Every key of the chat in one place. Ids allow remapping; the footer shows what `show` says and works now."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from textual.binding import Binding

COMPOSER: Final = (
    Binding("enter", "send", "send", id="composer.send"),
    Binding("ctrl+j,alt+enter,shift+enter", "new_line", "line", key_display="ctrl+j", id="composer.line"),
    # ctrl+z suspends. Terminals send ctrl+_ for ctrl+/ and ctrl+7 too, those with Kitty's protocol the keys themselves.
    Binding(
        "ctrl+underscore,ctrl+shift+minus,ctrl+slash",
        "undo",
        "undo",
        key_display="ctrl+_",
        show=False,
        id="composer.undo",
    ),
    Binding("pageup", "transcript('page_up')", "page up", show=False, id="transcript.page_up"),
    Binding("pagedown", "transcript('page_down')", "page down", show=False, id="transcript.page_down"),
    Binding("ctrl+home", "transcript('home')", "first message", show=False, id="transcript.first"),
    Binding("ctrl+end", "transcript('end')", "last message", show=False, id="transcript.last"),
)

CHAT: Final = (
    # With priority: an esc that has to bubble up from the composer is overtaken by the text and the enter behind it.
    Binding("escape", "stop", "stop", key_display="esc", id="chat.stop", priority=True),
    Binding("escape", "leave_edit", "leave the edit", key_display="esc", id="chat.leave_edit", priority=True),
    Binding("ctrl+t", "speculation", "speculation", id="chat.speculation"),
    # Two keys: alt+up is the window's in some terminals, ctrl+up the desktop's on some machines.
    Binding("alt+up,ctrl+up", "select('up')", "turns", key_display="alt+↑", id="chat.select_up", priority=True),
    Binding("alt+down,ctrl+down", "select('down')", "next turn", show=False, id="chat.select_down", priority=True),
    Binding("ctrl+r", "app.compare", "compare", id="chat.compare"),
    Binding("ctrl+l", "app.models", "models", id="chat.models"),
    Binding("ctrl+o", "app.chats", "chats", id="chat.chats"),
    Binding("ctrl+n", "new_chat", "new", id="chat.new"),
    Binding("f2", "app.settings", "settings", show=False, id="chat.settings"),
    Binding("ctrl+end", "latest", "latest", show=False, id="chat.latest"),
    Binding("f4", "xray", "x-ray", key_display="f4", show=False, id="chat.xray"),
    Binding("ctrl+c,super+c", "copy", "copy", show=False, priority=True, id="chat.copy"),
)

# The keys of a selected turn. With priority, so that each is done with before the key behind it is looked at.
TURN: Final = (
    Binding("r", "screen.turn('again')", "again", id="turn.again", priority=True),
    Binding("e", "screen.turn('edit')", "edit", id="turn.edit", priority=True),
    Binding("g", "screen.turn('go_on')", "go on", id="turn.go_on", priority=True),
    Binding("c", "screen.turn('copy')", "copy", id="turn.copy", priority=True),
    Binding("b", "screen.turn('block', 1)", "copy code", id="turn.block", priority=True),
    *(
        Binding(str(n), f"screen.turn('block', {n})", f"block {n}", show=False, id=f"turn.block_{n}", priority=True)
        for n in range(1, 10)
    ),
    Binding("left", "screen.turn('previous')", "variants", key_display="←→", id="turn.previous", priority=True),
    Binding("right", "screen.turn('next')", "next variant", show=False, id="turn.next", priority=True),
    Binding("i", "screen.turn('receipt')", "receipt", id="turn.receipt", priority=True),
    Binding("s", "screen.turn('save')", "save", id="turn.save", priority=True),
    Binding("p", "screen.turn('replay')", "replay", show=False, id="turn.replay", priority=True),
    Binding("up", "screen.select('up')", "turn before", show=False, id="turn.up", priority=True),
    Binding("down", "screen.select('down')", "turn behind", show=False, id="turn.down", priority=True),
    Binding("escape,enter", "screen.deselect", "back", key_display="esc", id="turn.back", priority=True),
)

APP: Final = (
    Binding("ctrl+p", "command_palette", "all", priority=True, id="app.palette"),
    Binding("f1", "help", "help", show=False, priority=True, id="app.help"),
    Binding("ctrl+z", "suspend_process", "suspend", show=False, priority=True, id="app.suspend"),
    Binding("ctrl+q", "quit", "quit", priority=True, id="app.quit"),
)

MODES: Final = (
    Binding("enter", "select", "choose", id="picker.choose"),
    Binding("up", "cursor_up", "move", key_display="↑↓", id="picker.move"),
)

PICKER: Final = (Binding("escape,ctrl+t", "close", "back", key_display="esc", id="picker.close"),)

OVERFLOW: Final = (Binding("escape", "close", "stop", key_display="esc", id="overflow.close"),)

FIRST_STEPS: Final = (Binding("escape", "leave", "type", key_display="esc", id="first.leave"),)


def _list_keys(screen: str) -> tuple[Binding, ...]:
    """Moving in the list of a screen."""
    return (
        Binding("up", "cursor_up", "up", show=False, id=f"{screen}.up"),
        Binding("down", "cursor_down", "down", show=False, id=f"{screen}.down"),
        Binding("pageup", "page_up", "page up", show=False, id=f"{screen}.page_up"),
        Binding("pagedown", "page_down", "page down", show=False, id=f"{screen}.page_down"),
        Binding("home", "first", "first", show=False, id=f"{screen}.first"),
        Binding("end", "last", "last", show=False, id=f"{screen}.last"),
    )


TABLE: Final = _list_keys("models")
CHAT_LIST: Final = _list_keys("chats")

MODELS: Final = (
    # One key, and what it means for the highlighted entry: the screen lets one of them through.
    Binding("enter", "use", "use", id="models.use"),
    Binding("enter", "go_on", "continue", id="models.continue"),
    Binding("enter", "get", "get", id="models.get"),
    Binding("g", "get", "get", id="models.get_too"),
    Binding("p", "pause", "pause", id="models.pause"),
    Binding("p", "go_on", "continue", show=False, id="models.continue_too"),
    Binding("x", "cancel", "cancel", id="models.cancel"),
    Binding("d", "draft", "as draft", id="models.draft"),
    Binding("s", "score", "score", id="models.score"),
    Binding("delete,backspace", "delete", "delete", key_display="del", id="models.delete"),
    # With priority, as esc in the chat: the letters behind it must not be taken for commands.
    Binding("slash", "filter", "search", key_display="/", id="models.filter", priority=True),
    Binding("r", "refresh", "look again", show=False, id="models.refresh"),
    Binding("w", "left_out", "what is left out", show=False, id="models.left_out"),
    Binding("ctrl+up", "details('up')", "details up", show=False, id="models.details_up"),
    Binding("ctrl+down", "details('down')", "details down", show=False, id="models.details_down"),
    Binding("escape", "close", "back", key_display="esc", id="models.close"),
    Binding("ctrl+l", "close", "back", show=False, id="models.close_too"),
)

COMPARE: Final = (
    Binding("enter", "keep", "keep the faster way", id="compare.keep"),
    Binding("w", "ways", "ways", id="compare.ways"),
    Binding("d", "difference", "difference", id="compare.difference"),
    Binding("k,shift+up", "answers('up')", "answers", key_display="k j", show=False, id="compare.answers_up"),
    Binding("j,shift+down", "answers('down')", "answers", show=False, id="compare.answers_down"),
    Binding("up", "scroll('up')", "scroll", key_display="↑↓", id="compare.up"),
    Binding("down", "scroll('down')", "down", show=False, id="compare.down"),
    Binding("pageup", "scroll('page_up')", "page up", show=False, id="compare.page_up"),
    Binding("pagedown", "scroll('page_down')", "page down", show=False, id="compare.page_down"),
    Binding("escape,ctrl+r", "close", "back", key_display="esc", id="compare.close"),
)

WAYS: Final = (
    Binding("enter", "compare", "compare", id="ways.compare", priority=True),
    Binding("escape,w", "close", "back", key_display="esc", id="ways.close"),
)

WAY_GRID: Final = (
    Binding("space", "choose", "choose", id="ways.choose"),
    Binding("up", "move('up')", "move", key_display="↑↓←→", id="ways.up"),
    Binding("down", "move('down')", "down", show=False, id="ways.down"),
    Binding("left", "move('left')", "shorter", show=False, id="ways.left"),
    Binding("right", "move('right')", "longer", show=False, id="ways.right"),
)

SCORE: Final = (
    Binding("enter", "begin", "measure", id="score.begin"),
    Binding("o", "own_chats", "on my own chats", id="score.own_chats"),
    Binding("up", "scroll('up')", "scroll", key_display="↑↓", id="score.up"),
    Binding("down", "scroll('down')", "down", show=False, id="score.down"),
    Binding("pageup", "scroll('page_up')", "page up", show=False, id="score.page_up"),
    Binding("pagedown", "scroll('page_down')", "page down", show=False, id="score.page_down"),
    Binding("escape", "close", "back", key_display="esc", id="score.close"),
)

REPLAY: Final = (
    Binding("enter", "begin", "replay", id="replay.begin"),
    Binding("up", "scroll('up')", "scroll", key_display="↑↓", id="replay.up"),
    Binding("down", "scroll('down')", "down", show=False, id="replay.down"),
    Binding("pageup", "scroll('page_up')", "page up", show=False, id="replay.page_up"),
    Binding("pagedown", "scroll('page_down')", "page down", show=False, id="replay.page_down"),
    Binding("escape", "close", "back", key_display="esc", id="replay.close"),
)

CHATS: Final = (
    Binding("enter", "open", "open", id="chats.open"),
    # With priority: the letters behind them belong into the box that they open.
    Binding("slash", "search", "find", key_display="/", id="chats.search", priority=True),
    Binding("n", "new", "new", id="chats.new"),
    Binding("r", "rename", "rename", id="chats.rename", priority=True),
    Binding("p", "pin", "pin", id="chats.pin"),
    Binding("p", "unpin", "unpin", id="chats.unpin"),
    Binding("delete,backspace", "delete", "delete", key_display="del", id="chats.delete"),
    Binding("u", "undo", "undo", id="chats.undo"),
    Binding("escape", "close", "back", key_display="esc", id="chats.close"),
    Binding("e", "export", "export", id="chats.export"),
    Binding("ctrl+o", "leave", "back", show=False, id="chats.leave"),
)

SEARCH: Final = (
    Binding("enter", "open", "open", id="search.open"),
    Binding("down", "submit", "to the list", key_display="↓", id="search.submit"),
    Binding("escape", "close", "all again", key_display="esc", id="search.close"),
)

NAME: Final = (
    Binding("enter", "submit", "rename", id="name.submit"),
    Binding("escape", "close", "as it was", key_display="esc", id="name.close"),
)

EXPORT: Final = (Binding("escape,e", "close", "back", key_display="esc", id="export.close"),)

FILTER: Final = (
    Binding("enter,down", "submit", "to the list", key_display="enter", id="filter.submit"),
    Binding("enter", "ask", "ask the hub", id="filter.ask"),  # in the place of the other, where the list is empty
    Binding("escape", "close", "all again", key_display="esc", id="filter.close"),
)

# With priority, as what is done to the row that they lead to.
SETTING_LIST: Final = tuple(replace(binding, priority=True) for binding in _list_keys("settings"))

SETTINGS: Final = (
    # With priority: what is typed behind them belongs into the line that they open.
    Binding("enter", "change", "change", id="settings.change", priority=True),
    *(
        Binding(key, f"begin('{typed}')", "type", show=False, id=f"settings.begin_{key}", priority=True)
        for key, typed in (*((digit, digit) for digit in "0123456789"), ("minus", "-"), ("full_stop", "."))
    ),
    Binding("delete,backspace", "default", "default", key_display="del", id="settings.default"),
    Binding("escape", "close", "back", key_display="esc", id="settings.close"),
    Binding("f2", "leave", "back", show=False, id="settings.leave"),
)

VALUE: Final = (
    Binding("enter", "submit", "keep", id="value.submit"),
    Binding("escape", "close", "as it was", key_display="esc", id="value.close"),
)

CHOICES: Final = (Binding("escape", "close", "as it was", key_display="esc", id="choices.close"),)

QUESTION: Final = (
    Binding("enter,y", "yes", "yes", key_display="enter", id="question.yes"),
    Binding("escape,n", "no", "back", key_display="esc", id="question.no"),
)

RECEIPT: Final = (
    Binding("c", "copy", "copy as JSON", id="receipt.copy"),
    Binding("up,k", "scroll('up')", "scroll", key_display="↑↓", id="receipt.up"),
    Binding("down,j", "scroll('down')", "down", show=False, id="receipt.down"),
    Binding("pageup", "scroll('page_up')", "page up", show=False, id="receipt.page_up"),
    Binding("pagedown,space", "scroll('page_down')", "page down", show=False, id="receipt.page_down"),
    Binding("home", "scroll('home')", "first", show=False, id="receipt.first"),
    Binding("end", "scroll('end')", "last", show=False, id="receipt.last"),
    Binding("escape,i,q", "close", "back", key_display="esc", id="receipt.close"),
)

HELP: Final = (
    # With priority: the letters behind it belong into the box that it opens.
    Binding("slash", "find", "find", key_display="/", id="help.find", priority=True),
    Binding("up", "scroll('up')", "scroll", key_display="↑↓", id="help.up"),
    Binding("down", "scroll('down')", "down", show=False, id="help.down"),
    Binding("pageup", "scroll('page_up')", "page up", show=False, id="help.page_up"),
    Binding("pagedown,space", "scroll('page_down')", "page down", show=False, id="help.page_down"),
    Binding("home", "scroll('home')", "first", show=False, id="help.first"),
    Binding("end", "scroll('end')", "last", show=False, id="help.last"),
    Binding("escape", "close", "back", key_display="esc", id="help.close"),
)
