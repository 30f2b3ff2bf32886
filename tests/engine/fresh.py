"""The answer of an engine that has seen nothing before: a new process, and in it a new session for each question."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Question:
    """What :meth:`tests.engine.conftest.Driver.ask` is given."""

    turns: tuple[str, ...]
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class FreshAnswer:
    token_ids: tuple[int, ...]
    prompt_ids: tuple[int, ...]
    sources: str


_PROGRAM = """
import json, sys
from tests.engine.conftest import Driver
path, load, questions = json.load(sys.stdin)
for question in questions:
    driver = Driver()
    driver.load(path, **load)
    answer = driver.ask(*question["turns"], **question["settings"])
    print(json.dumps([answer.token_ids, answer.receipt.prompt_ids, answer.sources]))
    driver.session.unload()
"""


def in_a_fresh_process(path: Path, questions: list[Question], **load: Any) -> list[FreshAnswer]:
    """Ask each question of a session of its own, all in one new process (starting Python costs more than loading)."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        input=json.dumps([str(path), load, [asdict(question) for question in questions]]),
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    return [
        FreshAnswer(tuple(token_ids), tuple(prompt_ids), sources)
        for token_ids, prompt_ids, sources in map(json.loads, done.stdout.splitlines())
    ]
