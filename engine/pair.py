"""A loaded pair: the target with its context, the draft beside it or the reason why there is none."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from engine.drafters.lookup import LookupDrafter
from engine.drafters.model import ModelDrafter
from engine.files.header import Header, HeaderError, read_header
from engine.files.pairing import judge
from engine.llama.backend import AbortFlag, gpus
from engine.llama.context import EXACT, ContextError, DecodeAborted, can_roll_back
from engine.llama.loading import Opened, Wish, open_model
from engine.llama.model import LoadCancelled, LoadError
from engine.machine import usable_cores
from engine.protocol import ErrorCode, LoadingWhat, LoadSettings, ModelFile, PairInfo
from engine.text.sandbox import Sandbox
from engine.text.template import ChatTemplate

EXACT_BADGE, FAST_BADGE = "exact settings, untested", "fast"

Report = Callable[[LoadingWhat, float], None]


class PairError(Exception):
    """The target cannot be had. ``str()`` is the sentence for people."""

    def __init__(self, code: ErrorCode, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.code, self.detail = code, detail


class Pair:
    """Target, draft, template and what is in the target's cache. Owned by the engine's main thread."""

    def __init__(self, settings: LoadSettings, abort: AbortFlag, report: Report) -> None:
        started = time.perf_counter()
        self._abort = abort
        self.settings = settings
        self.notes: list[str] = []
        self.threads = self._threads(settings.threads)
        self._key = target_key(settings)
        header = checked_header(settings.target.path)
        self.target = self._open(settings.target, settings.context, report, "target", exact=settings.mode != "fast")
        self.notes += self.target.notes
        try:
            self.rolls_back = can_roll_back(self.target.context, self.target.model.vocabulary.bos_or_first)
        except DecodeAborted:
            self.target.close()
            raise LoadCancelled from None
        self.cached: list[int] = []
        """Ids whose KV entries the target's cache holds; never longer than ``target.context.length``."""
        vocabulary = self.target.model.vocabulary
        self.template = ChatTemplate(
            header.chat_template,
            bos=vocabulary.text(vocabulary.bos) if vocabulary.bos >= 0 else "",
            eos=vocabulary.text(vocabulary.eos) if vocabulary.eos >= 0 else "",
            controls=vocabulary.controls,
            sandbox=Sandbox(interrupted=lambda: abort.is_set),
        )
        self.lookup = LookupDrafter()
        self.draft: Opened | None = None
        self.drafter: ModelDrafter | None = None
        self.draft_refused: str | None = None
        self._set_draft(settings.draft, report)
        self.load_seconds = time.perf_counter() - started
        self._info: PairInfo | None = None

    def serves(self, settings: LoadSettings) -> bool:
        """Whether the target as it is loaded is the one that ``settings`` wants."""
        return self._key == target_key(settings)

    def change_draft(self, settings: LoadSettings, report: Report) -> None:
        """Another draft, or none; the target and its cache stay."""
        started = time.perf_counter()
        if settings.draft != self.settings.draft or self.draft_refused:
            self._close_draft()
            self._set_draft(settings.draft, report)
        self.settings = settings
        self.load_seconds = time.perf_counter() - started
        self._info = None

    def forget(self) -> None:
        """Empty both caches and the lookup index, as if no text had ever been read; the models stay."""
        self.target.context.clear()
        self.cached = []
        self.lookup.forget()
        if self.drafter is not None:
            self.drafter.forget()

    def _set_draft(self, file: ModelFile | None, report: Report) -> None:
        self.draft_refused = None
        if file is None:
            return
        if not self.rolls_back:
            self.draft_refused = "this target keeps one running state and cannot take a pass back"
            return
        try:
            header = checked_header(file.path)
            verdict = judge(self.target.model.path, Path(file.path))
            if not verdict.fits:
                self.draft_refused = verdict.reason
                return
            # The target's window, but never beyond what the draft was trained for: it gives up before the target does.
            window = min(self.target.context.size, header.context_length or self.target.context.size)
            opened = self._open(file, window, report, "draft", exact=False)
        except (PairError, LoadError, ContextError) as error:
            self.draft_refused = str(error).rstrip(".")
            return
        if not can_roll_back(opened.context, opened.model.vocabulary.bos_or_first):
            opened.close()
            self.draft_refused = "this draft keeps one running state and cannot take proposals back"
            return
        self.draft = opened
        self.drafter = ModelDrafter(
            opened.context,
            shared_vocabulary=min(verdict.shared_vocabulary, opened.model.vocabulary.size),
            is_end=self.target.model.vocabulary.is_end,
        )

    def _open(self, file: ModelFile, context: int | None, report: Report, what: LoadingWhat, *, exact: bool) -> Opened:
        path = Path(file.path)
        try:
            return open_model(
                Wish(path, file.gpu_layers, context, self.threads, exact),
                self._abort,
                progress=lambda fraction: report(what, fraction),
                cancelled=lambda: self._abort.is_set,
            )
        except (LoadError, ContextError) as error:
            if what == "draft":
                raise
            raise PairError(ErrorCode.LOAD_FAILED, str(error), error.detail) from error

    def _threads(self, wish: int | None) -> int:
        cores, words = usable_cores()
        if wish is not None and wish > cores:
            self.notes.append(f"{wish} threads were asked for; {cores} are used ({words})")
        return cores if wish is None else min(wish, cores)

    @property
    def exact(self) -> bool:
        """Whether the target computes with the exact settings."""
        return self.target.context.settings == EXACT

    def info(self) -> PairInfo:
        """The pair as status line and receipt show it. Raises RenderInterrupted on a cancel, the first time."""
        if self._info is None:
            self._info = self._describe()
        return self._info

    def _describe(self) -> PairInfo:
        offloaded = self.target.model.gpu_layers > 0
        devices = gpus() if offloaded else ()
        notes = list(self.notes)
        if offloaded and self.settings.mode == "exact":
            notes.append("exact settings are for CPUs; on a GPU the mode is fast until it is tested there")
        if not self.rolls_back:
            notes.append("speculation is off: this model's memory cannot take a pass back")
        return PairInfo(
            target=self.target.model.info(),
            draft=self.draft.model.info() if self.draft else None,
            draft_refused=self.draft_refused,
            template=self.template.info(),
            context=self.target.context.size,
            threads=self.threads,
            backend=", ".join(f"{d.name} ({d.description})" for d in devices) or "CPU",
            badge=EXACT_BADGE if self.exact else FAST_BADGE,
            notes=tuple(notes),
            load_seconds=self.load_seconds,
        )

    def _close_draft(self) -> None:
        if self.draft:
            self.draft.close()
        self.draft = self.drafter = None

    def close(self) -> None:
        """Give all memory back."""
        self._close_draft()
        self.target.close()
        self.template.close()


def target_key(settings: LoadSettings) -> tuple[object, ...]:
    """What makes two settings the same loaded target: the file as it is now, and how it was opened."""
    path = Path(settings.target.path)
    try:
        status = path.stat()
        file: tuple[object, ...] = (path.resolve(), status.st_size, status.st_mtime_ns)
    except OSError:
        file = (path,)
    return (*file, settings.target.gpu_layers, settings.context, settings.threads, settings.mode)


def checked_header(path: str) -> Header:
    """The file's header, after the checks that keep broken files away from native code. Raises PairError."""
    codes = {"not_gguf": ErrorCode.NOT_GGUF, "truncated": ErrorCode.TRUNCATED_GGUF}
    try:
        return read_header(Path(path))
    except FileNotFoundError as error:
        raise PairError(ErrorCode.NO_SUCH_FILE, f"There is no file {path}.") from error
    except HeaderError as error:
        raise PairError(codes.get(error.code, ErrorCode.LOAD_FAILED), error.message) from error
    except OSError as error:
        raise PairError(ErrorCode.LOAD_FAILED, f"{path} cannot be read: {error.strerror or error}.") from error
