"""ChatStore: where conversations live.

    store = open_chats(paths.chats_file(), tell=lambda notice: app.notify(notice.text, severity=notice.severity))
    chat = store.last_conversation() or store.create_conversation()
    shown = store.path(chat.id)
    question = store.append_user(chat.id, text, parent=shown[-1].id if shown else None)
    answer = store.start_answer(chat.id, parent=question.id)
    store.checkpoint(answer.id, text_so_far, figures_so_far)  # at least every second
    store.finish_answer(answer.id, finished_event)    # or store.fail_answer(answer.id, words, text=text_so_far)

**A write never raises because of the disk.** It happens in memory first, so the chat always goes on; when it cannot
reach the disk, ``tell`` hears "not saved: ..." once, :attr:`ChatStore.trouble` keeps the sentence for the status
line, and every later write tries to save everything that is missing. Only a call that makes no sense (no such
message) raises :class:`StoreError`.

Thread-safe: one lock around every call. A call takes milliseconds; in the rare case that another process holds the
file, up to :data:`~app.chats.disk.PATIENCE` seconds.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.chats import attachments, said, tree
from app.chats.branches import Branches
from app.chats.disk import Tell
from app.chats.keeper import Keeper
from app.chats.listed import OPEN_BY
from app.chats.records import Attachment, Conversation, Figures, Message, StoreError, Unsent
from app.chats.seal import sealed
from app.chats.troubles import why
from app.chats.unsent import UnsentTexts
from app.chats.words import storable, title_from

if TYPE_CHECKING:  # only a name here; importing it would cost the start more than opening the store does
    from engine.protocol import Finished

_LAST_OPEN: Final = "last_conversation"


def open_chats(file: Path | None, tell: Tell) -> ChatStore:
    """Open the store ``file`` (created when missing). Never raises: a store that cannot be used (folder not
    writable, written by a newer version) gives one in memory, a damaged one is moved aside and what can be read is
    taken over; ``tell`` hears about each (in the thread of the call that found out, so it must be quick and must not
    call the store). ``file=None``: nothing is ever written to disk.

    Answers that a process which is gone was still writing become ``interrupted``. Chats that were deleted long ago
    are gone for good from now on."""
    store = ChatStore(Keeper(file, tell))
    store.purge_deleted()
    return store


class ChatStore(Branches):
    """Conversations as trees of messages. Made by :func:`open_chats`. What concerns whole chats (the list, search,
    names, deleting) is in :class:`app.chats.listed.ListedChats`; reading messages and switching branches is in
    :class:`app.chats.branches.Branches`."""

    def __init__(self, keeper: Keeper) -> None:
        super().__init__(keeper, threading.RLock())
        self._checkpoints: dict[int, tuple[str, Figures | None]] = {}
        self._unsent = UnsentTexts(keeper)

    @property
    def file(self) -> Path | None:
        """Where the chats are kept; None: nowhere, by wish."""
        return self._keeper.file

    @property
    def trouble(self) -> str | None:
        """None while everything is on disk, else the sentence "not saved: ..." for the status line."""
        return self._keeper.trouble

    def lost(self) -> str | None:
        """After :meth:`close`: one sentence about what could not be saved; None when everything was."""
        with self._lock:
            unsaved = {chat: number for chat, number in self._keeper.unsaved_messages().items() if number}
            if not unsaved or self.trouble is None:
                return None
            number = sum(unsaved.values())
            what = f"{number} message{'s' if number > 1 else ''}"
            if len(unsaved) == 1:
                chat = self._keeper.in_memory(lambda db: tree.conversation(db, next(iter(unsaved))))
                what += f' of the chat "{chat.title}"' if chat else ""
            else:
                what += f" in {len(unsaved)} chats"
            return f"Not saved: {what}. {why(self.trouble)}"

    def unsaved_chats(self) -> tuple[Conversation, ...]:
        """Those with messages that could not be saved."""
        with self._lock:
            numbers = [chat for chat, count in self._keeper.unsaved_messages().items() if count]
            found = (self._keeper.in_memory(partial(tree.conversation, conversation_id=chat)) for chat in numbers)
            return tuple(chat for chat in found if chat is not None)

    def save_again(self) -> bool:
        """Try once more to save what is missing; whether nothing is missing now. Quick, also when the disk fails."""
        with self._lock:
            if self._keeper.unsaved:
                self._keeper.save()
            return not self._keeper.unsaved

    def close(self) -> None:
        """Try once more to save what is missing, and let go of the file. Safe to call twice."""
        with self._lock:
            self._keeper.close()

    # ------------------------------------------------------------------------------------------- conversations

    def create_conversation(self, settings: Mapping[str, object] | None = None) -> Conversation:
        """A new, untitled chat. It is listed once something was said in it, and titled by its first message."""
        number, now, words = tree.new_id(), time.time(), json.dumps(dict(settings or {}))

        def create(db: sqlite3.Connection) -> None:
            tree.insert_conversation(db, number, now, words)
            self._remember_open(db, number)

        with self._lock:
            self._keeper.write(create, number, new=True)
            return self._known(number)

    def last_conversation(self) -> Conversation | None:
        """The chat to open at start: the one last marked open, else the newest; None in an empty store."""
        with self._lock:
            number = self._keeper.read(lambda db: tree.remembered(db, _LAST_OPEN))
            found = self.conversation(number) if isinstance(number, int) else None
            return found or self.newest()

    def mark_open(self, conversation_id: int) -> None:
        """Remember which chat is on screen (``create_conversation`` and ``append_user`` do it by themselves)."""
        with self._lock:
            self._keeper.write(lambda db: self._remember_open(db, conversation_id), conversation_id, durable=False)

    def save_settings(self, conversation_id: int, settings: Mapping[str, object]) -> Conversation:
        """Replace what this chat does otherwise than settings.toml."""
        return self._set(conversation_id, "settings", json.dumps(dict(settings)))

    # ------------------------------------------------------------------------------------------------ messages

    def append_user(
        self, conversation_id: int, content: str, *, parent: int | None, attached: Sequence[Attachment] = ()
    ) -> Message:
        """Keep what the user says, committed when this returns, and make it the leaf. ``parent`` is the message it
        answers (the last one on screen), None for the first; edit-and-resend passes the parent of the edited one.
        The first message gives an untitled chat its title. What :meth:`keep_unsent` had of it is forgotten."""
        now, content = time.time(), storable(content)
        new = Message(tree.new_id(), conversation_id, parent, "user", content, "complete", None, now, now)
        files = attachments.numbered(attached, [tree.new_id() for _ in attached])
        title = title_from(content)

        def append(db: sqlite3.Connection) -> None:
            tree.insert_message(db, new, None, title)
            attachments.insert(db, new.id, files)
            self._unsent.forget(db, conversation_id)
            self._remember_open(db, conversation_id)

        with self._lock:
            self._require_parent(new)
            self._keeper.write(append, conversation_id, new.id)
            self._unsent.was_sent(conversation_id)
        return new

    def attachments(self, conversation_id: int) -> dict[int, tuple[Attachment, ...]]:
        """What is attached to the messages of a chat, in all its branches."""
        with self._lock:
            return self._keeper.read(lambda db: attachments.of_chat(db, conversation_id), conversation_id)

    def said(self, conversation_id: int, limit: int = 500) -> tuple[int, ...]:
        """Ids of what the user said: in this chat, newest first, then in the others, ``limit`` of each at most."""
        with self._lock:
            here = self._keeper.read(lambda db: said.here(db, conversation_id, limit), conversation_id)
            others = set(self._keeper.read(lambda db: said.elsewhere(db, conversation_id, limit)))
            others.update(self._keeper.in_memory(lambda db: said.elsewhere(db, conversation_id, limit)))
            return (*here, *sorted(others, reverse=True)[:limit])

    def remove_user(self, message_id: int) -> str:
        """Take back a user message that was refused before sending; returns its text for the composer. The leaf goes
        back to its parent. StoreError when it was answered already."""
        with self._lock:
            said = self._message(message_id)
            if said.role != "user":
                raise StoreError("Only a message of the user can be taken back.")
            if self.children(message_id):
                raise StoreError("This message was answered already; it stays in the chat.")
            title = title_from(said.content)
            self._keeper.remove(lambda db: tree.remove_message(db, said, title), said.conversation, said.id)
            return said.content

    def start_answer(self, conversation_id: int, *, parent: int, text: str = "") -> Message:
        """An answer in state ``writing`` below the user message ``parent``; it becomes the leaf. Regenerate: call it
        again with the same parent. Continue: likewise, with the ``text`` that the answer before had."""
        number, now, text = tree.new_id(), time.time(), storable(text)
        answer = Message(number, conversation_id, parent, "assistant", text, "writing", None, now, None)
        with self._lock:
            self._require_parent(answer)
            token = self._keeper.token
            self._keeper.write(lambda db: tree.insert_message(db, answer, token), conversation_id, answer.id)
        return answer

    def checkpoint(self, message_id: int, text: str, figures: Figures | None = None) -> None:
        """The answer's whole text so far, and what is known of its figures and receipt. Call it at least every second
        while text arrives; cheap when unchanged."""
        with self._lock:
            if self._checkpoints.get(message_id) == (text, figures):
                return
            conversation_id, words, token = self._message(message_id).conversation, storable(text), self._keeper.token

            def keep(db: sqlite3.Connection) -> None:
                if tree.write_text(db, message_id, words, token) and figures is not None:
                    tree.write_figures(db, figures)

            self._keeper.write(keep, conversation_id, message_id, durable=False)
            self._checkpoints[message_id] = (text, figures)

    def finish_answer(self, message_id: int, finished: Finished) -> Message:
        """The answer ended (state ``complete``, or ``cancelled`` when the user stopped it); keeps text, figures,
        receipt, token ids and their sources."""
        stats = finished.stats.model_dump_json()
        figures = Figures(message_id, finished.finish_reason, finished.token_ids, finished.sources, stats, None)
        if (proof := finished.receipt) is not None:
            figures = replace(figures, receipt_json=sealed(proof, figures, finished.text).model_dump_json())
        with self._lock:
            ended = replace(
                self._message(message_id),
                content=storable(finished.text),
                state="cancelled" if finished.finish_reason == "cancelled" else "complete",
                error=None,
                finished=time.time(),
            )
            self._end(ended, figures)
        return ended

    def fail_answer(
        self, message_id: int, error: str, *, text: str | None = None, figures: Figures | None = None
    ) -> Message:
        """The answer ended in an error; ``error`` is the sentence shown. ``text``: all that arrived (None: what the
        last checkpoint had); ``figures``: what is known of it (None: likewise)."""
        with self._lock:
            before = self._message(message_id)
            content = before.content if text is None else storable(text)
            ended = replace(before, content=content, state="failed", error=storable(error), finished=time.time())
            self._end(ended, figures)
        return ended

    # ----------------------------------------------------------------------------------------------- unsent text

    def keep_unsent(self, conversation_id: int, text: Unsent) -> None:
        """Remember what stands in the composer, for this chat and this instance. Call it about every second while
        something is typed; cheap when unchanged, and a paste is written once."""
        with self._lock:
            self._unsent.keep(conversation_id, text)

    def unsent(self, conversation_id: int) -> Unsent:
        """What was typed in this chat and not sent: by us, or else by an instance that is gone (the newest one; it is
        ours from now on). What another live instance has typed stays there."""
        with self._lock:
            return self._unsent.of(conversation_id)

    # ------------------------------------------------------------------------------------------------- helpers

    def _remember_open(self, db: sqlite3.Connection, conversation_id: int) -> None:
        tree.remember(db, _LAST_OPEN, conversation_id)
        for key, _ in tree.remembered_under(db, OPEN_BY):
            token = key.removeprefix(OPEN_BY)
            if token != self._keeper.token and self._keeper.is_gone(token):
                tree.forget(db, key)
        tree.remember(db, f"{OPEN_BY}{self._keeper.token}", conversation_id)

    def _require_parent(self, said: Message) -> None:
        if said.parent is not None and self._message(said.parent).conversation != said.conversation:
            raise StoreError("A message cannot answer one of another chat.")

    def _end(self, ended: Message, figures: Figures | None) -> None:
        def end(db: sqlite3.Connection) -> None:
            tree.end_message(db, ended)
            if figures is not None:
                tree.write_figures(db, figures)

        self._keeper.write(end, ended.conversation, ended.id)
        self._checkpoints.pop(ended.id, None)
