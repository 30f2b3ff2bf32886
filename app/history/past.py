"""The newest answers in the store with what is needed to hold one's speed against another's. Reads only, in one query
on a connection of its own; receipts are not read whole: the prompt's tokens stay in the store."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ANSWERS: Final = 1000
"""The newest answers that are looked at, of all pairs together."""

_QUERY: Final = """
    SELECT message,
        json_extract(receipt, '$.created', '$.mode', '$.target', '$.draft.path', '$.draft.fingerprint',
            '$.settings.speculation', '$.settings.draft_max', '$.backend', '$.threads', '$.versions', '$.build'),
        json_extract(stats, '$.decode_tokens_per_second', '$.output_tokens', '$.prompt_tokens', '$.speedup',
            '$.other_cores')
    FROM (SELECT message, receipt, stats FROM figures WHERE receipt IS NOT NULL ORDER BY message DESC LIMIT ?)
    WHERE json_valid(receipt) AND json_valid(stats)
    """


@dataclass(frozen=True, slots=True)
class Mode:
    """How an answer was made, as far as its speed may be held against others'."""

    speculation: str
    exact: bool

    def __str__(self) -> str:
        return f"{self.speculation}, {'exact' if self.exact else 'fast'}"


@dataclass(frozen=True, slots=True)
class PastAnswer:
    """One answer. ``target`` and ``draft``: paths, the draft's empty where there was none."""

    id: int
    created: str
    """UTC, ISO 8601."""
    name: str
    """Of the target, by its file."""
    target: str
    draft: str
    marks: tuple[str, str]
    """Fingerprints of the two files: another file at the same path is another model."""
    mode: Mode
    rate: float
    """Tokens a second while decoding."""
    tokens: int
    context: int
    """Tokens of prompt and answer at its end."""
    speedup: float | None
    other_cores: float | None
    """Processors that other programs kept busy meanwhile; None where that is unknown."""
    setup: Mapping[str, str]
    """What it was made with, by name: versions, threads, where it ran, how far it drafted."""


def read_past(file: Path | None, most: int = ANSWERS) -> list[PastAnswer]:
    """From the store ``file``, newest first; nothing where there is none, or none that can be read."""
    if file is None or not file.is_file():
        return []
    try:
        with contextlib.closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=1.0)) as db:
            rows = db.execute(_QUERY, (most,)).fetchall()
    except sqlite3.Error:
        return []
    found = (_answer(number, json.loads(receipt), json.loads(stats)) for number, receipt, stats in rows)
    return [answer for answer in found if answer is not None]


def _answer(number: int, receipt: Sequence[Any], stats: Sequence[Any]) -> PastAnswer | None:
    """None where something is missing that every receipt of ours has."""
    created, mode, target, draft, draft_mark, speculation, longest, backend, threads, versions, build = receipt
    rate, tokens, prompt, speedup, others = stats
    if not isinstance(target, dict) or not isinstance(rate, (int, float)) or not isinstance(tokens, int):
        return None
    path = str(target.get("path", ""))
    return PastAnswer(
        id=number,
        created=str(created or ""),
        name=path.replace("\\", "/").rpartition("/")[2].removesuffix(".gguf"),
        target=path,
        draft=str(draft or ""),
        marks=(str(target.get("fingerprint", "")), str(draft_mark or "")),
        mode=Mode(str(speculation or "auto"), str(mode).startswith("exact")),
        rate=float(rate),
        tokens=tokens,
        context=tokens + (prompt if isinstance(prompt, int) else 0),
        speedup=_number(speedup),
        other_cores=_number(others),
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
