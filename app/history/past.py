"""The newest answers in the store with what is needed to hold one's speed against another's. Reads only, in one query
on a connection of its own; receipts are not read whole: the prompt's tokens stay in the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from app.chats.readonly import read_rows
from app.json_text import parsed
from app.tui.names import full_name

ANSWERS: Final = 1000
"""The newest answers that are looked at, of all pairs together."""

UNTESTED: Final = "exact settings, untested"
"""As a receipt has it."""

_QUERY: Final = """
    SELECT message,
        CASE WHEN json_valid(receipt) THEN
            json_extract(receipt, '$.created', '$.mode', '$.target', '$.draft.path', '$.draft.name',
                '$.draft.fingerprint', '$.settings.speculation', '$.settings.draft_max', '$.backend', '$.threads',
                '$.versions', '$.build', '$.context')
        END,
        CASE WHEN json_valid(stats) THEN
            json_extract(stats, '$.decode_tokens_per_second', '$.output_tokens', '$.prompt_tokens', '$.speedup',
                '$.other_cores')
        END
    FROM (SELECT message, receipt, stats FROM figures WHERE receipt IS NOT NULL ORDER BY message DESC LIMIT ?)
    """


@dataclass(frozen=True, slots=True)
class Mode:
    """How an answer was made, as far as its speed may be held against others'."""

    speculation: str
    exact: bool
    """Also where that was not tested: it is as fast."""


@dataclass(frozen=True, slots=True)
class PastAnswer:
    """One answer. ``target`` and ``draft``: paths, the draft's empty where there was none."""

    id: int
    created: str
    """UTC, ISO 8601."""
    name: str
    """Of the target, as receipts write it."""
    target: str
    draft: str
    marks: tuple[str, str]
    """Fingerprints of the two files: another file at the same path is another model."""
    mode: Mode
    rate: float
    """Tokens a second while decoding."""
    tokens: int
    context: int
    """Tokens of prompt and answer at its end, as many of them as had a place in the context."""
    speedup: float | None
    other_cores: float | None
    """Processors that other programs kept busy meanwhile; None where that is unknown."""
    setup: Mapping[str, str]
    """What it was made with, by name: versions, threads, where it ran, how far it drafted."""
    draft_name: str = ""
    tested: bool = True
    """Whether the self-test had run where the mode is exact."""

    @property
    def pair(self) -> str:
        """As a receipt names it."""
        return f"{self.name} + {self.draft_name or 'lookup'}"


class Past(NamedTuple):
    """``damaged``: how many records cannot be read."""

    answers: list[PastAnswer]
    damaged: int = 0


def read_past(file: Path | None, most: int = ANSWERS) -> Past:
    """From the store ``file``, newest first; nothing where there is none. Raises UnreadableStoreError."""
    if file is None:
        return Past([])
    found, damaged = list[PastAnswer](), 0
    for number, receipt, stats in read_rows(file, _QUERY, (most,)):
        try:
            answer = _answer(number, parsed(receipt or ""), parsed(stats or ""))
        except ValueError:
            damaged += 1
        else:
            found += [answer] if answer is not None else []
    return Past(found, damaged)


def _answer(number: int, receipt: Sequence[Any], stats: Sequence[Any]) -> PastAnswer | None:
    """None for an answer that is too short to have a speed. ValueError where something is missing that every record
    of ours has."""
    created, mode, target, draft, draft_name, draft_mark, speculation, longest, *rest = receipt
    backend, threads, versions, build, size = rest
    rate, tokens, prompt, speedup, others = stats
    if not isinstance(target, dict) or not isinstance(tokens, int):
        raise ValueError
    if not isinstance(rate, (int, float)):
        return None
    path = str(target.get("path", ""))
    used = tokens + (prompt if isinstance(prompt, int) else 0)
    return PastAnswer(
        id=number,
        created=str(created or ""),
        name=full_name(path, str(target.get("name") or "")),
        target=path,
        draft=str(draft or ""),
        marks=(str(target.get("fingerprint", "")), str(draft_mark or "")),
        mode=Mode(str(speculation or "auto"), str(mode).startswith("exact")),
        rate=float(rate),
        tokens=tokens,
        context=min(used, size) if isinstance(size, int) and size else used,
        speedup=_number(speedup),
        other_cores=_number(others),
        draft_name=full_name(str(draft), str(draft_name or "")) if draft else "",
        tested=mode != UNTESTED,
        setup=_setup(versions, build, backend, threads, target.get("gpu_layers"), longest),
    )


def _setup(versions: Any, build: Any, backend: Any, threads: Any, layers: Any, longest: Any) -> dict[str, str]:
    """What matters most comes first; what an older receipt does not tell is left out."""
    named = {
        "what it runs on": backend,
        "the number of threads": threads,
        "the number of layers on the GPU": layers,
        "the longest draft": "auto" if longest is None else longest,
        "the build of llama.cpp": build,
        **(versions if isinstance(versions, dict) else {}),
    }
    return {name: str(value) for name, value in named.items() if value not in (None, "")}


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None
