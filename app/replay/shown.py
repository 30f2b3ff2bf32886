"""A receipt for reading: what the model was shown and what it said, token by token, and where each came from."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from app import receipt as figures
from app.percent import finely
from app.receipt_sheet import attached
from app.replay.again import Outcome
from app.replay.circumstances import file_trouble
from app.replay.kept import KeptAnswer
from app.tui.names import model_name
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
UNSPELLED: Final = "the file that answered is not there as it was, so tokens are shown by their numbers"


def as_json(answer: KeptAnswer) -> dict[str, Any]:
    """Everything that was kept, and the tokens spelled out where the file that answered is there."""
    pieces = _pieces(answer)
    return {
        "answer": answer.id,
        "chat": answer.chat,
        "chat_id": answer.chat_id,
        "finish_reason": answer.finish_reason,
        "doubts": list(answer.doubts),
        "text": answer.text,
        "stats": answer.stats.model_dump(mode="json"),
        "receipt": answer.receipt.model_dump(mode="json"),
        "prompt": [
            {**_token(pieces, token), "from": "cache" if place < _cached(answer) else "read"}
            for place, token in enumerate(answer.receipt.prompt_ids)
        ],
        "tokens": [
            {**_token(pieces, token), "from": SOURCES.get(source, source)}
            for token, source in zip(answer.token_ids, answer.sources, strict=False)
        ],
        "spans": [{"from": span.source, "tokens": span.tokens, "text": span.text} for span in spans(answer, pieces)],
    }


def as_text(answer: KeptAnswer) -> list[str]:
    """The same for people, a line each. Texts of tokens are quoted and escaped: nothing in them acts."""
    receipt, pieces = answer.receipt, _pieces(answer)
    draft = f", draft {model_name(receipt.draft)} {receipt.draft.fingerprint[:12]}" if receipt.draft else ""
    whole = f", the whole file {receipt.target.sha256[:12]}" if receipt.target.sha256 else ""
    lines = [
        f'answer {answer.id} of the chat "{answer.chat}" ({answer.chat_id}), {receipt.created}',
        *answer.doubts,
        f"model {model_name(receipt.target)} {receipt.target.fingerprint[:12]}{whole}{draft}",
        f"mode {receipt.mode}, {receipt.backend}, {receipt.threads} threads, context {receipt.context:,}",
        f"seed {receipt.seed}, {_sampling(answer)}",
        f"template {receipt.template.name} {receipt.template.sha256[:12]}",
        figures.line_of(answer.stats, receipt),
        *figures.notes(receipt),
        *(f"{row.label} {row.value}" for row in attached(receipt)),
        *([figures.continued(receipt)] if receipt.continued_from else []),
        *([UNSPELLED] if pieces is None else []),
        "",
        "who said what",
        *(f"{span.source:<22} {span.tokens:>5}  {span.text!r}" for span in spans(answer, pieces)),
        "",
        f"what the model was shown: {len(receipt.prompt_ids):,} tokens, {_cached(answer):,} of them from the cache",
    ]
    for place, token in enumerate(receipt.prompt_ids):
        lines.append(_line(place, token, "cache" if place < _cached(answer) else "", pieces))
    lines += ["", f"what it said: {len(answer.token_ids):,} tokens, {_ended(answer)}"]
    start = len(receipt.prompt_ids)
    for place, (token, source) in enumerate(zip(answer.token_ids, answer.sources, strict=False)):
        lines.append(_line(start + place, token, SOURCES.get(source, source), pieces))
    return lines


@dataclass(frozen=True, slots=True)
class Span:
    """Tokens behind each other that came from the same source, and their text."""

    source: str
    tokens: int
    text: str


def spans(answer: KeptAnswer, pieces: Pieces | None) -> list[Span]:
    """The answer in stretches by who said them; the text by the receipt's own lengths, else by the model's file. A
    text that was changed is not cut into what was said."""
    lengths = answer.receipt.text_lengths
    kept = len(lengths) == len(answer.token_ids) and not answer.text_changed
    found: list[Span] = []
    at, start = 0, max(0, len(answer.text) - sum(lengths))  # an answer that was continued has more text
    for letter, group in groupby(answer.sources[: len(answer.token_ids)]):
        count = len(list(group))
        ids = answer.token_ids[at : at + count]
        end = start + sum(lengths[at : at + count])
        text = answer.text[start:end] if kept else pieces.text(ids) if pieces is not None else ""
        found.append(Span(SOURCES.get(letter, letter), count, text))
        at, start = at + count, end
    return found


def details(answer: KeptAnswer, outcome: Outcome) -> list[str]:
    """Below an outcome: the two tokens where it differs, with what the model gives them, and what else is otherwise."""
    lines = []
    if outcome.place is not None:
        pieces, then = _pieces(answer), answer.token_ids[outcome.place : outcome.place + 1]
        names = [_named(pieces, token) for token in (then[0] if then else None, outcome.now)]
        shares = ["", ""]
        if (found := outcome.difference) is not None:
            shares = [f", {finely(found.expected_probability)} by the model", f", {finely(found.chosen_probability)}"]
        lines.append(f"then {names[0]}{shares[0]}; now {names[1]}{shares[1]}")
    return lines + [words for words in outcome.circumstances if words not in outcome.words]


def _ended(answer: KeptAnswer) -> str:
    return figures.ended(answer.finish_reason, answer.stats, answer.receipt) or f"ended by {answer.finish_reason}"


def _named(pieces: Pieces | None, token: int | None) -> str:
    if token is None:
        return "nothing more"
    text = _spelled(pieces, token)
    return f"token {token}" if text is None else f"{text} (token {token})"


def _line(place: int, token: int, source: str, pieces: Pieces | None) -> str:
    text = _spelled(pieces, token)
    return f"{place:>7} {token:>8}  {source:<22} {'' if text is None else text}".rstrip()


def _token(pieces: Pieces | None, token: int) -> dict[str, Any]:
    """For programs: the text as it is, and the bytes where they are only a part of a character."""
    if pieces is None:
        return {"id": token, "text": None}
    told: dict[str, Any] = {"id": token, "text": pieces.text([token])}
    return told | {"bytes": list(pieces.bytes_of(token))} if _broken(pieces, token) else told


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
    words += [f"{name.replace('_', ' ')} {_setting(value)}" for name, value in changed.items() if name != "temperature"]
    return ", ".join(words)


def _setting(value: object) -> str:
    """A value in words: texts of a list quoted, one behind the other."""
    if isinstance(value, tuple):
        return ", ".join(map(repr, value)) or "none"
    return str(value)


def _pieces(answer: KeptAnswer) -> Pieces | None:
    """What tokens stand for; None where the file that answered is gone or another one: its pieces would be others."""
    if file_trouble(answer.receipt.target) is not None:
        return None
    try:
        return Pieces(Path(answer.receipt.target.path))
    except (OSError, HeaderError):
        return None
