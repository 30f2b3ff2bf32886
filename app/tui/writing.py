"""Everything around the text that is being written: completion, attached files, earlier messages, safe-keeping."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.attached import NOT_SENT, AttachmentError, about_tokens, not_attached, since
from app.chats.records import Attachment, StoreError, Unsent
from app.tui import commands
from app.tui.background import aside
from app.tui.drafts import Drafts
from app.tui.keymap import with_keys
from app.tui.recall import Recall
from app.tui.widgets.attached_row import AttachedRow
from app.tui.widgets.header import Header

if TYPE_CHECKING:
    from app.tui.attaching import Attaching
    from app.tui.commands import Command, Typed
    from app.tui.completing import Completing
    from app.tui.screens.chat import ChatScreen
    from app.tui.screens.opening import OpeningScreen
    from app.tui.working_folder import FoldedPath, WorkingFolder

STAYS = "What you had typed stays with the other chat."
ONCE_MORE = " with {composer.send} once more"
NOT_YET = "Nothing was sent yet."


class Writing:
    """The chat screen's hands at the composer. What is seldom needed is made when it is."""

    def __init__(self, screen: ChatScreen) -> None:
        self._screen = screen
        self._composer = screen.composer
        self._recall = Recall(self._composer, self._said)
        self._composer.recall = lambda older: self._recall.older() if older else self._recall.newer()
        self._composer.guide = self._guide
        self._drafts = Drafts(screen.store, self._unsent, screen.set_timer)
        self._completing_: Completing | None = None
        self._attaching_: Attaching | None = None
        self._folder: WorkingFolder | None = None
        self.outgoing = ""
        """A message that was taken out of the composer and is not in the store yet."""
        self._told = ""
        """The message of which it was said that a file it names is not there."""
        self._set_aside: Unsent | None = None
        """What stood in the composer before a command was put there from the palette."""

    # ---------------------------------------------------------------------------------------------- what happens

    def changed(self) -> None:
        """The text has changed."""
        if self._composer.blank:
            self._bring_back()
        self._drafts.changed()
        self.look()

    def look(self) -> None:
        """The text or the cursor has changed: what can be suggested, and what is attached?"""
        if self._completing_ is not None or self._may_suggest():
            self._completing.look()
        self.show_attached()

    def choose(self, index: int) -> None:
        """A row of the list was clicked."""
        self._completing.choose(index, send=True)
        self._composer.focus()

    def begin(self, text: str) -> None:
        """Put the beginning of a command into the composer; what stood there comes back behind it."""
        if self._set_aside is None and (here := self._recall.unsent).parts:
            self._set_aside = here
        self._recall.end()
        if self._completing_ is not None:
            self._completing_.reopen()
        self._composer.text = text
        self._composer.move_cursor(self._composer.document.end)
        self._composer.focus()

    def keep(self) -> None:
        """Write the unsent text to the store now."""
        self._drafts.keep()

    def take_unsent(self) -> Unsent:
        """What was written and not sent, taken out of the composer; also while a command or an earlier message stands
        there."""
        unsent = self._set_aside or self._recall.unsent
        self.put_unsent(Unsent())
        return unsent

    def put_unsent(self, unsent: Unsent) -> None:
        """Put what :meth:`take_unsent` gave in the place of what stands in the composer."""
        self._set_aside = None
        self._recall.end()
        self._composer.restore(unsent)

    def follow(self, chat: int) -> None:
        """This chat is on screen now. The text stays with the one before; this one's own comes back."""
        first = self._drafts.chat is None
        before = self._unsent()
        text = self._drafts.follow(chat)
        if text is None:
            return
        if before.parts and not first:
            self._screen.say(STAYS)
        if first and not self._composer.blank:  # somebody types fast
            text = text.above(self._composer.unsent())
        self.put_unsent(text)
        if "@" in text.text:
            self._screen.run_worker(self._look_at_files(), group="files", exit_on_error=False)

    # -------------------------------------------------------------------------------------------------- commands

    async def run(self, typed: Typed) -> None:
        """Do what the composer says. A command that is refused stays there."""
        text = self._take()
        command = commands.find(typed.name)
        if command is not None and command.slow:
            self._screen.run_worker(self._run(typed, text), group="command", exit_on_error=False)
        else:
            await self._run(typed, text)

    async def _run(self, typed: Typed, text: str) -> None:
        try:
            await commands.run(self._screen, typed)
        except (commands.RefusedError, StoreError) as error:
            self._composer.give_back(text)
            self._screen.reply(str(error), "warning")
        if self._composer.blank:
            self._bring_back()

    async def choose_command(self, command: Command) -> None:
        """A command was chosen in the palette."""
        if command.asks:
            self.begin(f"/{command.name} ")
            return
        try:
            await commands.run(self._screen, commands.Typed(command.name, ""))
        except commands.RefusedError as error:
            self._screen.reply(str(error), "warning")

    def _bring_back(self) -> None:
        text, self._set_aside = self._set_aside, None
        if text is not None:
            self._composer.restore(text)

    # ------------------------------------------------------------------------------------------------- the message

    async def take_message(self) -> tuple[str, tuple[Attachment, ...]] | None:
        """The message in the composer and its files, taken out of it; None: it stays, and the reason was said."""
        visible = self._composer.typed
        text = self._take()  # at once: what is typed from now on belongs to the next message
        attached: tuple[Attachment, ...] = ()
        if "@" in visible:
            self.outgoing = text
            try:
                attached = await self._attaching.settle(visible)
                left = await self._not_attached(text, visible, attached)
            except AttachmentError as error:
                left = f"{error} {NOT_SENT}"
            finally:
                self.outgoing = ""
            if left:
                self._composer.give_back(text)
                self._screen.reply(left, "warning")
                return None
            self._attaching.forget()
        return commands.message_of(text), attached

    async def _not_attached(self, text: str, visible: str, attached: Sequence[Attachment]) -> str:
        """What the message names and cannot take along, said once: who sends it again means a name."""
        before, self._told = self._told, ""
        dialogue = self._screen.dialogue
        edited = dialogue.editing.turn
        along = (*attached, *dialogue.files_back, *(edited.attached if edited is not None else ()))
        left = await aside(not_attached, Path.cwd(), visible, along, with_keys(ONCE_MORE))
        if left:
            self._told = text
        return f"{left} {NOT_YET}" if left and text != before else ""

    def _take(self) -> str:
        """The text, taken out of the composer. What was written before an earlier message was put in its place is there
        again."""
        text, before = self._composer.take(), self._recall.end()
        if before.parts:
            self._composer.restore(before)
        return text

    def show_attached(self) -> None:
        """The files that the text mentions, and what text and files add to the context."""
        text, attached = self._composer.typed, self._screen.query_one(AttachedRow)
        if self._attaching_ is not None or "@" in text:
            attached.show(self._attaching.look(text))
        of_files = sum(chip.tokens for chip in attached.chips)
        self._screen.query_one(Header).written = about_tokens(self._composer.bytes_written) + of_files

    async def _look_at_files(self) -> None:
        """A text that came back may mention files."""
        try:
            await self._attaching.settle(self._composer.typed)
        except AttachmentError as error:
            self._screen.reply(str(error), "warning")
        self.show_attached()

    # ---------------------------------------------------------------------------------------------------- parts

    def _guide(self, key: str) -> bool:
        """The list of completions is made with the first letter that may need one."""
        return self._completing.takes(key) if self._completing_ is not None or self._may_suggest() else False

    def _may_suggest(self) -> bool:
        row, column = self._composer.cursor_location
        line = self._composer.document.get_line(row)
        return line.startswith("/") or "@" in line[:column]

    @property
    def _completing(self) -> Completing:
        if self._completing_ is None:
            from app.tui.completing import Completing
            from app.tui.widgets.completions import Completions

            popup = self._screen.query_one(Completions)
            self._completing_ = Completing(self._screen, self._composer, popup, self._files)
        return self._completing_

    @property
    def _attaching(self) -> Attaching:
        if self._attaching_ is None:
            from app.tui.attaching import Attaching

            screen = self._screen
            self._attaching_ = Attaching(
                Path.cwd,
                known=lambda path: self._folder is not None and self._folder.has(path),
                changed=lambda: screen.call_next(self.show_attached),
                refused=lambda words: screen.call_next(screen.reply, words, "warning"),
                count=screen.count_tokens,
            )
        return self._attaching_

    def _files(self) -> Sequence[FoldedPath]:
        if self._folder is None:
            from app.tui.working_folder import WorkingFolder

            self._folder = WorkingFolder(Path.cwd())
        if self._folder.due:
            look = self._folder.look(lambda: self._screen.call_next(self.look))
            self._screen.run_worker(look, group="folder", exit_on_error=False)
        return self._folder.files

    def _said(self) -> Iterator[str]:
        store = self._screen.store
        for number in store.said(self._screen.chat.conversation.id):
            message = store.message(number)
            if message is not None:
                yield commands.typed_as(message.content)

    def _unsent(self) -> Unsent:
        """What would be lost: what waits to be sent, and what stands in the composer, or did before an edit began."""
        dialogue = self._screen.dialogue
        edited = dialogue.editing.turn is not None
        here = dialogue.editing.waiting if edited else self._set_aside or self._recall.unsent
        waiting = self.outgoing or dialogue.outgoing
        return Unsent((waiting,)).above(here) if waiting else here


async def note_changed_files(screen: OpeningScreen) -> None:
    """Mark the files of the chat on screen that have changed since they were attached."""
    chat = screen.chat
    attached = chat.attached
    if not attached:
        return
    found = await aside(lambda: {one.id: since(one) for one in attached})
    if screen.chat is chat:
        chat.note_since(found)
        screen.transcript.show_attached()
