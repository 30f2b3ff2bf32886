"""Keeper: every change goes to memory first and then to the file, so a chat goes on whatever the disk does.

The copy in memory holds the few conversations that were opened or changed last. It serves twice: it is the store
while the file cannot be written, and it is what a file that was removed or damaged under us is mended from.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from app.chats import copying, tree
from app.chats.disk import PATIENCE, Disk, Tell, identity, open_disk, open_memory, open_to_read, transaction
from app.chats.records import NewerStoreError, Notice, StoreError
from app.chats.troubles import is_busy, is_damage, not_saved
from app.chats.writers import is_gone
from app.paths import FolderError

T = TypeVar("T")

HELD: Final = 4
"""Conversations kept in memory beside those that are not saved yet."""

_FAILURES: Final = (sqlite3.Error, OSError, FolderError, NewerStoreError)


class Keeper:
    """The file, the copy in memory, and what is in the second but not yet in the first. Not thread-safe."""

    def __init__(self, file: Path | None, tell: Tell) -> None:
        self.file = file
        self.trouble: str | None = None
        self.token = "memory"
        self._tell = tell
        self._memory = open_memory()
        self._disk: Disk | None = None
        self._attached = 0
        self._held: list[int] = []
        self._held_at: dict[int, object] = {}
        """What :meth:`_version` was when a conversation was copied to memory."""
        self._unsaved: dict[int, set[int]] = {}
        """Conversation -> those of its messages that the file has not got as they are now."""
        self._removed: set[int] = set()
        """Messages that were taken back while the file could not be written."""
        self._to_tell: Notice | None = None
        """What happened to the file; told once there is one again."""
        if file is not None:
            try:
                self._attach(open_disk(file, tell))
            except _FAILURES as error:
                self._fail(error)
                if not isinstance(error, NewerStoreError):
                    self._disk = open_to_read(file)

    @property
    def unsaved(self) -> tuple[int, ...]:
        """Conversations that are newer in memory than in the file."""
        return tuple(self._unsaved)

    def unsaved_messages(self) -> dict[int, int]:
        """Conversation -> how many of its messages the file has not got."""
        return {chat: len(messages) for chat, messages in self._unsaved.items()}

    def is_gone(self, token: str) -> bool:
        """Whether the instance that calls itself ``token`` (never our own) has ended."""
        return self.file is None or is_gone(self.file, token)

    def close(self) -> None:
        if self._unsaved:
            self.save()
        if self._disk is not None:
            self._disk.close()
            self._disk = None

    # ------------------------------------------------------------------------------------------------- reading

    def read(self, ask: Callable[[sqlite3.Connection], T], conversation_id: int | None = None) -> T:
        """The answer of the file, or of memory where that is newer or all there is."""
        if self._disk is not None and conversation_id not in self._unsaved:
            try:
                return ask(self._disk.connection)
            except sqlite3.Error as error:
                self._recover_from(error)
                if self._disk is not None and self.trouble is None:  # mended: what it has now is the answer
                    with contextlib.suppress(sqlite3.Error):
                        return ask(self._disk.connection)
        return ask(self._memory)

    def in_memory(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        """The answer of the copy in memory."""
        return ask(self._memory)

    def hold(self, conversation_id: int, *, fresh: bool = False) -> None:
        """Have the conversation in memory, ``fresh`` from the file (another instance may have added to it)."""
        known = conversation_id in self._held
        version = self._version()  # asked before copying: a change in between is seen the next time
        stale = fresh and conversation_id not in self._unsaved and self._held_at.get(conversation_id) != version
        if not known or stale:
            found = self.read(lambda db: self._copied(db, conversation_id), conversation_id)
            self._held_at[conversation_id] = version
            if not found and not known:
                raise StoreError("This chat is not in the store any more.")
        if known:
            self._held.remove(conversation_id)
        self._held.append(conversation_id)
        for old in self._held[:-HELD]:
            if self.file is not None and old not in self._unsaved:
                self._held.remove(old)
                with transaction(self._memory):
                    copying.forget(self._memory, old)

    def hold_fresh(self, conversation_id: int) -> None:
        """:meth:`hold`, and answers of instances that are gone are called interrupted, in the file if it can be
        written, in memory in any case."""
        if self._disk is not None:
            with contextlib.suppress(sqlite3.Error):
                self._disk.interrupt_left_behind()
        self.hold(conversation_id, fresh=True)
        for token in tree.writers(self._memory):
            if self.file is not None and token != self.token and is_gone(self.file, token):
                tree.interrupt(self._memory, token)

    def _version(self) -> object:
        """Changes when another instance has written into the file, or when it is another file."""
        if self._disk is None:
            return None
        with contextlib.suppress(sqlite3.Error):
            return self._attached, self._disk.connection.execute("PRAGMA data_version").fetchone()[0]
        return None

    def _copied(self, db: sqlite3.Connection, conversation_id: int) -> bool:
        if db is self._memory:
            return False
        with transaction(self._memory):
            return copying.take(db, self._memory, conversation_id)

    # ------------------------------------------------------------------------------------------------- writing

    def write(
        self,
        change: Callable[[sqlite3.Connection], None],
        conversation_id: int,
        message_id: int | None = None,
        *,
        durable: bool = True,
        new: bool = False,
    ) -> None:
        """Make a change to a conversation (``new``: that creates it), in memory and in the file. Does not raise when
        the file fails: the user is told, and every later write tries again."""
        if new:
            self._held.append(conversation_id)
        else:
            self.hold(conversation_id)
        with transaction(self._memory):
            change(self._memory)
        if self.file is None:
            return
        disk = self._disk
        if disk is not None and not self._unsaved and not disk.read_only and disk.is_in_place():
            try:
                with disk.transaction(durable=durable) as db:
                    change(db)
                return
            except sqlite3.Error as error:
                self._note(conversation_id, message_id)
                if is_busy(error):  # we have waited long enough
                    self._fail(error)
                    return
                self._recover_from(error)
        self._note(conversation_id, message_id)
        self.save()

    def remove(self, change: Callable[[sqlite3.Connection], None], conversation_id: int, message_id: int) -> None:
        """:meth:`write` for a change that deletes a message."""
        self._removed.add(message_id)
        self.write(change, conversation_id)
        if not self._unsaved:
            self._removed.clear()

    def tidy(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Work on the file that changes no chat, and that can wait: None, and nothing is done, while the file cannot
        be written or is not up to date. Raises sqlite3.Error; the chats are not touched by that."""
        disk = self._disk
        if disk is None or disk.read_only or self._unsaved or not disk.is_in_place():
            return None
        disk.be_patient(False)
        try:
            with disk.transaction(durable=False) as db:
                return work(db)
        finally:
            with contextlib.suppress(sqlite3.Error):
                disk.be_patient(True)

    def _note(self, conversation_id: int, message_id: int | None = None) -> None:
        changed = self._unsaved.setdefault(conversation_id, set())
        if message_id is not None:
            changed.add(message_id)

    # ------------------------------------------------------------------------------------------------- mending

    def save(self, *, mend: bool = True) -> None:
        """Bring everything that is only in memory into the file, which is opened anew where that is needed."""
        try:
            self._reopen()
            assert self._disk is not None
            with self._disk.transaction() as db:
                for conversation_id, changed in self._unsaved.items():
                    copying.merge(self._memory, db, conversation_id, changed)
                for message_id in self._removed:
                    tree.delete_childless(db, message_id)
                for key, value in tree.everything_remembered(self._memory):
                    tree.remember(db, key, value)
        except _FAILURES as error:
            if mend and isinstance(error, sqlite3.Error) and is_damage(error):
                self._recover_from(error)
            else:
                self._fail(error)
            return
        self._unsaved.clear()
        self._removed.clear()
        self._disk.be_patient(True)
        if self._to_tell is not None:
            self._tell(self._to_tell)
            self._to_tell = None
        if self.trouble is not None:
            self.trouble = None
            self._tell(Notice(f"saved: everything said meanwhile is in {self.file} now.", "information"))

    def _reopen(self) -> None:
        """Have a file that can be written to and that is where its name says."""
        assert self.file is not None
        disk = self._disk
        if disk is not None and not disk.read_only:
            if disk.is_in_place():
                return
            self._let_go(disk)
        fresh = open_disk(self.file, self._tell, patience=0.1 if self.trouble else PATIENCE)
        if self._disk is not None:
            self._disk.close()
        self._attach(fresh)

    def _let_go(self, disk: Disk) -> None:
        """The store's files are not ours any more: take along what only the old ones have, then close them."""
        assert self.file is not None
        for conversation_id in self._held:
            self._note(conversation_id)
            with contextlib.suppress(sqlite3.Error):
                # Still readable on Linux and macOS: a removed file lives as long as it is open.
                old = copying.rows(disk.connection, "figures", conversation_id)
                copying.insert(self._memory, "figures", old, overwrite=False)
        was, now = disk.identity[0], identity(self.file)[0]
        disk.close()
        self._disk = None
        if was == now:  # only SQLite's side files were removed: closing has brought their content into the store.
            return  # Or it was cut short: opening it has its own words for that.
        what = "removed" if now is None else "replaced by another one"
        self._to_tell = Notice(
            f"The chat store {self.file} was {what} while it was open. What is open here was written to the "
            f"{'new' if now is None else 'present'} one; other chats were in the old one."
        )

    def _recover_from(self, error: sqlite3.Error) -> None:
        """After damage: move the file aside and begin a new one with what can be read and what is in memory."""
        if self._disk is None or self.file is None or not is_damage(error):
            return
        damaged = self._disk.identity
        self._disk.close()
        self._disk = None
        for conversation_id in self._held:
            self._note(conversation_id)
        try:
            self._attach(open_disk(self.file, self._tell, damaged=damaged))
        except _FAILURES as failure:
            self._fail(failure)
        else:
            self.save(mend=False)

    def _attach(self, disk: Disk) -> None:
        self._disk = disk
        self._attached += 1
        if disk.writer is not None:
            # Answers that are being received now go on under the new lock's name.
            before, self.token = self.token, disk.writer.token
            self._memory.execute("UPDATE messages SET writer = ? WHERE writer = ?", (self.token, before))

    def _fail(self, error: Exception) -> None:
        assert self.file is not None
        told = isinstance(error, StoreError | FolderError)
        words = str(error) if told else not_saved(error, self.file)
        if isinstance(error, FolderError):
            words = f"not saved: {words}"
        if self._disk is not None and not self._disk.read_only:
            with contextlib.suppress(sqlite3.Error):
                self._disk.be_patient(False)
        if words != self.trouble:
            self.trouble = words
            self._tell(Notice(words, "error"))
