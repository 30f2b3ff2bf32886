"""A receipt for reading: what the model was shown and what it said, token by token, and where each came from."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from app import receipt as figures
from app.receipt_sheet import attached
from app.replay.kept import KeptAnswer
from engine.files.header import HeaderError
from engine.files.pieces import Pieces

SOURCES: Final = {
    "t": "model",
    "l": "lookup",
    "d": "draft",
    "c": "correction",
    "b": "model, behind a draft",
}
"""Letters of :class:`engine.protocol.TextDelta`.sources in words."""


def as_json(answer: KeptAnswer) -> dict[str, Any]:
    """Everything that was kept, and the tokens spelled out where the file that answered is there."""
    pieces = _pieces(answer)
    return {
        "answer": answer.id,
        "chat": answer.chat,
        "finish_reason": answer.finish_reason,
        "text": answer.text,
        "stats": answer.stats.model_dump(mode="json"),
        "receipt": answer.receipt.model_dump(mode="json"),
        "prompt": [
            {"id": token, "text": _spelled(pieces, token), "from": "cache" if place < _cached(answer) else "read"}
            for place, token in enumerate(answer.receipt.prompt_ids)
        ],
        "tokens": [
            {"id": token, "text": _spelled(pieces, token), "from": SOURCES.get(source, source)}
            for token, source in zip(answer.token_ids, answer.sources, strict=False)
        ],
    }


def as_text(answer: KeptAnswer) -> list[str]:
    """The same for people, a line each. Texts of tokens are quoted and escaped: nothing in them acts."""
    receipt, pieces = answer.receipt, _pieces(answer)
    draft = f", draft {receipt.draft.name} {receipt.draft.fingerprint[:12]}" if receipt.draft else ""
    lines = [
        f'answer {answer.id} of the chat "{answer.chat}", {receipt.created}',
        f"model {receipt.target.name} {receipt.target.fingerprint[:12]}{draft}",
        f"mode {receipt.mode}, {receipt.backend}, {receipt.threads} threads, context {receipt.context:,}",
        f"seed {receipt.seed}, {_sampling(answer)}",
        f"template {receipt.template.name} {receipt.template.sha256[:12]}",
        figures.wide(answer.stats, receipt.drafter),
        *figures.notes(receipt),
        *(f"{row.label} {row.value}" for row in attached(receipt)),
        "",
        f"what the model was shown: {len(receipt.prompt_ids):,} tokens, {_cached(answer):,} of them from the cache",
    ]
    for place, token in enumerate(receipt.prompt_ids):
        lines.append(_line(place, token, "cache" if place < _cached(answer) else "", pieces))
    lines += ["", f"what it said: {len(answer.token_ids):,} tokens, ended by {answer.finish_reason}"]
    start = len(receipt.prompt_ids)
    for place, (token, source) in enumerate(zip(answer.token_ids, answer.sources, strict=False)):
        lines.append(_line(start + place, token, SOURCES.get(source, source), pieces))
    return lines


def _line(place: int, token: int, source: str, pieces: Pieces | None) -> str:
    text = _spelled(pieces, token)
    return f"{place:>7} {token:>8}  {source:<22} {'' if text is None else text}".rstrip()


def _spelled(pieces: Pieces | None, token: int) -> str | None:
    """Quoted, with everything that is no plain character escaped; None without the file."""
    if pieces is None:
        return None
    return ascii(pieces.bytes_of(token))[1:] if _broken(pieces, token) else repr(pieces.text([token]))


def _broken(pieces: Pieces, token: int) -> bool:
    try:
        pieces.bytes_of(token).decode()
    except UnicodeDecodeError:
        return True
    return False


def _cached(answer: KeptAnswer) -> int:
    return answer.stats.prompt_tokens_cached


def _sampling(answer: KeptAnswer) -> str:
    """What is not at its default."""
    sampling = answer.receipt.settings.sampling
    changed = sampling.model_dump(exclude_defaults=True)
    words = [f"temperature {sampling.temperature:g}"]
    words += [f"{name.replace('_', ' ')} {value}" for name, value in changed.items() if name != "temperature"]
    return ", ".join(words)


def _pieces(answer: KeptAnswer) -> Pieces | None:
    try:
        return Pieces(Path(answer.receipt.target.path))
    except (OSError, HeaderError):
        return None
