"""Downloads that are going on: each in a thread of its own, looked at through snapshots, ended within a second."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.library.records import FileProgress, Getting, Phase
from app.library.transfer.control import Control
from app.library.transfer.errors import TransferError
from app.library.transfer.existing import kept_of
from app.library.transfer.leftovers import discard
from app.library.transfer.progress import Overall, Progress, State

if TYPE_CHECKING:
    from app.library.transfer.patience import Patience
    from app.library.transfer.wanted import Arrived, Wanted

log = logging.getLogger(__name__)

PHASES: Final[dict[State, Phase]] = {
    "queued": Phase.WAITING,
    "checking": Phase.CHECKING,
    "connecting": Phase.FETCHING,
    "receiving": Phase.FETCHING,
    "waiting": Phase.STALLED,
    "paused": Phase.PAUSED,
    "verifying": Phase.CHECKING,
    "ready": Phase.FETCHING,
    "done": Phase.FETCHING,
    "failed": Phase.FAILED,
}
CLOSE_PATIENCE: Final = 1.5


@dataclass(frozen=True, slots=True)
class Errand:
    """What one download fetches."""

    key: str
    title: str
    sets: tuple[tuple[Wanted, ...], ...]
    """Files that become visible together; each set is one model."""
    begun: Callable[[], None] = lambda: None
    """Called before the first byte, in the download's thread; may raise OSError."""
    whole: Callable[[Arrived], None] | None = None
    """Called for every file that was fetched, just before it gets its name; may raise OSError."""
    why_unusable: Callable[[Sequence[Arrived]], str | None] = lambda arrived: None
    """Why a set that is whole is no model, in one phrase; then it is deleted again. May raise OSError."""
    replace: Callable[[Path], bool] = lambda path: False
    """Whether a file that is there may be replaced; asked before the first byte, and again before it is done."""

    @property
    def total(self) -> int:
        return sum(wanted.size for one in self.sets for wanted in one)

    @property
    def paths(self) -> list[Path]:
        return [wanted.path for one in self.sets for wanted in one]


@dataclass(eq=False)
class _Job:
    errand: Errand
    control: Control = field(default_factory=Control)
    now: Overall | None = None
    """The last report."""
    end: Phase | None = None
    trouble: str = ""
    cancelled: bool = False
    thread: threading.Thread | None = None


