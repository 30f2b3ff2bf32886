"""The store's file: opened safely, written in transactions, and watched for being taken away."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

from app import paths
from app.chats import salvage, schema, search, tree
from app.chats.records import Notice
from app.chats.troubles import is_busy, is_damage
from app.chats.writers import Writer, opening

PATIENCE: Final = 5.0
"""Seconds to wait for another process that holds the file."""

Tell = Callable[[Notice], None]
Identity = tuple[tuple[int, int] | None, ...]
T = TypeVar("T")


class Disk:
    """An open store file, and this instance's lock beside it. Made by :func:`open_disk`."""

    def __init__(self, file: Path, connection: sqlite3.Connection, writer: Writer | None) -> None:
        self.file = file
        self.connection = connection
        self.writer = writer
        self.identity = identity(file)
        self._size = _size(file)

    @property
    def read_only(self) -> bool:
        """The file can be read but not written (its folder is read-only)."""
        return self.writer is None

    def is_in_place(self) -> bool:
        """Whether the files that we write to are still those that have the store's names. SQLite would go on writing
        into removed files without a word."""
        before, self._size = self._size, max(self._size, _size(self.file))
        return identity(self.file) == self.identity and _size(self.file) >= before  # it never shrinks by itself

    @contextlib.contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """All or nothing. ``durable``: wait until the disk has it, so that even a power cut loses nothing; without
        it the commit survives the death of the process, not of the machine."""
        self.connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        with transaction(self.connection):
            yield self.connection

    def interrupt_left_behind(self) -> None:
        """Answers that an instance which is gone was receiving get the state ``interrupted``."""
        if self.writer is None:
            return
        gone = [token for token in tree.writers(self.connection) if self.writer.is_gone(token)]
        if gone:
            with self.transaction():
                for token in gone:
                    tree.interrupt(self.connection, token)

    def be_patient(self, patient: bool) -> None:
        """Wait for other processes as long as :data:`PATIENCE`, or hardly at all (while saving fails anyway)."""
        self.connection.execute(f"PRAGMA busy_timeout = {int(PATIENCE * 1000) if patient else 100}")

    def close(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self.connection.close()
        if self.writer is not None:
            self.writer.close()


def open_disk(file: Path, tell: Tell, *, damaged: Identity | None = None, patience: float = PATIENCE) -> Disk:
    """Open the store, or make it. A damaged one is moved aside, what can be read of it is taken over, and ``tell``
    hears about it. ``damaged``: what :func:`identity` said of a file that failed while it was used.

    Raises sqlite3.Error, OSError, FolderError or NewerStoreError."""
    paths.ensure(file.parent)
    with contextlib.ExitStack() as on_failure:
        with opening(file, patience):
            writer = Writer(file)
            on_failure.callback(writer.close)
            writer.sweep()
            is_damaged = (damaged is not None and identity(file)[0] == damaged[0]) or not _is_usable(file)
            aside = salvage.move_aside(file) if is_damaged else None
            connection = _patiently(lambda: _connect(file, patience), patience)
            on_failure.callback(lambda: connection.close())
            if aside is None and writer.is_alone() and not _is_whole(connection, file):
                connection.close()
                aside = salvage.move_aside(file)
                connection = _connect(file, patience)
            if aside is not None:
                tell(salvage.take_over(aside, connection))
            disk = Disk(file, connection, writer)
            with contextlib.suppress(sqlite3.OperationalError):  # a full disk: who shows an answer asks again
                disk.interrupt_left_behind()
        on_failure.pop_all()
        return disk


def open_to_read(file: Path) -> Disk | None:
    """The chats of a store that cannot be written to; None when they cannot be read either."""
    # "immutable" where not even SQLite's own side files can be made; it reads what was moved into the main file.
    for option in ("mode=ro", "mode=ro&immutable=1"):
        try:
            connection = _connect_to_read(file, option)
        except sqlite3.Error:
            continue
        try:
            schema.refuse_newer(connection, file)
            version = schema.version_of(connection)
            if version == schema.LATEST:
                return Disk(file, connection, None)
            if version >= schema.READABLE:
                return Disk(file, _brought_up_to_date(connection), None)
        except sqlite3.Error:
            pass
        connection.close()
    return None


def _brought_up_to_date(old: sqlite3.Connection) -> sqlite3.Connection:
    """A copy in memory of a store that an earlier version wrote and that cannot be migrated where it is."""
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    with contextlib.closing(old):
        old.backup(copy)
    schema.migrate(copy)
    return copy


def open_memory() -> sqlite3.Connection:
    """A store that ends with the process. Without foreign keys: it may hold a part of what the file has."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    schema.migrate(connection)
    search.leave_out(connection)  # it holds few chats, and those by turns
    return connection


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """IMMEDIATE: a transaction that reads first and then wants to write could not wait for another writer."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # SQLite has rolled back by itself after some errors
            connection.execute("ROLLBACK")
        raise


def identity(file: Path) -> Identity:
    """Which files the store and its two side files are, whatever they are called by now."""
    found: list[tuple[int, int] | None] = []
    for name in (file.name, file.name + "-wal", file.name + "-shm"):
        try:
            status = os.stat(file.with_name(name))
        except OSError:
            found.append(None)
        else:
            found.append((status.st_dev, status.st_ino))
    return tuple(found)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _connect(file: Path, patience: float) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=patience, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA foreign_keys = ON")
        schema.migrate(connection)
        # The side files exist from the first transaction on; the identity of an open store includes them.
        tree.conversations(connection, 1, 0)
    except BaseException:
        connection.close()
        raise
    return connection


def _connect_to_read(file: Path, option: str) -> sqlite3.Connection:
    uri = f"{file.absolute().as_uri()}?{option}"
    return sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False)


def _is_usable(file: Path) -> bool:
    """Look before anything is opened for writing: False for a damaged store, NewerStoreError for one of the future.
    Only the parts that every start reads are looked at; damage elsewhere shows when it is read."""
    try:
        if file.stat().st_size == 0:
            return False
    except FileNotFoundError:
        return True
    try:
        connection = _connect_to_read(file, "mode=ro")
        with contextlib.closing(connection):
            schema.refuse_newer(connection, file)
            if schema.version_of(connection) >= schema.READABLE:
                newest = tree.conversations(connection, 1, 0)
                for chat in newest:
                    tree.path(connection, chat.id, last=1)
    except sqlite3.DatabaseError as error:
        return not is_damage(error)  # whatever else is wrong shows again, with its reason, on opening for writing
    return True


def _is_whole(connection: sqlite3.Connection, file: Path) -> bool:
    """Whether the end of the file is there. SQLite reads zeros where it is not, and takes them for text.
    Only asked while no other instance is at work: the answer is right when nothing is left in the log."""
    _, logged, moved = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    if logged != moved:
        return True
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (page_size,) = connection.execute("PRAGMA page_size").fetchone()
    return file.stat().st_size >= int(pages) * int(page_size)


def _patiently(action: Callable[[], T], patience: float) -> T:
    """Switching to WAL and recovering after a kill do not wait for a busy file by themselves."""
    deadline = time.monotonic() + patience
    while True:
        try:
            return action()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() >= deadline:
                raise
        time.sleep(0.02)
