"""One file from the hub to the disk: connect, receive, connect again, verify."""

from __future__ import annotations

import os
import queue
import time
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

from app.library.offline import network_is_off
from app.library.transfer import answer
from app.library.transfer.control import Control
from app.library.transfer.disk import explain
from app.library.transfer.errors import Again, Refused, StartOver, TransferError
from app.library.transfer.existing import difference, kept_of
from app.library.transfer.lock import WriterLock
from app.library.transfer.part import Part
from app.library.transfer.patience import Patience
from app.library.transfer.progress import Meter, Progress, State
from app.library.transfer.sidecar import LOCK, PART, beside
from app.library.transfer.stream import Head, Stream
from app.library.transfer.wanted import Arrived, Wanted
from app.library.transfer.words import duration, kept, sentence
from engine.files.sizes import size_words

if TYPE_CHECKING:
    import httpx2

ELSEWHERE = "another Slipstream is downloading it"


class _Interrupted(Exception):
    """Pause or cancel was pressed while we were receiving."""


class Fetch:
    """Fetches one file: :meth:`receive`, then :meth:`publish`; :meth:`close` in any case."""

    def __init__(
        self,
        wanted: Wanted,
        control: Control,
        client: Callable[[], httpx2.Client],
        patience: Patience,
        *,
        wait_for_other: bool = False,
        replace: Callable[[], bool] = lambda: False,
        on_whole: Callable[[Arrived], None] | None = None,
    ) -> None:
        self.wanted = wanted
        self.control = control
        self._client = client
        self._patience = patience
        self._wait_for_other = wait_for_other
        self._replace = replace
        self._on_whole = on_whole
        self._meter = Meter(wanted.path, wanted.size)
        self._lock = WriterLock(beside(wanted.path, LOCK))
        self._part = Part(wanted)
        self._there = False
        """The final file is there."""
        self._connections = 0
        """That the bytes of the part came through; those of earlier runs count as two."""
        self._restarted = False
        self._answered = False

    @property
    def progress(self) -> Progress:
        return self._meter.progress

    def receive(self) -> None:
        """Bring the whole, verified file to the disk, under the name of a part. Nothing to do when it is there."""
        try:
            if not self._is_whole():
                self._refuse_empty()
                self.wanted.path.parent.mkdir(parents=True, exist_ok=True)
                self._take_lock()
                if not self._is_whole():  # another process may have brought it
                    self._make_whole()
            self._meter.enter("ready", self.wanted.size)
        except OSError as error:
            raise self._failed(explain(error, self.wanted)) from None
        except TransferError as error:
            raise self._failed(error) from None

    @property
    def arrived(self) -> Arrived:
        """Where the whole file is."""
        path = self.wanted.path
        return Arrived(path, path if self._there else beside(path, PART))

    def throw_away(self) -> None:
        """Delete what was fetched; a file that was there before stays."""
        if not self._there:
            self._part.remove()
        self._lock.release()
        self._meter.enter("failed", self.wanted.size if self._there else 0)

    def publish(self) -> None:
        """Give it its name."""
        try:
            if not self._there:
                self._refuse_newcomer()
                if self._on_whole is not None:
                    self._on_whole(self.arrived)
                self._part.publish()
                self._there = True
        except OSError as error:
            raise self._failed(explain(error, self.wanted)) from None
        except TransferError as error:
            raise self._failed(error) from None
        self._lock.release()
        self._meter.enter("done", self.wanted.size)

    def close(self) -> None:
        """Let go of everything; what was received stays."""
        self._part.close(quick=self.control.cancelled)
        self._lock.release()

    def _failed(self, error: TransferError) -> TransferError:
        self.close()
        self._meter.enter("failed", min(self._kept(), self.wanted.size))
        return error

    def _refuse_empty(self) -> None:
        if self.wanted.size == 0 and self.wanted.is_model:
            said = f"{self.wanted.host} has an empty file there"
            raise self._error(Refused("empty", said, "choose another file"))

    def _is_whole(self) -> bool:
        """Whether the final file is there, by size and hash."""
        wrong = difference(self.wanted, lambda done: self._gate("checking", done))
        if wrong and not self._replace():
            said = f"{self.wanted.name} is in {self.wanted.path.parent} already and is not the hub's file: {wrong}"
            todo = "delete or move it, then start again"
            raise TransferError("exists", sentence(said, "nothing was changed", todo), self.wanted.path)
        self._there = wrong == ""
        return self._there

    def _refuse_newcomer(self) -> None:
        """Another file may have been put there, or the one there changed, while this one was coming."""
        if os.path.lexists(self.wanted.path) and not self._replace():
            said = f"it is whole, but another file of that name lies in {self.wanted.path.parent} now"
            raise self._error(Refused("exists", said, "move or delete that one, then start again"))

    def _take_lock(self) -> None:
        while not self._lock.take():
            if not self._wait_for_other:
                said = f"{self.wanted.name}: {ELSEWHERE}"
                raise TransferError("busy", sentence(said, "wait for that one to end"), self.wanted.path)
            self._gate("waiting", min(self._kept(), self.wanted.size), reason=ELSEWHERE)
            self.control.wait(self._patience.tick)

    def _make_whole(self) -> None:
        found = self._part.open(lambda done: self._gate("checking", done))
        if found == "foreign":
            self._meter.note("what was kept belonged to another version of the file: started from zero")
        elif found == "damaged":
            self._meter.note("what was kept was damaged: started from zero")
        self._connections = 2 if self._part.length else 0
        while True:
            self._fill()
            self._meter.enter("verifying", self._part.length)
            wrong = self._part.finish()
            if wrong is None:
                return
            self._mismatch(wrong)

    def _mismatch(self, found: str) -> None:
        """All bytes are there, and they are not the right ones."""
        wanted, expected = self.wanted, self.wanted.expected or ""
        hashes = f"{wanted.hash_name} {found[:8]} instead of {expected[:8]}"
        if self._connections > 1 and not self._restarted:  # pieces of different versions, most likely
            self._start_over(f"what was received in pieces does not fit together ({hashes})")
            return
        self._part.remove()
        said = f"{wanted.name}: what {wanted.host} sent has the {hashes}"
        todo = "start it again; if that happens twice, the file on the hub is broken"
        raise TransferError("hash_mismatch", sentence(said, "the wrong file was removed", todo), wanted.path)

    def _start_over(self, why: str) -> None:
        self._restarted = True
        self._connections = 0
        self._part.restart()
        self._meter.note(f"{why}: started from zero")

    def _fill(self) -> None:
        """Receive what is missing."""
        failures, furthest = 0, self._part.length
        while self._part.length < self.wanted.size:
            self._gate("connecting", self._part.length)
            try:
                self._connect()
                continue
            except _Interrupted:
                if not self.control.cancelled:
                    self._part.checkpoint()
                continue
            except StartOver as reason:
                if self._restarted or not self._part.length:
                    raise self._error(reason.refusal) from None
                self._start_over(str(reason))
                furthest = 0
                continue
            except Refused as reason:
                raise self._error(reason) from None
            except Again as reason:
                again = reason
            if self._part.length - furthest >= self._patience.worth:
                failures, furthest = 0, self._part.length
            failures += 1
            if failures >= (self._patience.tries if self._answered else self._patience.first_tries):
                times = f", {failures} times in a row" if failures > 1 else ""
                raise self._error(Refused(again.code, f"{again}{times}", again.todo))
            self._part.checkpoint()
            self._wait(self._patience.after(failures) if again.after is None else again.after, str(again))

    def _connect(self) -> None:
        """One connection: from the first byte that is missing to wherever it ends."""
        if (switch := network_is_off()) is not None:
            raise Refused("offline", f"{switch} is set, so nothing is fetched", f"unset {switch}, then start it again")
        wanted, part, offset = self.wanted, self._part, self._part.length
        headers = {**wanted.headers(), "Accept-Encoding": "identity"}
        if offset:
            headers["Range"] = f"bytes={offset}-"
            # Where the whole has a hash, that will tell; a mirror whose servers disagree on ETags must not cost bytes.
            if wanted.expected is None and part.validator is not None:
                headers["If-Range"] = part.validator
        with closing(Stream(self._client(), wanted.url, headers, self._patience)) as stream:
            head = self._next(stream, self._patience.connect + self._patience.stall)
            assert isinstance(head, Head)
            self._answered = True
            start = answer.body_offset(head, wanted, offset, self._patience.longest_order)
            tag = answer.validator(head)
            if start != offset:
                other = "If-Range" in headers and tag != part.validator
                why = f"the file on {head.host} has changed" if other else f"{head.host} cannot continue a file"
                part.restart()
                self._meter.note(f"{why}: started from zero")
            part.served_as(tag)
            self._connections = self._connections + 1 if start else 1
            self._meter.enter("receiving", part.length)
            self._copy(stream, head)

    def _copy(self, stream: Stream, head: Head) -> None:
        part, total = self._part, self.wanted.size
        while part.length < total:
            piece = self._next(stream, self._patience.stall)
            if piece is None:
                raise Again("cut", f"{head.host} ended the file at {size_words(part.length)}")
            assert isinstance(piece, bytes)
            if part.length == 0:
                answer.check_beginning(piece, self.wanted, head.host)
            if part.length + len(piece) > total:
                raise answer.too_long(head.host, self.wanted)
            part.write(piece)
            self._meter.advance(part.length)

    def _next(self, stream: Stream, limit: float) -> Head | bytes | None:
        """The stream's next item; looks up from waiting all the time."""
        deadline = time.monotonic() + limit
        while True:
            if self.control.cancelled or self.control.paused:
                raise _Interrupted
            try:
                return stream.get(self._patience.tick)
            except queue.Empty:
                self._meter.tick()
            if time.monotonic() > deadline:
                raise Again("stalled", f"{stream.host} has sent nothing for {duration(self._patience.stall)}")

    def _gate(self, state: State, done: int, *, wait: float = 0.0, reason: str = "") -> None:
        """Come through in this state, unless cancelled; while paused, wait here."""
        while self.control.paused and not self.control.cancelled:
            self._meter.enter("paused", done)
            self.control.wait(self._patience.tick)
        if self.control.cancelled:
            raise self._error(Refused("cancelled", "cancelled", "start it again to continue"))
        self._meter.enter(state, done, wait=wait, reason=reason)

    def _wait(self, seconds: float, reason: str) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._gate("waiting", self._part.length, wait=left, reason=reason)
            self.control.wait(min(left, self._patience.tick))

    def _error(self, reason: Refused) -> TransferError:
        stays = kept(self._kept(), self.wanted.size)
        said = f"{self.wanted.name}: {reason}"
        return TransferError(reason.code, sentence(said, stays, reason.todo), self.wanted.path)

    def _kept(self) -> int:
        return kept_of(self.wanted.path)
