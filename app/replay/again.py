"""Making a kept answer again: by its own passes, or as another way of speculation would; token by token."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final, Literal

from app.chats.proof import NO_TOKENS, TEXT_CHANGED, UNSEALED
from app.compare.order import fork
from app.compare.runs import Engine
from app.receipt_words import many
from app.replay.circumstances import differences, file_trouble
from app.replay.contents import other_contents
from app.replay.kept import KeptAnswer
from app.replay.steps import ASKING, COMPARING, LOADING, READING, Step, Watch, of_loading, of_passes
from engine.protocol import (
    Difference,
    Failed,
    Finished,
    Loading,
    LoadSettings,
    ModelFile,
    PairInfo,
    Prefilling,
    Replay,
    Replayed,
    SpeculationMode,
    TextDelta,
)

Manner = SpeculationMode | Literal["passes"]
"""``passes``: every pass as wide as it was. A mode: the answer is made anew, with this kind of speculation."""

EXACT: Final = "exact"
UNEXPLAINED: Final = (
    "Nothing that the record tells of is otherwise now. Of a model file that is its size and its first and last MiB; "
    "the middle is not compared: slipstream models verify reads whole the files that Slipstream fetched. "
    "If the file is good, the answer's record or this engine is wrong."
)

PASSES_LOST: Final = (
    "By which passes it was made is not known, since it was cut off before its end; in fast mode those of another "
    "width may round otherwise, so this difference proves nothing."
)

WHOLE_FILE: Final = (
    "Nothing that the record tells of is otherwise now, and the model file is the same to its last byte: the answer's "
    "record or this engine is wrong."
)


class CannotReplay(Exception):
    """``str()`` is the sentence for people."""


@dataclass(slots=True)
class Outcome:
    """``compared`` tokens were made again. ``place``: index of the first that differs; None: all are the same.
    ``words``: what was found, and where it differs the likely cause; ``circumstances``: what is otherwise now."""

    manner: Manner
    compared: int
    place: int | None
    words: str
    difference: Difference | None = None
    now: int | None = None
    """The token that stands at ``place`` now; None behind the end."""
    circumstances: list[str] = field(default_factory=list)
    undrafted: str | None = None
    """Why the draft model of then proposed nothing, where it was to; None otherwise."""

    @property
    def identical(self) -> bool:
        return self.place is None


def wanted_pair(answer: KeptAnswer) -> LoadSettings:
    """The files, context, threads and mode that answered then. Raises CannotReplay where the file is another one."""
    receipt = answer.receipt
    if (trouble := file_trouble(receipt.target)) is not None:
        raise CannotReplay(f"The answer cannot be made again: {trouble}")
    draft = receipt.draft if receipt.draft and file_trouble(receipt.draft) is None else None
    return LoadSettings(
        target=ModelFile(path=receipt.target.path, gpu_layers=receipt.target.gpu_layers),
        draft=ModelFile(path=draft.path, gpu_layers=draft.gpu_layers) if draft else None,
        context=receipt.context,
        threads=receipt.threads,
        mode="exact" if receipt.mode.startswith(EXACT) else "fast",
    )


def manner_of(how: str, answer: KeptAnswer) -> Manner:
    """``as-was``: anew with the same speculation where the mode was exact, else by its own passes, since in fast mode
    the cache may have been filled by the turns before."""
    if how != "as-was":
        return how  # type: ignore[return-value]
    return answer.receipt.settings.speculation if answer.receipt.mode == EXACT else "passes"


def holds(pair: PairInfo | None, answer: KeptAnswer, manner: Manner) -> bool:
    """Whether what is loaded is as good as what answered, so that nothing has to be loaded anew."""
    if pair is None:
        return False
    receipt = answer.receipt
    drafts = [None if draft is None else draft.fingerprint for draft in (pair.draft, receipt.draft)]
    return (
        (pair.target.path, pair.target.fingerprint) == (receipt.target.path, receipt.target.fingerprint)
        and (pair.target.gpu_layers, pair.context) == (receipt.target.gpu_layers, receipt.context)
        and pair.threads == receipt.threads
        and pair.badge.startswith(EXACT) == receipt.mode.startswith(EXACT)
        and (manner not in ("draft", "auto") or drafts[0] == drafts[1])
    )


async def make_again(
    engine: Engine,
    answer: KeptAnswer,
    manner: Manner,
    versions: dict[str, str],
    watch: Watch = lambda step: None,
) -> Outcome:
    """Read the model's file, where it may be another one, hold the pair of :func:`wanted_pair`, make the answer again
    and compare. Raises CannotReplay."""
    if not answer.token_ids:
        raise CannotReplay(NO_TOKENS)
    load, undrafted = wanted_pair(answer), _missing_draft(answer, manner)
    if (trouble := await other_contents(answer.receipt.target, watch)) is not None:
        raise CannotReplay(f"The answer cannot be made again: {trouble}")
    if not holds(engine.pair, answer, manner):
        watch(Step(LOADING))
        async with aclosing(engine.load(load)) as events:
            async for event in events:
                if isinstance(event, Loading):
                    watch(of_loading(event))
                if isinstance(event, Failed):
                    raise CannotReplay(event.message)
    if engine.pair is None:
        raise CannotReplay("The engine ended before the answer was made again. Try again.")
    if undrafted is None and answer.receipt.draft is not None and manner in ("draft", "auto"):
        undrafted = engine.pair.draft_refused and f"it was refused: {engine.pair.draft_refused}."
    if undrafted is not None and manner == "draft":
        raise CannotReplay(f"The answer cannot be made again with its draft model: {undrafted}")
    circumstances = [*answer.doubts, *differences(answer.receipt, engine.pair, versions)]
    if manner == "passes":
        outcome = await _by_passes(engine, answer, watch)
    else:
        outcome = await _anew(engine, answer, manner, watch)
    outcome.circumstances, outcome.undrafted = circumstances, undrafted
    outcome.words = _words(answer, outcome)
    return outcome


def _missing_draft(answer: KeptAnswer, manner: Manner) -> str | None:
    """Why the draft of then cannot be loaded, where it is to propose. Raises CannotReplay where there was none."""
    draft = answer.receipt.draft
    if draft is not None:
        return file_trouble(draft) if manner in ("draft", "auto") else None
    if manner == "draft":
        raise CannotReplay("The answer was made without a draft model, so none can make it again; auto and lookup can.")
    return None


async def _by_passes(engine: Engine, answer: KeptAnswer, watch: Watch) -> Outcome:
    watch(Step(READING))
    async with aclosing(engine.replay(_replay(answer, answer.token_ids))) as events:
        async for event in events:
            if isinstance(event, Failed):
                raise CannotReplay(event.message)
            if isinstance(event, Prefilling):
                watch(of_passes(event, len(answer.receipt.prompt_ids)))
            if isinstance(event, Replayed):
                found = event.difference
                place, now = (found.index, found.chosen) if found else (None, None)
                return Outcome("passes", event.compared, place, "", found, now)
    raise CannotReplay("The engine's reply has no end.")


def _replay(answer: KeptAnswer, token_ids: tuple[int, ...], watch: tuple[int, ...] = ()) -> Replay:
    receipt = answer.receipt
    return Replay(
        id=0,
        prompt_ids=receipt.prompt_ids,
        token_ids=token_ids,
        continued_from=receipt.continued_from,
        passes=receipt.passes,
        sampling=receipt.settings.sampling,
        seed=receipt.seed,
        watch=watch,
    )


async def _probabilities(engine: Engine, answer: KeptAnswer, place: int, now: int) -> Difference | None:
    """What the model gives the token that stood at ``place`` and the one that stands there now; None where that cannot
    be computed here."""
    then = answer.token_ids[place]
    async with aclosing(engine.replay(_replay(answer, answer.token_ids[: place + 1], (now,)))) as events:
        async for event in events:
            if isinstance(event, Replayed) and then in event.watched and now in event.watched:
                share = event.watched
                return Difference(
                    index=place,
                    expected=then,
                    chosen=now,
                    expected_probability=share[then],
                    chosen_probability=share[now],
                    width=1,
                )
    return None


async def _anew(engine: Engine, answer: KeptAnswer, mode: SpeculationMode, watch: Watch) -> Outcome:
    count, done = len(answer.token_ids), 0
    request = answer.request().model_copy(update={"speculation": mode, "fresh": True, "max_tokens": count})
    watch(Step(READING))
    async with aclosing(engine.generate(request)) as events:
        async for event in events:
            if isinstance(event, Failed):
                raise CannotReplay(event.message)
            if isinstance(event, Prefilling):
                watch(Step(READING, event.done, event.total, tokens=True))
            if isinstance(event, TextDelta):
                done += len(event.token_ids)
                watch(Step(COMPARING, done, count, tokens=True))
            if isinstance(event, Finished):
                place, ids = fork(answer.token_ids, event.token_ids), event.token_ids
                now = ids[place] if place is not None and place < len(ids) else None
                found = Outcome(mode, len(ids), place, "", now=now)
                break
        else:
            raise CannotReplay("The engine's reply has no end.")
    if found.place is not None and found.now is not None and found.place < count:
        watch(Step(ASKING))
        found.difference = await _probabilities(engine, answer, found.place, found.now)
    return found


def _words(answer: KeptAnswer, outcome: Outcome) -> str:
    how = how_words(answer, outcome.manner)
    if outcome.undrafted is not None:
        how += f", by lookup alone since the draft model of then could not propose ({outcome.undrafted.rstrip('.')})"
    if outcome.place is None:
        words = f"Identical: {many(outcome.compared, 'token')} made again {how}."
        return f"{words} {TEXT_CHANGED}" if answer.text_changed else words
    words = f"Different from token {outcome.place + 1} of {len(answer.token_ids):,} on, made again {how}."
    if causes := [found for found in outcome.circumstances if found not in (TEXT_CHANGED, UNSEALED)]:
        return f"{words} {causes[0].rstrip('.')}; that is the likely cause."
    if _passes_lost(answer):
        return f"{words} {PASSES_LOST}"
    if outcome.manner != "passes" and not answer.receipt.mode.startswith(EXACT):
        return f"{words} In fast mode passes of another width may round otherwise: try it by its own passes."
    return f"{words} {UNEXPLAINED if answer.receipt.target.sha256 is None else WHOLE_FILE}"


def how_words(answer: KeptAnswer, manner: Manner) -> str:
    """In which way it is made again."""
    if manner != "passes":
        return f"with speculation {manner}"
    return "by the passes it was made by" if answer.receipt.passes else "plainly, a token a pass"


def _passes_lost(answer: KeptAnswer) -> bool:
    """Whether the widths of its passes matter and are not known: only an answer's end tells them."""
    return not answer.receipt.passes and not answer.receipt.mode.startswith(EXACT)
