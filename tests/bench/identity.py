"""Same seed, same answer, counted on a real model: ``python -m tests.bench.identity``.

Fifty prompts at three temperatures in exact mode: with lookup, with a draft model and in ``auto`` the answer must be
plain decoding's, token for token. Then a seeded walk through chats that grow, are cancelled, edited, regenerated and
left, with every speculation mode and with drafts put in and taken out; now and then a question from the first part
is asked again and must get the answer it got in the beginning. Last, some are asked in fresh processes.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from engine.protocol import (
    Event,
    Finished,
    Generate,
    GenerateSettings,
    Load,
    Loaded,
    LoadSettings,
    Message,
    ModelFile,
    Sampling,
    SpeculationMode,
    TextDelta,
)
from engine.session import Session
from tests.bench.figures import fork
from tests.bench.pairs import DEFAULT_FOLDER, smol, smol_q2_k
from tests.bench.work import Prompt, load_work, many
from tests.bench.worker import Worker

TEMPERATURES = (0.0, 0.7, 1.2)
MODES: tuple[SpeculationMode, ...] = ("lookup", "draft", "auto")
CONTEXT = 4096
DRAFT_LENGTHS = (None, 1, 3, 7)


_screen = sys.stderr


def say(text: str) -> None:
    print(text, file=_screen, flush=True)


def send_the_log_to(path: Path) -> None:
    """What llama.cpp says goes to a file; what we say stays on the terminal's stderr."""
    global _screen
    _screen = os.fdopen(os.dup(2), "w")
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 2)
    os.close(log)


class Talker:
    """One session, asked in this process."""

    def __init__(self, target: Path, draft: Path) -> None:
        self.session = Session()
        self._target, self._draft = target, draft
        self._id = 0
        self.load(with_draft=True)

    def load(self, *, with_draft: bool) -> None:
        """The pair, or the target alone."""
        settings = LoadSettings(
            target=ModelFile(path=str(self._target), gpu_layers=0),
            draft=ModelFile(path=str(self._draft), gpu_layers=0) if with_draft else None,
            context=CONTEXT,
            mode="exact",
        )
        events: list[Event] = []
        self._id += 1
        self.session.abort.clear()
        self.session.load(Load(id=self._id, settings=settings), events.append)
        if not isinstance(events[-1], Loaded):
            sys.exit(f"loading failed: {events[-1]}")

    def ask(
        self,
        messages: Sequence[Message],
        speculation: SpeculationMode,
        *,
        seed: int,
        temperature: float,
        tokens: int,
        draft_max: int | None = None,
        cancel_after: int | None = None,
    ) -> Finished:
        """``cancel_after``: stop when so many tokens have been shown."""
        last: list[Event] = []
        shown = 0

        def emit(event: Event) -> None:
            nonlocal shown
            last[:] = [event]
            if isinstance(event, TextDelta):
                shown += len(event.token_ids)
                if cancel_after is not None and shown >= cancel_after:
                    self.session.abort.set()

        settings = GenerateSettings(
            messages=tuple(messages),
            sampling=Sampling(temperature=temperature),
            seed=seed,
            speculation=speculation,
            draft_max=draft_max,
            max_tokens=tokens,
        )
        self._id += 1
        self.session.abort.clear()
        self.session.generate(Generate(id=self._id, settings=settings), emit)
        if not isinstance(last[0], Finished):
            sys.exit(f"no answer: {last[0]}")
        return last[0]


class Count:
    """Comparisons and differences by kind; every difference is said at once."""

    def __init__(self) -> None:
        self.compared: Counter[str] = Counter()
        self.different: Counter[str] = Counter()

    def compare(self, kind: str, what: str, expected: Sequence[int], got: Sequence[int]) -> None:
        self.compared[kind] += 1
        place = fork(expected, got)
        if place is not None:
            self.different[kind] += 1
            say(f"DIFFERENT: {kind}, {what}: from token {place} on")

    def lines(self) -> list[str]:
        return [
            f"{kind}: {count - self.different[kind]} of {count} answers identical"
            for kind, count in self.compared.items()
        ]


Question = tuple[Prompt, float]


def user(text: str) -> Message:
    return Message(role="user", content=text)


def every_mode(talker: Talker, prompts: Sequence[Prompt], tokens: int, count: Count) -> dict[Question, list[int]]:
    """Part one; returns the plain answers."""
    answers: dict[Question, list[int]] = {}
    for number, prompt in enumerate(prompts):
        for temperature in TEMPERATURES:
            ask: dict[str, Any] = {"seed": prompt.seed, "temperature": temperature, "tokens": tokens}
            plain = list(talker.ask([user(prompt.text)], "off", **ask).token_ids)
            answers[prompt, temperature] = plain
            for mode in MODES:
                got = talker.ask([user(prompt.text)], mode, **ask).token_ids
                count.compare(f"{mode} against off", f"{prompt.id} T={temperature:g}", plain, got)
        say(f"{number + 1}/{len(prompts)} {prompt.id} {prompt.category}")
    return answers


