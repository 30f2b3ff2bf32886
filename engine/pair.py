"""A loaded pair: the target with its context, the draft beside it or the reason why there is none."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Generator
from pathlib import Path

from engine.baseline import PlainSpeed
from engine.drafters.base import Outcome
from engine.drafters.lookup import LookupDrafter
from engine.drafters.model import ModelDrafter
from engine.exactness import Exactness
from engine.files.whole_hash import WholeHash
from engine.llama.backend import AbortFlag, system_info, versions
from engine.llama.context import EXACT, CacheSettings, Context, ContextError
from engine.llama.loading import Opened, Wish, open_model, probed
from engine.llama.model import LoadError
from engine.machine import usable_cores
from engine.other_work import OtherWork
from engine.pacing import Pacer
from engine.pair_info import describe
from engine.profile import Profile, ProfileStore
from engine.protocol import PLAIN_ONLY, ErrorCode, LoadingWhat, LoadSettings, ModelFile, PairInfo, SelfTestResult
from engine.selftest import NEEDED, self_test
from engine.target_file import KeptFile, PairError, checked_header, draft_key, target_key
from engine.text.sandbox import Sandbox
from engine.text.template import ChatTemplate

TEST_VERSION = 4
"""What an earlier, weaker form of the test found is not believed."""

CROWDED = 0.25
"""Cores' worth of other work beside which the self-test's times are not believed: a median of three is no match for
it."""

UNDO = 7
"""Tokens of a pass that a target with running states keeps a state for: as many as exact mode drafts at most. Each
costs the memory of one state (50 MB for Qwen3.5-9B). A draft reads one token a pass, which leaves nothing to take back
within a pass; it goes back to a copy of its state instead."""

Report = Callable[[LoadingWhat, float], None]


class Pair:
    """Target, draft, template and what is in the target's cache. Owned by the engine's main thread."""

    def __init__(
        self, settings: LoadSettings, abort: AbortFlag, report: Report, profiles: ProfileStore | None = None
    ) -> None:
        started = time.perf_counter()
        self._abort = abort
        self.settings = settings
        self.notes: list[str] = []
        self.threads = self._threads(settings.threads)
        self._key = target_key(settings)
        self._draft_key = draft_key(settings.draft)
        self._file = KeptFile.read(settings.target.path)
        self._profiles = profiles
        self.whole = WholeHash.at_load(self._file.header, profiles.folder if profiles else None)
        self.tested = self._kept_selftest()
        """What the self-test found about this target on this machine; None until it was done."""
        exact = settings.mode == "exact" or (settings.mode == "auto" and (self.tested is None or self.tested.exact))
        self.target = self._open(settings.target, settings.context, report, "target", exact=exact)
        self.notes += self.target.notes
        self.cached: list[int] = []
        """Ids whose KV entries the target's cache holds; never longer than ``target.context.length``."""
        vocabulary = self.target.model.vocabulary
        self.template = ChatTemplate(
            self._file.header.chat_template,
            bos=vocabulary.text(vocabulary.bos) if vocabulary.bos >= 0 else "",
            eos=vocabulary.text(vocabulary.eos) if vocabulary.eos >= 0 else "",
            controls=vocabulary.controls,
            sandbox=Sandbox(interrupted=lambda: abort.is_set),
        )
        self.lookup = LookupDrafter()
        self.draft: Opened | None = None
        self.drafter: ModelDrafter | None = None
        self.draft_refused: str | None = None
        self.pacer = Pacer()
        self.plain = PlainSpeed()
        try:
            self._set_draft(settings.draft, report)
        except BaseException:  # a cancel: nobody else knows of the target yet
            self.close()
            raise
        self._take_profile()
        self.load_seconds = time.perf_counter() - started
        self._info: PairInfo | None = None

    def serves(self, settings: LoadSettings) -> bool:
        """Whether the target as it is loaded is the one that ``settings`` wants."""
        return target_key(settings).is_held_as(self._key)

    def change_draft(self, settings: LoadSettings, report: Report) -> None:
        """Another draft, or none; the target and its cache stay."""
        started = time.perf_counter()
        key = draft_key(settings.draft)
        if self.draft_refused or settings.draft_refused or not key.is_held_as(self._draft_key):
            self._close_draft()
            self.settings, self._draft_key = settings, key
            self._set_draft(settings.draft, report)
            self._take_profile()
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
            self.draft_refused = self.settings.draft_refused
            return
        if self.target.context.longest_undo == 0:
            self.draft_refused = PLAIN_ONLY
            return
        try:
            header = checked_header(file.path)
            verdict = self._file.judge(header)
            if not verdict.fits:
                self.draft_refused = verdict.reason
                return
            # The target's window, but never beyond what the draft was trained for: it gives up before the target does.
            window = min(self.target.context.size, header.context_length or self.target.context.size)
            # A target that drafts for itself is there to check the figures: where it rounds alike, nothing is rejected.
            # For any other draft that is worth less than the exact settings cost.
            exact = self.target.context.settings == EXACT and self._file.is_same(file.path)
            opened = self._open(file, window, report, "draft", exact=exact)
        except (PairError, LoadError, ContextError) as error:
            self.draft_refused = str(error).rstrip(".")
            return
        if opened.context.rollback != "full" and opened.context.checkpoints is None:
            opened.close()
            self.draft_refused = "this draft keeps one running state and cannot take proposals back"
            return
        self.draft = opened
        self.drafter = ModelDrafter(
            opened.context,
            shared_vocabulary=min(verdict.shared_vocabulary, opened.model.vocabulary.size),
            is_end=self.target.model.vocabulary.is_end,
        )

    def _open(
        self, file: ModelFile, context: int | None, report: Report, what: LoadingWhat, *, exact: bool = False
    ) -> Opened:
        is_target = what == "target"
        report(what, 0.0)  # first of all: when native code takes the process down, it is known over which file
        try:
            return open_model(
                Wish(
                    Path(file.path),
                    file.gpu_layers,
                    context,
                    self.threads,
                    exact=exact,
                    undo=UNDO if is_target else 0,
                ),
                self._abort,
                progress=lambda fraction: report(what, fraction),
                cancelled=lambda: self._abort.is_set,
            )
        except (LoadError, ContextError) as error:
            if not is_target:
                raise
            raise PairError(ErrorCode.LOAD_FAILED, str(error), error.detail) from error

    def _threads(self, wish: int | None) -> int:
        cores, words = usable_cores()
        if wish is not None and wish > cores:
            self.notes.append(f"{wish} threads were asked for; {cores} are used ({words})")
        return cores if wish is None else min(wish, cores)

    @property
    def exactness(self) -> Exactness:
        """How exact the target is, as far as it is known now."""
        return Exactness(self.target.context.settings, self.tested, self.target.model.gpu_layers)

    def use_threads(self, count: int) -> None:
        """Let ``count`` threads make the next passes of target and draft."""
        self.target.context.use_threads(count)
        if self.draft is not None:
            self.draft.context.use_threads(count)

    @property
    def testable(self) -> bool:
        """Whether there are drafts to speak about, and a way back for the self-test, which goes back by the dozen."""
        context = self.target.context
        return context.rollback == "full" or (context.rollback == "bounded" and context.checkpoints is not None)

    def self_test(self) -> Generator[bool, None, None]:
        """Find out how exact the target is, in small steps; True when something was learned and kept."""
        vocabulary = self.target.model.vocabulary
        # Any text does; one of ever other tokens shows more than one that repeats itself.
        every = [token for token in range(vocabulary.size) if not vocabulary.is_end(token)]
        tokens = random.Random(TEST_VERSION).choices(every, k=NEEDED)

        def make(settings: CacheSettings) -> Context:
            size, undo = -(-NEEDED // 256) * 256, self.target.context.undo_limit
            return probed(
                self.target.model, size=size, threads=self.threads, settings=settings, abort=self._abort, undo=undo
            )

        others = OtherWork()
        with contextlib.closing(self_test(make, tokens, threads=self.threads)) as test:
            for found in test:
                if found is None:
                    yield False
                    continue
                result = found.model_copy(update={"other_cores": others.cores()})
                before, self.tested = self.exactness.prefill_width, result
                if self.exactness.prefill_width != before:
                    self.forget()  # what was read in pieces of other widths is not what a fresh process would hold
                self._adopt(result)
                self._info = None
                if self._profiles is not None:
                    self._profiles.save(Profile(selftest=result), *self._selftest_key())
                yield True

    def _adopt(self, tested: SelfTestResult) -> None:
        """Start from what the self-test measured, unless others made it a lottery: the pacer's own guess is better."""
        if tested.other_cores is None or tested.other_cores < CROWDED:
            self.pacer.cost.adopt(tested.ratios)

    def _selftest_key(self) -> tuple[object, ...]:
        return ("selftest", TEST_VERSION, self._file.fingerprint, self.threads, EXACT, system_info(), versions())

    def _kept_selftest(self) -> SelfTestResult | None:
        return self._profiles.load(*self._selftest_key()).selftest if self._profiles else None

    def info(self) -> PairInfo:
        """The pair as status line and receipt show it. Raises RenderInterrupted on a cancel, the first time."""
        if self._info is None or self._info.target.sha256 != self.whole.value:
            self._info = describe(self)
        return self._info

    def observe(self, outcome: Outcome) -> None:
        """Learn what a pass of the target and a proposal of the draft cost on this machine."""
        cost = self.pacer.cost
        cost.observe_pass(1 + len(outcome.draft.tokens), outcome.seconds)
        if outcome.draft.drafter == "draft":
            cost.observe_draft(len(outcome.draft.confidence), outcome.draft_seconds)
            cost.observe_draft_prefill(outcome.draft.prefill_tokens, outcome.draft.prefill_seconds)

    def _profile_key(self) -> tuple[object, ...]:
        """Everything that what was learned depends on."""
        files = (self.target.model.info(), self.draft.model.info() if self.draft else None)
        settings = (self.target.context.settings, self.threads)
        return (*((f.fingerprint, f.gpu_layers) if f else None for f in files), *settings, system_info(), versions())

    def _take_profile(self) -> None:
        """Start from what earlier runs learned about this pair; a draft never measured is guessed by its size."""
        guess = None
        if self.draft is not None:
            guess = self.draft.model.mark.size / max(1, self.target.model.mark.size)
        kept = self._profiles.load(*self._profile_key()) if self._profiles else Profile()
        self.pacer = Pacer(kept.pacing, draft_ratio_guess=guess)
        if self.tested is not None and not kept.pacing.cost.ratios:
            self._adopt(self.tested)

    def keep_profile(self) -> None:
        """Keep what was learned."""
        if self._profiles is not None:
            profile = Profile(
                target=self.target.model.info().fingerprint,
                draft=self.draft.model.info().fingerprint if self.draft else None,
                pacing=self.pacer.profile(),
            )
            self._profiles.save(profile, *self._profile_key())

    def _close_draft(self) -> None:
        if self.draft:
            self.draft.close()
        self.draft = self.drafter = None

    def close(self) -> None:
        """Give all memory back."""
        self._close_draft()
        self.target.close()
        self.template.close()