class Downloads:
    """All of this process. Thread-safe; nothing but :meth:`close` waits."""

    def __init__(self, patience: Patience | None = None) -> None:
        self._patience = patience
        self._jobs: dict[str, _Job] = {}
        self._lock = threading.Lock()

    def start(self, errand: Errand) -> None:
        """Begin, or begin anew what was paused, has failed or was cancelled."""
        with self._lock:
            before = self._jobs.get(errand.key)
            if before is not None and before.end is None and not before.cancelled:
                before.control.resume()
                return
            job = self._jobs[errand.key] = _Job(errand)
            job.thread = threading.Thread(target=self._work, args=(job,), name="download", daemon=True)
            job.thread.start()

    def snapshots(self) -> tuple[Getting, ...]:
        """Every download since the start of the program, as it is now."""
        with self._lock:
            return tuple(_snapshot(job) for job in self._jobs.values())

    def find(self, key: str) -> Getting | None:
        """One of them."""
        return next((getting for getting in self.snapshots() if getting.key == key), None)

    def pause(self, key: str) -> None:
        """Close the connections; what has arrived stays."""
        if (job := self._jobs.get(key)) is not None:
            job.control.pause()

    def resume(self, key: str) -> None:
        """Go on after a pause or a failure."""
        if (job := self._jobs.get(key)) is not None:
            self.start(job.errand)

    def cancel(self, key: str) -> None:
        """End it and throw away what has arrived of files that are not whole."""
        if (job := self._jobs.get(key)) is None or job.end is Phase.DONE:
            return
        job.cancelled = True
        job.control.cancel()
        if job.end is not None:  # its thread has ended already
            threading.Thread(target=self._throw_away, args=(job,), name="throw away", daemon=True).start()

    def forget(self, key: str) -> None:
        """It was deleted from the disk; a download that has ended is not spoken of any more."""
        with self._lock:
            if (job := self._jobs.get(key)) is not None and job.end is not None:
                del self._jobs[key]

    def close(self) -> None:
        """End all of them; what has arrived stays. Waits for a moment, and no longer."""
        with self._lock:
            jobs = [job for job in self._jobs.values() if job.end is None]
        for job in jobs:
            job.control.cancel()
        deadline = time.monotonic() + CLOSE_PATIENCE
        for job in jobs:
            if job.thread is not None:
                job.thread.join(max(0.0, deadline - time.monotonic()))

    def _work(self, job: _Job) -> None:
        from app.library.transfer.download import Download  # loads the HTTP library

        def report(now: Overall) -> None:
            job.now = now

        errand = job.errand
        try:
            errand.begun()
            Download(
                errand.sets,
                report,
                control=job.control,
                patience=self._patience,
                wait_for_other=True,
                replace=errand.replace,
                on_whole=errand.whole,
                why_unusable=errand.why_unusable,
            ).run()
        except TransferError as error:
            job.trouble = "" if job.cancelled else str(error)
            job.end = None if job.cancelled else Phase.PAUSED if error.code == "cancelled" else Phase.FAILED
        except OSError as error:
            job.trouble = f"{errand.title}: {error.strerror or error}; what has arrived is kept."
            job.end = Phase.FAILED
        except Exception as error:
            log.exception("a download failed")
            job.trouble = (
                f"Something went wrong inside Slipstream while {errand.title} was fetched ({type(error).__name__}); "
                "what has arrived is kept, start it again to continue."
            )
            job.end = Phase.FAILED
        else:
            job.end = Phase.DONE
        if job.cancelled and job.end is not Phase.DONE:
            self._throw_away(job)

    def _throw_away(self, job: _Job) -> None:
        job.trouble = ""  # of how it failed before: what that says was kept is deleted now
        try:
            kept = [path.name for path in job.errand.paths if not discard(path)]
        except OSError as error:
            job.trouble = f"{job.errand.title}: what has arrived could not be deleted ({error.strerror or error})."
            job.end = Phase.FAILED
            return
        if kept:
            job.trouble = f"Another Slipstream is fetching {', '.join(kept)}; its bytes stay."
        job.end = Phase.CANCELLED


def _snapshot(job: _Job) -> Getting:
    now, errand = job.now, job.errand
    files: Sequence[Progress] = now.files if now else ()
    phase = job.end or (_phase(now.state, job) if now else Phase.WAITING)
    if job.end is None and job.control.paused:
        phase = Phase.PAUSED  # at once: the threads take a moment
    waits = next((file for file in files if file.state == "waiting"), None)
    reason = f"{waits.reason}; tries again" if waits is not None and phase is Phase.STALLED else ""
    return Getting(
        key=errand.key,
        title=errand.title,
        phase=phase,
        done=errand.total if phase is Phase.DONE else now.done if now else 0,
        total=errand.total,
        speed=now.rate if now and phase is Phase.FETCHING else 0.0,
        silent=now is not None and phase is Phase.FETCHING and now.silent,
        trouble=job.trouble or reason,
        note=" ".join(f"{file.path.name}: {file.note}." for file in files if file.note),
        unfinished=sum(kept_of(path) for path in errand.paths),
        files=tuple(
            FileProgress(file.path.name, file.done, file.total, _file_phase(file.state, job), file.rate)
            for file in files
        ),
    )


def _phase(state: State, job: _Job) -> Phase:
    """A transfer that was told to end has not failed; whether it is paused or given up shows when it is over."""
    return Phase.PAUSED if state == "failed" and job.control.cancelled else PHASES[state]


def _file_phase(state: State, job: _Job) -> Phase:
    return Phase.DONE if state in ("done", "ready") else _phase(state, job)
