"""The whole receipt of an answer, in sections of labelled values: what a screen lays out, and the JSON to copy.

Every figure brings its one definition from ``engine.stats.FIGURES``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from app import receipt
from app.percent import percent, shares, written
from app.percent import share as share_of
from app.receipt import DASH, duration
from engine.stats import FIGURES

if TYPE_CHECKING:
    from app.chats.records import Figures
    from engine.protocol import ModelInfo, Receipt, Sampling
    from engine.stats import DrafterStats, Stats

PHASES: Final = (
    ("waiting", "queue_seconds"),
    ("reading", "prefill_seconds"),
    ("reading, draft", "draft_prefill_seconds"),
    ("drafting", "draft_seconds"),
    ("verifying", "verify_seconds"),
    ("choosing", "choose_seconds"),
    ("other", "other_seconds"),
)
"""Where an answer's time goes, in the order in which it goes there."""

MODES: Final = {
    "exact": "the same tokens with and without drafts, tested on this machine",
    "exact settings, untested": "set up so that drafts leave the answer alone; not tested on this machine yet",
    "fast": "the fastest settings; rounding may differ between pass widths, and an answer with it",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A label, its value, and what that means."""

    label: str
    value: str
    meaning: str = ""


class Time(NamedTuple):
    """A part of an answer's time."""

    label: str
    seconds: float
    percent: int
    """Of the total, in whole ones that are 100 altogether."""
    meaning: str

    @property
    def share(self) -> str:
        """``12``, or ``<1``: a part that is there is never nothing."""
        return str(self.percent or "<1")


class Position(NamedTuple):
    """How often the proposal at this place of a draft was right, of how often it was looked at."""

    accepted: int
    verified: int


@dataclass(frozen=True, slots=True)
class Drafter:
    """What one drafter did."""

    name: str
    rows: tuple[Row, ...]
    positions: tuple[Position, ...]


def speed(stats: Stats) -> list[Row]:
    """How fast it was."""
    rate, prefill, first = receipt.decode_rate(stats), stats.prefill_tokens_per_second, stats.time_to_first_token
    return [
        _figure("tokens per second", _decimal(rate), "decode_tokens_per_second"),
        *([_figure("against plain", receipt.factor(stats), "speedup")] if stats.speedup is not None else []),
        _figure("tokens per pass", _decimal(stats.tokens_per_pass), "tokens_per_pass"),
        _figure("to the first token", DASH if first is None else duration(first), "time_to_first_token"),
        _figure(
            "prompt tokens per second", DASH if prefill is None else f"{prefill:,.0f}", "prefill_tokens_per_second"
        ),
        *([_figure("other programs", f"{stats.other_cores:.1f} cores", "other_cores")] if stats.other_cores else []),
    ]


def tokens(stats: Stats, proof: Receipt | None) -> list[Row]:
    """What was read and written."""
    cached = f"{stats.prompt_tokens_cached:,}"
    if stats.prompt_tokens:
        cached += f"  {share_of(stats.prompt_tokens_cached, stats.prompt_tokens)}"
    used, of = stats.context_used, ""
    if proof:
        used, of = receipt.context_used(stats, proof.context), f" of {proof.context:,}"
    return [
        _figure("prompt", f"{stats.prompt_tokens:,}", "prompt_tokens"),
        _figure("of it cached", cached, "prompt_tokens_cached"),
        *(
            [_figure("of it not read", f"{stats.prompt_tokens_unread:,}", "prompt_tokens_unread")]
            if stats.prompt_tokens_unread
            else []
        ),
        _figure("answer", f"{stats.output_tokens:,}", "output_tokens"),
        _figure("passes", f"{stats.target_passes:,}", "target_passes"),
        _figure("context", f"{used:,}{of}", "context_used"),
    ]


def ended(figures: Figures | None, stats: Stats, proof: Receipt | None) -> list[Row]:
    """How the answer ended, where that was not by itself."""
    words = receipt.ended(figures.finish_reason, stats, proof) if figures is not None else ""
    return [Row("ended", words)] if words else []


def drafts(stats: Stats) -> list[Row]:
    """What was proposed, and what became of it."""
    if not stats.drafted:
        return []
    return [
        _figure("acceptance", share_of(stats.accepted, stats.accepted + stats.rejected), "acceptance"),
        _figure("of the answer", share_of(stats.accepted, stats.output_tokens), "coverage"),
        _figure("proposed", f"{stats.drafted:,}", "drafted"),
        _figure("accepted", f"{stats.accepted:,}", "accepted"),
        _figure("rejected", f"{stats.rejected:,}", "rejected"),
        _figure("discarded", f"{stats.discarded:,}", "discarded"),
    ]


def drafters(stats: Stats) -> list[Drafter]:
    """The same for each drafter, and how right it was at each position of its drafts."""
    names = {"lookup": "lookup", "draft": "draft model"}
    return [
        Drafter(names[name], _counts(stats.drafters[name]), _positions(stats.drafters[name]))
        for name in stats.proposed_by
    ]


def times(stats: Stats) -> list[Time]:
    """The parts of the total time; what took none is left out."""
    parts = [(label, name, value) for label, name in PHASES if (value := getattr(stats, name)) > 0]
    percents = shares([value for _, _, value in parts])
    return [
        Time(label, value, share, FIGURES[name]) for (label, name, value), share in zip(parts, percents, strict=True)
    ]


def total(stats: Stats) -> list[Row]:
    """The time altogether, and what came before it."""
    rows = [_figure("altogether", duration(stats.total_seconds), "total_seconds")]
    if stats.load_seconds > 0:
        rows.append(_figure("loading before", duration(stats.load_seconds), "load_seconds"))
    return rows


def making(stats: Stats, proof: Receipt) -> list[Row]:
    """What is needed to make the answer again."""
    settings = proof.settings
    draft_max = f", {proof.draft_max} at most" if proof.draft_max else ""
    proposed = receipt.drafter_word(stats, proof.drafter)
    rows = [
        Row("mode", proof.mode, MODES.get(proof.mode, "")),
        Row("seed", str(proof.seed)),
        Row("speculation", f"{settings.speculation}: {proposed}{draft_max}", FIGURES["proposed_by"]),
        Row("sampling", _sampling(settings.sampling)),
    ]
    if settings.max_tokens is not None:
        rows.append(Row("token limit", f"{settings.max_tokens:,}"))
    if settings.stop:
        rows.append(Row("stop strings", "  ".join(repr(stop) for stop in settings.stop)))
    if proof.dropped_messages:
        rows.append(Row("left out", f"the {proof.dropped_messages} oldest messages"))
    return [*rows, *attached(proof)]


def attached(proof: Receipt) -> list[Row]:
    """The files that went along: name, beginning of the hash, and when they had been changed last."""
    return [
        Row("attached", f"{one.path}  {one.sha256[:12]}" + (f"  {_utc(one.modified)}" if one.modified else ""))
        for one in proof.attachments
    ]


def _utc(when: str) -> str:
    """``2026-11-29 15:00:00 UTC`` of an ISO time."""
    return when.replace("T", " ").removesuffix("Z").split("+")[0].split(".")[0] + " UTC"


def machine(proof: Receipt, figures: Figures | None = None) -> list[Row]:
    """What it was made with, and by which number commands take it, where it is kept."""
    target = proof.target
    rows = [Row("model", _file(target))]
    if proof.draft is not None:
        rows.append(Row("draft model", _file(proof.draft)))
    elif proof.draft_refused:
        rows.append(Row("draft refused", proof.draft_refused))
    template = "the model's own" if proof.template.name == "model" else proof.template.name
    rows += [
        Row("template", f"{template}  {proof.template.sha256[:12]}"),
        Row("context", f"{proof.context:,} tokens"),
        Row(
            "runs on",
            f"{receipt.backend_words(proof.backend, target.layers, target.gpu_layers)}, {proof.threads} threads",
        ),
        Row("prefill chunk", f"{proof.prefill_chunk:,} tokens"),
    ]
    rows += [Row(name, version) for name, version in proof.versions.items()]
    if proof.build:
        rows.append(Row("llama.cpp build", proof.build))
    rows.append(Row("made", _utc(proof.created)))
    if figures is not None:
        rows.append(
            Row("number", str(figures.message), "by which slipstream receipt and slipstream replay take the answer")
        )
    return rows


def as_json(stats: Stats, proof: Receipt | None, figures: Figures | None, text: str) -> str:
    """The receipt as ``slipstream ask --json`` writes it, indented."""
    told: dict[str, object] = {"text": text}
    if figures is not None:
        told |= {"finish_reason": figures.finish_reason, "token_ids": figures.token_ids, "sources": figures.sources}
    told |= {"stats": stats.model_dump(mode="json"), "receipt": proof.model_dump(mode="json") if proof else None}
    return json.dumps(told, ensure_ascii=False, indent=1)


def _figure(label: str, value: str, name: str) -> Row:
    return Row(label, value, FIGURES[name])


def _decimal(value: float | None) -> str:
    return DASH if value is None else f"{value:.1f}"


def _counts(counts: DrafterStats) -> tuple[Row, ...]:
    share = percent(counts.accepted, counts.accepted + counts.rejected)
    verified = counts.accepted + counts.rejected
    each = counts.drafted / counts.drafts if counts.drafts else 0.0
    return (
        Row("accepted", f"{counts.accepted:,} of {verified:,}" + (f"  {written(share)}" if share is not None else "")),
        Row("drafts", f"{counts.drafts:,}, {each:.1f} tokens each"),
    )


def _positions(counts: DrafterStats) -> tuple[Position, ...]:
    padded = (*counts.accepted_by_position, *[0] * len(counts.verified_by_position))
    return tuple(Position(right, seen) for right, seen in zip(padded, counts.verified_by_position, strict=False))


def _sampling(sampling: Sampling) -> str:
    """The links that do something, in llama.cpp's names."""
    if sampling.temperature == 0:
        return "temperature 0: always the likeliest token" + "".join(f", {name}" for name in _others(sampling))
    links = [f"temperature {sampling.temperature:g}"]
    if sampling.top_k:
        links.append(f"top_k {sampling.top_k}")
    if sampling.top_p < 1:
        links.append(f"top_p {sampling.top_p:g}")
    if sampling.min_p > 0:
        links.append(f"min_p {sampling.min_p:g}")
    return ", ".join([*links, *_others(sampling)])


def _others(sampling: Sampling) -> Iterator[str]:
    """What was changed beyond the usual four."""
    usual = {"temperature", "top_k", "top_p", "min_p"}
    for name, value in sampling.model_dump(exclude_defaults=True).items():
        if name in ("grammar", "json_schema"):
            yield f"a {name.replace('_', ' ')}"
        elif name == "logit_bias":
            yield f"{len(value)} logit biases"
        elif name not in usual:
            yield f"{name} {value}"


def _file(model: ModelInfo) -> str:
    name = model.path.replace("\\", "/").rsplit("/", 1)[-1]
    return f"{name}  {model.size_bytes / 1e6:,.0f} MB  {model.fingerprint[:12]}"
