"""``slipstream replay`` and ``slipstream receipt``: what an answer was made of, and whether it comes out again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from app import paths
from app.clean import clean
from app.commands import client
from app.commands.errors import FAILED, CommandError, say
from app.commands.stdout import Progress, print_text
from app.replay import shown
from app.replay.again import CannotReplay, Outcome, make_again, manner_of
from app.replay.kept import DamagedRecordError, KeptAnswer, kept_answer, last_records
from app.replay.steps import Step
from engine.client import EngineClient
from engine.protocol import Failed

LAST: Final = "last"
DIFFERENT: Final = 2
"""The exit code where an answer does not come out as it was."""


def show_receipt(options: Mapping[str, Any]) -> int:
    """Print the receipt of one answer; returns 0."""
    answer = _answers(options["answer"], 1)[0]
    if isinstance(answer, DamagedRecordError):
        raise CommandError(str(answer))
    if options["as_json"]:
        print_text(json.dumps(shown.as_json(answer), indent=2, ensure_ascii=False))
    else:
        print_text(clean("\n".join(shown.as_text(answer))))
    return 0


def run_replay(options: Mapping[str, Any]) -> int:
    """Returns the exit code: 0 all are identical, 1 error, 2 one differs, or its text is not what its tokens say."""
    answers = _answers(options["answer"], options["count"])
    return asyncio.run(_replay(client.make_client(), answers, options["how"], as_json=options["as_json"]))


def _answers(name: str, count: int) -> list[KeptAnswer | DamagedRecordError]:
    """The answer of this id, or the newest ``count``."""
    store = paths.chats_file()
    if name == LAST:
        if found := last_records(store, most=count):
            return found
        raise CommandError("There is no answer with a receipt yet. Ask something in the chat first.")
    if not name.isdecimal():
        raise CommandError(f"An answer is named by its number, or by the word last, not {name[:40]!r}.")
    try:
        answer = kept_answer(store, int(name))
    except DamagedRecordError as error:
        raise CommandError(str(error)) from error
    if answer is None:
        raise CommandError(f"There is no answer {name} with a receipt. Its full receipt in the chat shows the number.")
    return [answer]


async def _replay(
    engine: EngineClient, answers: list[KeptAnswer | DamagedRecordError], how: str, *, as_json: bool
) -> int:
    progress, results = Progress(sparse=True), list[dict[str, Any]]()
    worst = 0
    try:
        described = await engine.describe()
        if isinstance(described, Failed):
            say(described.message)
            return FAILED
        for number, answer in enumerate(answers, start=1):
            place = f"answer {number}/{len(answers)}"
            progress.show(place)
            try:
                if isinstance(answer, DamagedRecordError):
                    raise CannotReplay(str(answer))
                watch = partial(_show, progress, place)
                outcome = await make_again(engine, answer, manner_of(how, answer), described.versions, watch)
            except CannotReplay as error:
                progress.clear()
                worst = max(worst, FAILED)
                results.append({"answer": answer.id, "identical": None, "words": str(error)})
            else:
                progress.clear()
                worst = worst if outcome.identical and not answer.text_changed else DIFFERENT
                results.append(_result(answer, outcome))
            if not as_json:
                for line in _lines(results[-1]):
                    print_text(clean(line))
    finally:
        await engine.close()
    if as_json:
        print_text(json.dumps(results, indent=2, ensure_ascii=False))
    return worst


def _show(progress: Progress, place: str, step: Step) -> None:
    progress.show(f"{place}: {step.words}")


def _result(answer: KeptAnswer, outcome: Outcome) -> dict[str, Any]:
    return {
        "answer": answer.id,
        "chat": answer.chat,
        "identical": outcome.identical,
        "text_changed": answer.text_changed,
        "how": outcome.manner,
        "compared": outcome.compared,
        "first_difference": outcome.place,
        "difference": outcome.difference.model_dump(mode="json") if outcome.difference else None,
        "words": outcome.words,
        "circumstances": outcome.circumstances,
        "details": shown.details(answer, outcome),
    }


def _lines(result: dict[str, Any]) -> list[str]:
    return [f"answer {result['answer']}: {result['words']}", *(f"  {words}" for words in result.get("details", ()))]
