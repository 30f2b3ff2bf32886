"""What is suggested for the word at the cursor, and what the keys of the composer do while it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from app.attached import mention_of
from app.tui import commands
from app.tui.ranking import rank, rank_paths
from app.tui.widgets.completions import Completions, Suggestion

if TYPE_CHECKING:
    from app.tui.commands import Command
    from app.tui.screens.chat import ChatScreen
    from app.tui.widgets.composer import Composer
    from app.tui.working_folder import FoldedPath

_MENTION_HERE: Final = re.compile(r'(?<!\S)@(?:"([^"\n]*)|([^\s"@]*))$')


class Place(NamedTuple):
    """What is completed: a part of the row that the cursor is in."""

    kind: str
    """``command``, ``argument`` or ``file``."""
    row: int
    start: int
    end: int
    typed: str


class Completing:
    """Stands between the composer's keys and the list above it."""

    def __init__(
        self,
        screen: ChatScreen,
        composer: Composer,
        popup: Completions,
        files: Callable[[], Sequence[FoldedPath]],
    ) -> None:
        """``files``: those of the working folder as far as they are known; asks for a look if that is due."""
        self._screen = screen
        self._composer = composer
        self._popup = popup
        self._known_files = files
        self._ranked: tuple[str, Sequence[FoldedPath], Sequence[Suggestion]] = ("", (), ())
        """What was typed of a path last, the files that were known, and what it can mean."""
        self._place: Place | None = None
        self._closed_at: tuple[str, int, int] | None = None
        """Where esc closed the list; it stays so until another word is begun."""

    @property
    def open(self) -> bool:
        """Whether there is a list."""
        return self._popup.display

    def look(self) -> None:
        """The text or the cursor has changed."""
        place = self._find()
        key = (place.kind, place.row, place.start) if place else None
        if key != self._closed_at:
            self._closed_at = None
        if place is None or self._closed_at is not None:
            self._show(None, ())
            return
        before = self._popup.suggestions
        suggestions = tuple(self._suggestions(place))
        same = self._place is not None and self._place[:2] == place[:2] and suggestions == before and self.open
        highlighted = self._popup.highlighted if same else self._best(place, suggestions)
        self._show(place, suggestions, highlighted)

    def reopen(self) -> None:
        """Another text is put into the composer: a list that was closed may come back."""
        self._closed_at = None

    def takes(self, key: str) -> bool:
        """Whether the list takes this key of the composer."""
        self.look()  # what was typed a moment ago counts, even if nobody was told of it yet
        place = self._place
        if place is None or not self.open:
            return False
        match key:
            case "up" | "down":
                self._popup.move(1 if key == "down" else -1)
            case "escape":
                self._close(place)
            case "tab":
                self.choose(self._popup.highlighted or 0)
            case "enter":
                at = self._popup.highlighted
                if at is None or self._popup.suggestions[at].value.strip() == self._word(place):
                    self._close(place)
                    return False
                self.choose(at, send=True)
        return True

    def choose(self, index: int, *, send: bool = False) -> None:
        """Put a suggestion into the text. ``send``: and run the command if that completes it."""
        place, suggestions = self._place, self._popup.suggestions
        if place is None or index >= len(suggestions):
            return
        value = suggestions[index].value
        self._composer.put(value, (place.row, place.start), (place.row, place.end))
        self.look()
        if send and place.kind != "file" and not value.endswith(" "):
            self._composer.action_send()

    # ------------------------------------------------------------------------------------------------- the list

    def _show(self, place: Place | None, suggestions: Sequence[Suggestion], highlighted: int | None = None) -> None:
        was = self.open
        self._place = place if suggestions else None
        self._popup.offer(suggestions, highlighted if suggestions else None)
        if was != self.open:
            self._screen.set_class(self.open, "-completing")
            self._screen.refresh_bindings()

    def _close(self, place: Place) -> None:
        self._closed_at = (place.kind, place.row, place.start)
        self._show(None, ())

    def _best(self, place: Place, suggestions: Sequence[Suggestion]) -> int | None:
        """The best one; but an argument or a file is not chosen before anything of it was typed, and what may be any
        text is never: enter then does what it does without a list."""
        if not suggestions or (place.kind == "argument" and self._command_is_free):
            return None
        return 0 if place.typed or place.kind == "command" else None

    # ------------------------------------------------------------------------------------------- what is completed

    def _word(self, place: Place) -> str:
        return self._composer.document.get_line(place.row)[place.start : place.end].strip()

    def _find(self) -> Place | None:
        composer = self._composer
        if not composer.selection.is_empty:
            return None
        row, column = composer.cursor_location
        line = composer.document.get_line(row)
        if composer.document.line_count == 1 and (match := commands.LINE.match(line)):
            end = match.end("name")
            if column <= end:
                return Place("command", 0, 0, end, line[1:column]) if column else None
            return Place("argument", 0, end + 1, len(line), line[end + 1 : column].strip())
        if found := _MENTION_HERE.search(line[:column]):
            end = column + len(line[column:].split(" ", 1)[0].split("\t", 1)[0])
            return Place("file", row, found.start(), end, found[1] or found[2] or "")
        return None

    def _suggestions(self, place: Place) -> Sequence[Suggestion]:
        match place.kind:
            case "command":
                return self._commands(place.typed)
            case "argument":
                command = self._command
                known = command is not None and command.available(self._screen)
                return self._arguments(command, place.typed) if command and known else ()
        return self._files(place.typed)

    @property
    def _command(self) -> Command | None:
        """The one that stands in the composer."""
        match = commands.LINE.match(self._composer.document.get_line(0))
        return commands.find(match["name"]) if match else None

    @property
    def _command_is_free(self) -> bool:
        command = self._command
        return command is not None and command.free

    def _commands(self, typed: str) -> Sequence[Suggestion]:
        offered = commands.offered(self._screen)
        known = {command.name: command for command in offered if typed or not command.advanced}
        return [
            Suggestion(f"/{name} " if known[name].words else f"/{name}", f"/{name}", known[name].help,
                       known[name].shown_key, known[name].words)
            for name in rank(typed, list(known))
        ]  # fmt: skip

    def _arguments(self, command: Command, typed: str) -> Sequence[Suggestion]:
        known = {one.value: one for one in command.complete(self._screen)}
        if typed in known:
            return [known[typed]]
        if command.free:  # letters in this order mean nothing in a text
            return [one for value, one in known.items() if value.casefold().startswith(typed.casefold())]
        return [known[value] for value in rank(typed, list(known), as_given=True)]

    def _files(self, typed: str) -> Sequence[Suggestion]:
        files = self._known_files()
        if self._ranked[0] != typed or self._ranked[1] is not files:
            paths = rank_paths(typed.removeprefix("./"), files)
            self._ranked = typed, files, [Suggestion(f"{mention_of(path)} ", path) for path in paths]
        return self._ranked[2]
