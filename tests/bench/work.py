"""What is asked: the first turns of Spec-Bench's questions where they are at hand, else a bundled set of the same
thirteen categories; and in both cases the bundled copy-and-edit texts."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUNDLED = ROOT / "assets" / "bench.jsonl"
QUESTIONS_VARIABLE = "SLIPSTREAM_BENCH_QUESTIONS"
DEFAULT_QUESTIONS = ROOT.parent / "shared" / "spec-bench" / "questions.jsonl"

COPY_EDIT = "copy_edit"
CATEGORIES = (
    "writing roleplay reasoning math coding extraction stem humanities "
    "translation summarization qa math_reasoning rag copy_edit"
).split()
SHORT_FORM = ("extraction", "writing")
"""The two categories of the short form: one where lookup has something to find, one where it has nothing."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question. ``seed`` is fixed by its id, so every mode and every run draws the same noise."""

    id: str
    category: str
    text: str

    @property
    def seed(self) -> int:
        return zlib.crc32(self.id.encode())


@dataclass(frozen=True, slots=True)
class Work:
    """The prompts by category, and a sentence that says which set it is."""

    source: str
    prompts: dict[str, list[Prompt]]

    def choose(self, categories: Iterable[str], count: int, offset: int = 0) -> list[Prompt]:
        """``count`` prompts a category from number ``offset`` on (going round), first of all categories, then the
        second of all: a run that is cut short has seen every category."""
        known = [self.prompts[category] for category in categories if self.prompts.get(category)]
        return [
            prompts[(offset + number) % len(prompts)]
            for number in range(count)
            for prompts in known
            if number < len(prompts)
        ]


def load_work(questions: Path | None = None) -> Work:
    """The work. ``questions``: Spec-Bench's file (default: the environment's, then the usual place)."""
    place = questions or Path(os.environ.get(QUESTIONS_VARIABLE) or DEFAULT_QUESTIONS)
    bundled = read(BUNDLED.read_text(encoding="utf-8"))
    if place.is_file():
        found = read(place.read_text(encoding="utf-8"))
        found[COPY_EDIT] = bundled[COPY_EDIT]
        count = sum(map(len, found.values())) - len(found[COPY_EDIT])
        return Work(f"Spec-Bench ({count} questions, first turns) and {len(found[COPY_EDIT])} copy/edit texts", found)
    if questions is not None:
        raise FileNotFoundError(f"there are no questions at {questions}")
    return Work("the bundled prompts (Spec-Bench's file is not here)", bundled)


def read(text: str) -> dict[str, list[Prompt]]:
    """JSON lines with ``id``, ``category`` and ``turns``, the first of which is asked."""
    prompts: dict[str, list[Prompt]] = {}
    for line in text.splitlines():
        if line.strip():
            record = json.loads(line)
            prompt = Prompt(str(record["id"]), record["category"], record["turns"][0])
            prompts.setdefault(prompt.category, []).append(prompt)
    return prompts


def many(work: Work, count: int) -> Sequence[Prompt]:
    """``count`` prompts over all categories, for the identity check; fewer where there are fewer."""
    return work.choose(CATEGORIES, max(map(len, work.prompts.values())))[:count]
