"""What there is to say about one entry: what it is, under which licence, what it needs, what drafts for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from app.library.conclusion import conclusion
from app.library.entries import pair_fit
from app.library.inventory import Inventory, PairHere
from app.library.local import LocalModel
from app.library.partly import Begun
from app.library.records import Check, Fact, Getting, Tone
from app.library.room import Room
from app.library.verdicts import DraftVerdict, judge_drafts
from app.library.words import of_words
from engine.files.fit import Fit, context_of
from engine.files.sizes import size_words


def pair_facts(here: PairHere, inventory: Inventory, room: Room) -> Iterator[Fact]:
    """A pair of the catalogue."""
    pair = here.pair
    yield Fact("about", pair.for_whom)
    licences = dict.fromkeys(pair.licence_of(source.source) for source in here.sources)
    yield Fact("licence", "; ".join(f"{name}, {url}" for name, url in licences))
    if pair.gated:
        yield Fact("access", "gated: the hub gives it to accounts that accepted its licence", "warn")
    yield from _draft_of_pair(here, inventory)
    yield from _memory_of_pair(here, room)
    for source in here.sources:
        yield _file_of_source(source.role, source.source.file, source.source.repo, source.model, source.begun)


def model_facts(model: LocalModel, inventory: Inventory, room: Room, target: LocalModel | None) -> Iterator[Fact]:
    """A model on this disk. ``target``: the one that answers now, for which this one might draft."""
    if model.why_not is not None:
        yield Fact("trouble", f"{model.why_not}.", "warn")
    about = [model.architecture or "", model.size_label, model.quantization or ""]
    if model.context_trained:
        about.append(f"trained for {model.context_trained:,} tokens of context")
    yield Fact("about", " · ".join(part for part in about if part) or "nothing is known of it")
    if model.usable:
        if target is not None and target.path != model.path:
            yield _as_draft(draft_verdict(target, model, inventory), target)
        yield from fit_facts(room.fit(model.shape))
        drafts = [
            verdict for verdict in judge_drafts(model, inventory.models, inventory.measured) if verdict.kind == "fits"
        ]
        best = next((verdict for verdict in drafts if verdict.draft is not None), None)
        if best is not None and best.draft is not None:
            yield Fact("drafts", f"{best.draft.title} fits: {best.reason}")
    yield Fact("file", _place(model))


def coming_fact(here: int, size: int | None) -> Fact:
    """How far a download is."""
    return Fact("about", f"a download that has not ended: {of_words(here, size)} are here")


def begun_facts(begun: Begun, getting: Getting | None = None) -> Iterator[Fact]:
    """A download that has not ended; ``getting``: as it goes on now."""
    yield coming_fact(getting.done, getting.total) if getting is not None else coming_fact(begun.here, begun.size)
    if begun.again:
        yield Fact("", "the same version of the file is here, whole: nobody needs this any more")
    elif begun.anew:
        yield Fact("", "the file that it would replace is here and stays usable until then")
    yield Fact("file", ", ".join(str(part.path) for part in begun.parts))


def fit_facts(fit: Fit) -> Iterator[Fact]:
    """The estimate, part by part, and whether it is there."""
    tone: Tone = "warn" if fit.words == "does not fit" else "plain"
    yield Fact("memory", fit.sentence, tone)
    parts = sorted(fit.estimate.parts, key=lambda part: -part.bytes)
    large = [f"{part.name} {size_words(part.bytes)}" for part in parts if part.bytes * 50 > fit.estimate.total]
    yield Fact("", " · ".join(large))


def draft_verdict(target: LocalModel, draft: LocalModel, inventory: Inventory) -> DraftVerdict:
    """Whether ``draft`` may draft for ``target``, and whether it would pay."""
    verdicts = judge_drafts(target, (draft,), inventory.measured)
    return next(verdict for verdict in verdicts if verdict.draft is not None)


def _draft_of_pair(here: PairHere, inventory: Inventory) -> Iterator[Fact]:
    target, draft = here.target.model, here.draft.model if here.draft is not None else None
    if here.draft is None:
        yield Fact("draft", "prompt lookup: free, needs no file, proposes what the text so far repeats")
    elif target is not None and draft is not None and here.whole:
        verdict = draft_verdict(target, draft, inventory)
        yield Fact("draft", verdict.reason, "plain" if verdict.kind == "fits" else "warn")
    else:
        yield Fact("draft", f"{here.draft.source.file}; whether it fits is judged once both files are here")


def _memory_of_pair(here: PairHere, room: Room) -> Iterator[Fact]:
    if (fit := pair_fit(here, room)) is not None:
        yield from fit_facts(fit)
        return
    needed = round(here.pair.memory * 1e9)
    have = [f"{size_words(room.free_memory)} are free"] if room.free_memory is not None else []
    have += [f"{size_words(room.on_gpus)} on the GPU"] if room.gpus else []
    tone: Tone = "warn" if room.holds(needed) is False else "plain"
    words = f"about {size_words(needed)} at {here.pair.context:,} tokens of context, {room.words(needed)}"
    yield Fact("memory", "; ".join([words, *have]), tone)


def _file_of_source(role: str, file: str, repo: str | None, model: LocalModel | None, begun: int) -> Fact:
    if model is not None and model.why_not is not None and not begun:
        return Fact(role, f"{_place(model)}: {model.why_not}", "warn")
    if model is not None and model.usable:
        return Fact(role, _place(model))
    if begun:
        return Fact(role, f"{file}, {size_words(begun)} are here")
    return Fact(role, f"{file}, not here" + (f" ({repo})" if repo else ""))


def _as_draft(verdict: DraftVerdict, target: LocalModel) -> Fact:
    words = f"for {target.name}: {verdict.reason}"
    return Fact("as draft", words, "plain" if verdict.kind == "fits" else "warn")


def _place(model: LocalModel) -> str:
    more = f" and {len(model.parts) - 1} more parts" if len(model.parts) > 1 else ""
    also = f"; also at {model.also_at[0]}" if model.also_at else ""
    return f"{model.path}{more}{also}"


def check_facts(
    target: LocalModel, draft: LocalModel | None, inventory: Inventory, room: Room, context: int | None = None
) -> Check:
    """Whether a target, alone or with a draft, can be used here, and why."""
    usable, facts = target.usable, [Fact("target", f"{target.title}, {target.path}")]
    if target.why_not is not None:
        facts.append(Fact("", f"cannot be used: {target.why_not}", "warn"))
    elif target.shape.undo == "none":
        facts.append(Fact("", "keeps one running state, so it is decoded plainly: nothing can be drafted for it"))
    verdict: DraftVerdict | None = None
    if draft is not None:
        verdict = draft_verdict(target, draft, inventory) if target.usable else None
        facts.append(Fact("draft", f"{draft.title}, {draft.path}"))
        if verdict is not None:
            facts.append(Fact("", verdict.reason, "plain" if verdict.kind == "fits" else "warn"))
            usable = usable and verdict.can_draft
        if usable and draft.context_trained and draft.context_trained < (asked := context_of(target.shape, context)):
            words = f"its window of {draft.context_trained:,} tokens is smaller than the context of {asked:,}"
            facts.append(Fact("", f"{words}: where the conversation is longer, it proposes nothing", "warn"))
    if target.usable:
        shape = draft.shape if draft is not None and usable else None  # the engine loads no draft that cannot serve
        fit = room.fit(target.shape, shape, context)
        facts += fit_facts(fit)
        if context is not None and target.context_trained and context > target.context_trained:
            words = f"{context:,} tokens are more than the {target.context_trained:,} that the model was trained for"
            facts.append(Fact("context", f"{words}; answers may degrade beyond that", "warn"))
        usable = usable and fit.words != "does not fit"
    return Check(usable, tuple(facts), conclusion(target, verdict, room, context))


def draft_facts(target: LocalModel, inventory: Inventory) -> Iterator[Fact]:
    """Prompt lookup and every model on this disk, each with the verdict on it as a draft."""
    label = "drafts"
    for verdict in judge_drafts(target, inventory.models, inventory.measured):
        if verdict.kind == "same file":
            continue
        draft = verdict.draft
        name = "prompt lookup" if draft is None else draft.title
        yield Fact(label, f"{name}: {verdict.reason}", "plain" if verdict.can_draft else "warn")
        label = ""


def at_path(inventory: Inventory, path: str) -> LocalModel | None:
    """The model that the file at ``path`` is, links followed."""
    if not path:
        return None
    wanted = {Path(path), Path(path).resolve()}
    return next((m for m in inventory.models if wanted & {m.path, m.path.resolve(), *m.parts, *m.also_at}), None)
