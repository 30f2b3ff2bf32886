"""An answer as the chat store keeps it, with everything that is needed to check it. Reads only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from app.chats.proof import ALTERED, TEXT_CHANGED, damaged_words
from app.chats.readonly import read_rows
from app.chats.records import Figures
from app.chats.seal import doubts
from engine.protocol import AnswerSoFar, GenerateSettings, Receipt
from engine.stats import Stats

_COLUMNS: Final = """
    SELECT m.id, c.title, m.content, f.finish_reason, f.token_ids, f.sources, f.stats, f.receipt, c.id
    FROM figures f JOIN messages m ON m.id = f.message JOIN conversations c ON c.id = m.conversation
    WHERE f.receipt IS NOT NULL AND c.deleted IS NULL AND m.state <> 'writing'
"""
_ONE: Final = f"{_COLUMNS} AND m.id = ?"
_LAST: Final = f"{_COLUMNS} AND (?1 IS NULL OR m.conversation = ?1) ORDER BY m.id DESC LIMIT ?2"


class DamagedRecordError(Exception):
    """An answer is there, but what was recorded of it cannot be read. ``str()`` is the sentence for people."""

    def __init__(self, answer: int) -> None:
        self.id = answer
        super().__init__(damaged_words(answer))


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """One answer that has ended, if only by a kill. ``id`` is the message's, by which people name it."""

    id: int
    chat: str
    text: str
    finish_reason: str
    token_ids: tuple[int, ...]
    sources: str
    stats: Stats
    receipt: Receipt
    doubts: tuple[str, ...] = ()
    """What tells that it is not as it was made, see :func:`app.chats.seal.doubts`."""
    chat_id: int | None = None
    """By which ``compare`` takes the chat; None on the screen, where it is open."""

    @property
    def altered(self) -> bool:
        """Whether its seal tells that the record was changed after it was made."""
        return ALTERED in self.doubts

    @property
    def text_changed(self) -> bool:
        """Whether its text is another one than was kept with its tokens."""
        return TEXT_CHANGED in self.doubts

    def request(self) -> GenerateSettings:
        """The request that it was given to, with what was found out on the way: prompt, seed, stop strings."""
        settings, receipt = self.receipt.settings, self.receipt
        asked = len(receipt.prompt_ids) - receipt.continued_from
        begun = receipt.prompt_ids[asked:]
        return settings.model_copy(
            update={
                "messages": (),
                "prompt_ids": receipt.prompt_ids[:asked],
                "answer_so_far": AnswerSoFar(token_ids=begun) if begun else None,
                "seed": receipt.seed,
                "stop": tuple(dict.fromkeys((*settings.stop, *receipt.stop))),
            }
        )


def kept_answer(store: Path, answer: int) -> KeptAnswer | None:
    """The answer with this id; None where there is none with a receipt. Raises DamagedRecordError and, like all that
    reads here, UnreadableStoreError."""
    found = next(iter(_read(store, _ONE, (answer,))), None)
    if isinstance(found, DamagedRecordError):
        raise found
    return found


def last_records(store: Path, chat: int | None = None, *, most: int = 1) -> list[KeptAnswer | DamagedRecordError]:
    """The newest answers of any chat, or of this one, newest first, with what is damaged in its place."""
    return _read(store, _LAST, (chat, most))


def _read(store: Path, query: str, values: Sequence[int | None]) -> list[KeptAnswer | DamagedRecordError]:
    return [_answer(row) for row in read_rows(store, query, values)]


def _answer(row: Sequence[Any]) -> KeptAnswer | DamagedRecordError:
    number, title, text, reason, ids, sources, stats, receipt, chat = row
    try:
        token_ids = tuple(int(token) for token in ids.split(",") if token)
        return KeptAnswer(
            number,
            title,
            text,
            reason,
            token_ids,
            sources,
            Stats.model_validate_json(stats),
            Receipt.model_validate_json(receipt),
            doubts(Figures(number, reason, token_ids, sources, stats, receipt), text),
            chat,
        )
    except ValueError:
        return DamagedRecordError(number)