def walk(talker: Talker, answers: dict[Question, list[int]], steps: int, tokens: int, seed: int, count: Count) -> None:
    """Part two: do what people do, and ask again."""
    chance = random.Random(seed)
    questions = list(answers)
    chats: list[list[Message]] = [[], [], []]
    with_draft = True
    done: Counter[str] = Counter()

    def talk(chat: list[Message], cancel_after: int | None = None) -> None:
        answer = talker.ask(
            chat,
            chance.choice(("off", *MODES)),
            seed=chance.randrange(1 << 30),
            temperature=chance.choice(TEMPERATURES),
            tokens=chance.randrange(4, 40),
            draft_max=chance.choice(DRAFT_LENGTHS),
            cancel_after=cancel_after,
        )
        chat.append(Message(role="assistant", content=answer.text))

    def turn(chat: list[Message]) -> None:
        chat.append(user(chance.choice(questions)[0].text[:400]))
        talk(chat)

    def cancel(chat: list[Message]) -> None:
        chat.append(user(chance.choice(questions)[0].text[:400]))
        talk(chat, cancel_after=chance.randrange(12))

    def edit(chat: list[Message]) -> None:
        if chat:
            del chat[chance.randrange(0, len(chat), 2) :]
        turn(chat)

    def regenerate(chat: list[Message]) -> None:
        if chat:
            chat.pop()
            talk(chat)

    def switch_draft(chat: list[Message]) -> None:
        nonlocal with_draft
        with_draft = not with_draft
        talker.load(with_draft=with_draft)

    deeds: list[Callable[[list[Message]], None]] = [turn, turn, cancel, edit, regenerate, switch_draft]
    for step in range(steps):
        chat = chance.choice(chats)
        if sum(len(message.content) for message in chat) > 6000:  # well within the window of 4,096 tokens
            chat.clear()
        deed = chance.choice(deeds)
        deed(chat)
        done[deed.__name__] += 1
        prompt, temperature = chance.choice(questions)
        mode: SpeculationMode = chance.choice(("off", *MODES))
        got = talker.ask(
            [user(prompt.text)],
            mode,
            seed=prompt.seed,
            temperature=temperature,
            tokens=tokens,
            draft_max=chance.choice(DRAFT_LENGTHS),
        )
        what = f"step {step}, {mode}, {prompt.id} T={temperature:g}"
        count.compare("asked again during a random walk", what, answers[prompt, temperature], got.token_ids)
        if (step + 1) % 10 == 0:
            say(f"walk {step + 1}/{steps}: {', '.join(f'{name} {times}' for name, times in sorted(done.items()))}")


def fresh(
    target: Path, draft: Path, answers: dict[Question, list[int]], number: int, tokens: int, folder: Path, count: Count
) -> None:
    """Part three: in processes that have done nothing else."""
    questions = list(answers)
    for prompt, temperature in questions[:: max(1, len(questions) // max(1, number))][:number]:
        with Worker("engine", folder / "identity.log") as worker:
            worker.call("load", target=str(target), draft=str(draft), mode="exact", context=CONTEXT, threads=None)
            ask: dict[str, Any] = {
                "text": prompt.text,
                "seed": prompt.seed,
                "temperature": temperature,
                "max_tokens": tokens,
            }
            got = worker.call("generate", speculation="auto", **ask)["tokens"]
        what = f"{prompt.id} T={temperature:g}"
        count.compare("asked in a fresh process", what, answers[prompt, temperature], got)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.identity", description=__doc__)
    parser.add_argument("--prompts", type=int, default=50)
    parser.add_argument("--tokens", type=int, default=64, help="most new tokens of an answer")
    parser.add_argument("--steps", type=int, default=60, help="length of the random walk")
    parser.add_argument("--seed", type=int, default=1, help="of the walk")
    parser.add_argument("--fresh", type=int, default=4, help="how many are asked in a fresh process")
    parser.add_argument("--target", type=Path, help="another target (default: SmolLM2 Q4_1)")
    parser.add_argument("--draft", type=Path, help="another draft (default: SmolLM2 Q2_K, made when missing)")
    parser.add_argument("--questions", type=Path, help="Spec-Bench's questions.jsonl")
    parser.add_argument("--folder", type=Path, default=DEFAULT_FOLDER)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    target = options.target or smol()
    draft = options.draft or smol_q2_k(options.folder, say)
    work = load_work(options.questions)
    prompts = many(work, options.prompts)
    say(f"{len(prompts)} prompts; {work.source}")
    send_the_log_to(options.folder / "identity.log")
    started, count = time.monotonic(), Count()
    try:
        talker = Talker(target, draft)
        answers = every_mode(talker, prompts, options.tokens, count)
        walk(talker, answers, options.steps, options.tokens, options.seed, count)
        talker.session.unload()
        fresh(target, draft, answers, options.fresh, options.tokens, options.folder, count)
    except KeyboardInterrupt:
        say("stopped: what was compared so far")
    print("\n".join(count.lines()))
    different, compared = sum(count.different.values()), sum(count.compared.values())
    print(
        f"{compared - different} of {compared} identical ({len(prompts)} prompts, {time.monotonic() - started:.0f} s)"
    )
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
