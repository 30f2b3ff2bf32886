"""What the chat in lines does with whole chats: list, find, open, name, delete, print, export."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from app.chats.listed import KEPT_DAYS
from app.clean import clean_line
from app.plain import lists
from app.plain.telling import Telling
from app.tui.commands import RefusedError
from app.tui.exporting import export_as

if TYPE_CHECKING:
    from app.chats.records import Conversation
    from app.plain.turns import Turns
    from app.tui.surface import Severity

SHOWN: Final = 4
"""Messages that ``/show`` prints without a number."""
OPENS: Final = "/open NUMBER goes on with one, /delete NUMBER takes one away."


class ChatActions(Telling):
    """The half of the chat in lines that is about chats as a whole. The other half is
    :class:`app.plain.chat.PlainChat`."""

    turns: Turns
    system_prompt: str
    _listed: Sequence[tuple[int, int | None]] = ()
    """The chats that were listed last, in the order of their numbers, and the message that was found."""

    def reply(self, text: str, severity: Severity = "information") -> None:
        """What a command has to say."""
        raise NotImplementedError

    def set_aside(self) -> None:
        """Another chat takes the place of the open one."""
        raise NotImplementedError

    def action_new_chat(self) -> None:
        self.set_aside()
        self.dialogue.begin_anew()
        self.reply("This is a new chat.")

    def action_chats(self) -> None:
        self._list([(chat, None) for chat in self.store.conversations(lists.LISTED)])

    def action_find(self, words: str = "") -> None:
        if not words:
            raise RefusedError("/find takes the words to look for: /find rivers")
        hits = self.store.search(words, lists.LISTED)
        if not hits:
            raise RefusedError(f"No chat says {clean_line(words, 40)}.")
        self._list([(hit.conversation, hit.message) for hit in hits])

    def _list(self, found: Sequence[tuple[Conversation, int | None]]) -> None:
        self._listed = [(chat.id, message) for chat, message in found]
        here, elsewhere = self.chat.conversation.id, self.store.all_open_elsewhere()
        self.lines.say("\n".join([*lists.chat_lines([chat for chat, _ in found], here, elsewhere), OPENS]))

    def action_open(self, number: str = "") -> None:
        conversation, message = self._numbered("open", number)
        self.set_aside()
        self.dialogue.turn_to(conversation, message)
        self.introduce()

    def _numbered(self, command: str, number: str) -> tuple[int, int | None]:
        """The chat of this number in the list that was printed last. Raises RefusedError."""
        if not self._listed:
            self.action_chats()
        at = int(number) - 1 if number.isascii() and number.isdigit() else -1
        if not 0 <= at < len(self._listed):
            raise RefusedError(f"/{command} takes a number of the list, 1 to {len(self._listed)}; /chats prints it.")
        return self._listed[at]

    def action_title(self, title: str = "") -> None:
        if not title:
            self.reply(f"The title is {clean_line(self.chat.title, 80)}; /title TEXT gives another one.")
            return
        self.store.rename(self.chat.conversation.id, title)
        self.chat.read_title()
        self.reply(f"The title is {clean_line(self.chat.title, 80)} now.")

    def action_show(self, number: str = "") -> None:
        if self.chat.empty:
            raise RefusedError("Nothing has been said in this chat yet.")
        wanted = len(self.chat) if number == "all" else int(number or SHOWN) if number.isdigit() or not number else 0
        if not wanted:
            raise RefusedError(f"/show takes how many messages, or all, not {clean_line(number, 40)}.")
        self.chat.read_again()
        for turn in self.chat.turns(len(self.chat) - wanted, len(self.chat)):
            self.turns.show(turn)

    def action_delete(self, number: str = "") -> None:
        if not self._listed:  # nobody has seen a number yet
            self.action_chats()
            raise RefusedError("Nothing was deleted: /delete takes a number of this list.")
        conversation, _ = self._numbered("delete", number)
        chat = self.store.conversation(conversation)
        title = clean_line(chat.title, 60) if chat is not None else "The chat"
        if conversation == self.chat.conversation.id:
            raise RefusedError(f"{title} is open here: /new or /open another one first.")
        if self.store.open_elsewhere(conversation):
            words = "is open in another Slipstream, which would bring it back. Close it there first."
            raise RefusedError(f"{title} {words}")
        self.store.delete(conversation)
        self.reply(f"Deleted {title}. /undo brings it back; in {KEPT_DAYS} days it is gone for good.")

    def action_undo(self) -> None:
        chat = self.store.last_deleted()
        if chat is None:
            raise RefusedError("No chat was deleted.")
        self.store.restore(chat.id)
        self.reply(f"{clean_line(chat.title, 60)} is back, as it was.")

    async def action_export(self, wanted: str = "") -> None:
        self.reply(await export_as(wanted, self.store, self.chat, self.system_prompt))
