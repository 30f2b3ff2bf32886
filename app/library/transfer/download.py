"""Several files at once: the door to this package."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import httpx2

from app.library.transfer.client import make_client
from app.library.transfer.control import Control
from app.library.transfer.disk import check_room, explain
from app.library.transfer.errors import TransferError
from app.library.transfer.fetch import Fetch
from app.library.transfer.patience import Patience
from app.library.transfer.progress import Overall, overall
from app.library.transfer.wanted import Arrived, Wanted
from app.library.transfer.words import sentence

EVERY = 0.125
"""Seconds between two reports of progress; the last one comes at once."""


class Download:
    """Fetches sets of files, once; the files of one set become visible only when all of them are whole.

    A model that is one file is a set of one; a split model is the set of its parts, in their order. The first part,
    by which a split model is known, gets its name last.
    """

    def __init__(
        self,
        sets: Iterable[Sequence[Wanted]],
        on_progress: Callable[[Overall], None] | None = None,
        *,
        control: Control | None = None,
        at_once: int = 2,
        patience: Patience | None = None,
        wait_for_other: bool = False,
        replace: Callable[[Path], bool] = lambda path: False,
        on_whole: Callable[[Arrived], None] | None = None,
        why_unusable: Callable[[Sequence[Arrived]], str | None] = lambda arrived: None,
    ) -> None:
        """``wait_for_other``: wait for another process that fetches the same file, instead of the error ``busy``.
        ``replace``: whether to put the new file, once it is whole, in the place of a different one of its name, instead
        of the error ``exists``; asked before the first byte, and again when the new one is whole. A file that is
        paused by its own control keeps its place among the ``at_once``. ``on_whole``: called on a thread of the
        download for every file that was fetched, just before it gets its name; its OSError keeps it from that.
        ``why_unusable``: asked about each set that is whole, before any of it has its name; what it returns is why the
        set is thrown away instead."""
        self.control = control or Control()
        """Of all files."""
        self.errors: dict[Path, TransferError] = {}
        """What went wrong, by the path of the file."""
        self._on_progress = on_progress
        self._at_once = at_once
        self._why_unusable = why_unusable
        self._http: httpx2.Client | None = None
        self._lock = threading.Lock()
        self._crash: BaseException | None = None
        make = partial(
            Fetch,
            client=self._client,
            patience=patience or Patience(),
            wait_for_other=wait_for_other,
            on_whole=on_whole,
        )
        self._sets = [
            [make(wanted, Control(self.control), replace=partial(replace, wanted.path)) for wanted in one]
            for one in sets
        ]
        self._fetches = [fetch for one in self._sets for fetch in one]
        paths = [fetch.wanted.path for fetch in self._fetches]
        if len(set(paths)) != len(paths):
            raise ValueError("two files are wanted at the same place")

    def control_of(self, path: Path) -> Control:
        """Of one file alone."""
        return next(fetch.control for fetch in self._fetches if fetch.wanted.path == path)

    @property
    def progress(self) -> Overall:
        """How far it is now; may be asked by any thread."""
        return overall([fetch.progress for fetch in self._fetches])

    def run(self) -> list[Path]:
        """Fetch all, and return where they are. ``on_progress`` is called on this thread, eight times a second at most.

        When a file fails, the others go on; the first error is raised when all have ended, :attr:`errors` has the rest.
        Whatever happens, what was received stays for the next run.
        """
        check_room(fetch.wanted for fetch in self._fetches)
        waiting, ended = deque(self._fetches), threading.Semaphore(0)
        count = min(self._at_once, len(waiting))
        threads = [
            threading.Thread(target=self._work, args=(waiting, ended), name="download", daemon=True)
            for _ in range(count)
        ]
        try:
            for thread in threads:
                thread.start()
            self._watch(ended, count)
        except BaseException:
            self.control.cancel()
            raise
        finally:
            for thread in threads:
                if thread.ident is not None:
                    thread.join(timeout=5)  # they heed a cancel within a second, unless the disk hangs
            for fetch in self._fetches:
                fetch.close()
            if self._http is not None:
                self._http.close()
        if self._crash is not None:
            raise self._crash
        for fetch in self._fetches:
            if fetch.wanted.path in self.errors:
                raise self.errors[fetch.wanted.path]
        return [fetch.wanted.path for fetch in self._fetches]

    def _watch(self, ended: threading.Semaphore, count: int) -> None:
        """Report until all workers have ended."""
        said: Overall | None = None
        due = 0.0
        while True:
            if time.monotonic() >= due or not count:
                due = time.monotonic() + EVERY
                now = self.progress
                if self._on_progress is not None and now != said:
                    self._on_progress(now)
                    said = now
            if not count:
                return
            count -= ended.acquire(timeout=max(0.0, due - time.monotonic()))

    def _work(self, waiting: deque[Fetch], ended: threading.Semaphore) -> None:
        """Fetch one file after the other."""
        try:
            while True:
                try:
                    fetch = waiting.popleft()
                except IndexError:
                    return
                self._fetch(fetch)
        except BaseException as error:  # a fault of our own, told by the thread that called us
            self._crash = error
            self.control.cancel()
        finally:
            ended.release()

    def _fetch(self, fetch: Fetch) -> None:
        try:
            fetch.receive()
        except TransferError as error:
            self.errors[fetch.wanted.path] = error
            return
        one = next(one for one in self._sets if fetch in one)
        with self._lock:
            if any(part.progress.state != "ready" for part in one):
                return
            if (refused := self._refused(one)) is not None:
                self.errors[fetch.wanted.path] = refused
                return
            for part in reversed(one):
                try:
                    part.publish()
                except TransferError as error:
                    self.errors[part.wanted.path] = error
                    return

    def _refused(self, one: Sequence[Fetch]) -> TransferError | None:
        """The error for a set that is whole and cannot be used; then nothing is left of what was fetched of it."""
        try:
            why = self._why_unusable([part.arrived for part in one])
        except OSError as error:
            return explain(error, one[0].wanted)
        if why is None:
            return None
        for part in one:
            part.throw_away()
        them = "they were" if len(one) > 1 else "it was"
        said = f"{one[0].wanted.name}: all of it arrived, and it is no model that can be used: {why}"
        todo = "the hub has nothing else under that name, so choose another file"
        return TransferError("no_model", sentence(said, f"{them} deleted", todo), one[0].wanted.path)

    def _client(self) -> httpx2.Client:
        with self._lock:
            if self._http is None:
                self._http = make_client()
            return self._http


def fetch_one(
    wanted: Wanted,
    on_progress: Callable[[Overall], None] | None = None,
    *,
    control: Control | None = None,
    patience: Patience | None = None,
    wait_for_other: bool = False,
) -> Path:
    """Fetch one file."""
    one = Download([[wanted]], on_progress, control=control, patience=patience, wait_for_other=wait_for_other)
    return one.run()[0]
