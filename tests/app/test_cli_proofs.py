"""``compare``, ``bench``, ``replay`` and ``receipt`` with the real engine and the starter model."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from app.chats.store import open_chats
from app.tui.names import full_name
from engine.client import EngineClient
from engine.protocol import ExactnessMode, Finished, GenerateSettings, LoadSettings, Message, ModelFile, Sampling
from engine.stats import FACTORS, FIGURES

ROOT = Path(__file__).resolve().parents[2]
SLIPSTREAM = Path(sys.executable).with_name("slipstream")
PROMPT = "Repeat this list twice: apple, pear, plum, apple, pear, plum."

Slipstream = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def slipstream(home: Path) -> Slipstream:
    environment = os.environ | {"SLIPSTREAM_HOME": str(home), "PYTHONPATH": str(ROOT)}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "app", *arguments],
            env=environment,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
        )

    return run


def answered(
    home: Path, model: Path, *, mode: ExactnessMode, answers: int = 3, prompt: str = PROMPT, tokens: int = 24
) -> list[int]:
    """A chat of several turns in the store, made by the engine itself; returns the answers' numbers."""
    home.mkdir(exist_ok=True)
    store = open_chats(home / "chats.sqlite", lambda notice: None)
    client = EngineClient(home / "engine.log")
    numbers = []

    async def talk() -> None:
        client.wanted = LoadSettings(target=ModelFile(path=str(model)), context=1024, mode=mode)
        chat = store.create_conversation()
        said: list[Message] = []
        parent = None
        for turn in range(answers):
            said.append(Message(role="user", content=prompt))
            parent = store.append_user(chat.id, prompt, parent=parent).id
            answer = store.start_answer(chat.id, parent=parent)
            sampling = Sampling(temperature=0.8 if turn % 2 else 0.0)
            wanted = GenerateSettings(
                messages=tuple(said), speculation="lookup", max_tokens=tokens, sampling=sampling, seed=turn
            )
            async with aclosing(client.generate(wanted)) as events:
                async for event in events:
                    if isinstance(event, Finished):
                        store.finish_answer(answer.id, event)
                        said.append(Message(role="assistant", content=event.text))
            parent = answer.id
            numbers.append(answer.id)
        await client.close()

    asyncio.run(talk())
    store.close()
    return numbers


def test_compare_runs_both_ways_and_finds_the_same_answer(slipstream: Slipstream) -> None:
    done = slipstream("compare", PROMPT, "--max-tokens", "24", "--temperature", "0.8", "--json", "--context", "1024")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["identical"] is True
    assert [run["way"] for run in found["runs"]] == ["off", "auto", "auto", "off", "auto", "off"]
    assert found["speedup"]["auto"]["count"] == 3
    if found["verdict"].startswith("auto was "):  # a busy machine may make a difference that is none of auto's doing
        assert "the difference is the machine's, not the drafter's" in found["verdict"]
    else:
        assert found["verdict"].startswith(("auto is ", "No difference between auto and off"))
    for run in found["runs"]:
        assert run["stats"]["prompt_tokens_cached"] == 0
        assert run["wall_seconds"] >= run["stats"]["total_seconds"]
    assert found["memory"]["off"] == found["memory"]["auto"] > 10**8
    if sys.platform == "linux":
        assert all(run["peak_memory"]["bytes"] > 10**8 for run in found["runs"])


def test_compare_shows_a_table_and_says_it_in_a_sentence(slipstream: Slipstream) -> None:
    done = slipstream("compare", PROMPT, "--max-tokens", "8", "--runs", "1", "--ways", "off,lookup:2")
    assert done.returncode == 0, done.stderr
    assert "whole answer" in done.stdout
    assert "Identical: 8 tokens in all 2 runs, exact" in done.stdout
    assert "lookup:2 was " in done.stdout
    assert "in one run: too few to say more." in done.stdout


def test_ctrl_c_ends_a_comparison_and_reports_what_is_whole(home: Path) -> None:
    command = [sys.executable, "-m", "app", "compare", PROMPT, "--runs", "100", "--max-tokens", "8", "--json"]
    environment = os.environ | {"SLIPSTREAM_HOME": str(home), "PYTHONPATH": str(ROOT)}
    engine_log = home / "log"
    process = subprocess.Popen(
        command, env=environment, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 60
    while not any(b"load_tensors" in log.read_bytes() for log in engine_log.glob("*.log")):  # until it is at work
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    found = json.loads(out)
    assert found["stopped"] is True
    assert process.returncode == 130


def test_compare_of_what_is_not_possible_says_why(slipstream: Slipstream) -> None:
    done = slipstream("compare", "x", "--ways", "off,draft")
    assert (done.returncode, done.stdout) == (1, "")
    assert "draft is not possible here: no draft model chosen." in done.stderr
    done = slipstream("compare", "x", "--ways", "off")
    assert "At least two ways are needed to compare" in done.stderr
    done = slipstream("compare", "--last")
    assert "There is no chat with an answer that has a receipt." in done.stderr


def test_bench_measures_own_prompts_and_keeps_the_results(slipstream: Slipstream, home: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(json.dumps({"prompt": PROMPT, "category": "lists"}) + "\n")
    done = slipstream("bench", "--prompts", str(file), "--runs", "1", "--max-tokens", "8", "--markdown")
    assert done.returncode == 0, done.stderr
    assert "| lists | auto |" in done.stdout
    assert "Identical answers by every way on the one prompt." in done.stdout
    (kept,) = (home / "bench").iterdir()
    assert len(json.loads(kept.read_text())["runs"]) == 2
    assert f"kept in {kept}" in done.stderr


def test_bench_prints_in_one_form_only(slipstream: Slipstream) -> None:
    done = slipstream("bench", "--json", "--csv")
    assert (done.returncode, done.stdout) == (1, "")
    assert "--json and --csv exclude each other: choose one of them." in done.stderr


def test_replay_tells_a_damaged_record_and_makes_the_others_again(
    slipstream: Slipstream, home: Path, smol_path: Path
) -> None:
    whole, broken = answered(home, smol_path, mode="exact", answers=2, tokens=4)
    with contextlib.closing(sqlite3.connect(home / "chats.sqlite")) as db, db:
        db.execute("UPDATE figures SET receipt = '{' WHERE message = ?", (broken,))
    words = f"The record of answer {broken} is damaged, or a later version of Slipstream wrote it."
    done = slipstream("replay", "last", "--count", "10")
    assert done.returncode == 1, done.stderr
    told, made = done.stdout.splitlines()
    assert told == f"answer {broken}: {words}"
    assert made.startswith(f"answer {whole}: Identical: ")
    for command in (("receipt", str(broken)), ("receipt", "last"), ("replay", str(broken))):
        done = slipstream(*command)
        assert (done.returncode, done.stdout) == (1, "")
        assert words in done.stderr


def test_replay_tells_another_build(slipstream: Slipstream, home: Path, smol_path: Path) -> None:
    (answer,) = answered(home, smol_path, mode="exact", answers=1, tokens=4)
    with contextlib.closing(sqlite3.connect(home / "chats.sqlite")) as db, db:
        db.execute("UPDATE figures SET receipt = json_set(receipt, '$.build', 'aaaaaaaaaaaa')")
    done = slipstream("replay", str(answer))
    assert done.returncode == 0, done.stderr
    assert "It was made by another build of llama.cpp (aaaaaaaaaaaa then, " in done.stdout


@pytest.mark.parametrize("mode", ["exact", "fast"])
def test_replay_makes_stored_answers_again(
    slipstream: Slipstream, home: Path, smol_path: Path, mode: ExactnessMode
) -> None:
    numbers = answered(home, smol_path, mode=mode)
    done = slipstream("replay", "last", "--count", "9", "--how", "passes", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert [result["answer"] for result in found] == numbers[::-1]
    assert [result["identical"] for result in found] == [True] * 3, found
    assert all(result["compared"] >= 4 for result in found)


def test_replay_anew_with_and_without_speculation(slipstream: Slipstream, home: Path, smol_path: Path) -> None:
    numbers = answered(home, smol_path, mode="exact", answers=2)
    for how in ("as-was", "off", "auto"):
        done = slipstream("replay", str(numbers[1]), "--how", how)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.startswith(f"answer {numbers[1]}: Identical: ")


def test_fifty_answers_come_out_again_after_a_restart(slipstream: Slipstream, home: Path, smol_path: Path) -> None:
    """Made in one process by off, lookup and auto in turn, at two temperatures; made again plainly in the next."""
    numbers = fifty_answers(home, smol_path)
    done = slipstream("replay", "last", "--count", "50", "--how", "off", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert [result["answer"] for result in found] == numbers[::-1]
    assert {result["how"] for result in found} == {"off"}
    assert sum(result["compared"] for result in found) > 300
    assert all(result["identical"] and result["details"] == [] for result in found), found


def fifty_answers(home: Path, model: Path) -> list[int]:
    """25 chats of two turns, twelve tokens an answer, in exact mode; returns the answers' numbers."""
    home.mkdir(exist_ok=True)
    store = open_chats(home / "chats.sqlite", lambda notice: None)
    client = EngineClient(home / "engine.log")
    numbers = []

    async def turn(said: list[Message], number: int) -> Finished:
        wanted = GenerateSettings(
            messages=tuple(said),
            speculation=("off", "lookup", "auto")[number % 3],
            max_tokens=12,
            sampling=Sampling(temperature=(0.0, 0.8)[number % 2]),
        )
        async with aclosing(client.generate(wanted)) as events:
            async for event in events:
                if isinstance(event, Finished):
                    return event
        raise AssertionError("no end")

    async def talk() -> None:
        client.wanted = LoadSettings(target=ModelFile(path=str(model)), context=1024, mode="exact")
        for number in range(50):
            if number % 2 == 0:
                chat, parent, said = store.create_conversation(), None, list[Message]()
            said.append(Message(role="user", content=f"Again: apple, pear, {number}, apple, pear,"))
            question = store.append_user(chat.id, said[-1].content, parent=parent)
            answer = store.start_answer(chat.id, parent=question.id)
            finished = await turn(said, number)
            store.finish_answer(answer.id, finished)
            said.append(Message(role="assistant", content=finished.text))
            parent = answer.id
            numbers.append(answer.id)
        await client.close()

    asyncio.run(talk())
    store.close()
    return numbers


def test_speeds_tells_what_the_store_knows(slipstream: Slipstream, home: Path, smol_path: Path) -> None:
    assert "No answer in your chats is long enough" in slipstream("speeds").stdout
    answered(home, smol_path, mode="exact", answers=2, prompt="Tell a long story about a river.", tokens=48)
    done = slipstream("speeds")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == f"{full_name(str(smol_path))} + lookup"
    assert "lookup, exact settings, untested" in done.stdout
    (group,) = json.loads(slipstream("speeds", "--json").stdout)
    assert (group["target"], group["speculation"], group["mode"]) == (
        str(smol_path),
        "lookup",
        "exact settings, untested",
    )
    assert all(answer["decode_tokens_per_second"] > 0 for answer in group["answers"])
    assert all("other_cores" in answer for answer in group["answers"])


def test_help_has_one_definition_of_every_figure(slipstream: Slipstream) -> None:
    said = slipstream("help", "figures").stdout
    names = [line.split()[0] for line in said.splitlines() if line and not line.startswith(" ")]
    assert names == [*FIGURES, *FACTORS]
    assert "median over pairs of alternating runs (in compare: 1.31x)" in " ".join(said.split())
    assert "(under an answer: tok/s)" in " ".join(said.split())


def test_a_planted_seed_and_a_planted_file_are_noticed(slipstream: Slipstream, home: Path, smol_path: Path) -> None:
    import sqlite3

    # A story: an answer that only quotes may well be the same with another seed.
    numbers = answered(home, smol_path, mode="exact", answers=2, prompt="Tell a long story about a river.", tokens=48)
    with sqlite3.connect(home / "chats.sqlite") as db:
        db.execute("UPDATE figures SET receipt = json_set(receipt, '$.seed', 12345) WHERE message = ?", (numbers[1],))
        db.execute(
            "UPDATE figures SET receipt = json_set(receipt, '$.target.fingerprint', 'abc') WHERE message = ?",
            (numbers[0],),
        )
    done = slipstream("replay", str(numbers[1]), "--how", "off")
    assert done.returncode == 2
    assert "Different from token" in done.stdout
    done = slipstream("replay", str(numbers[0]))
    assert done.returncode == 1
    assert "is another file than the one that answered (abc then, " in done.stdout
    with sqlite3.connect(home / "chats.sqlite") as db:  # as a file that was overwritten in its middle
        query = "UPDATE figures SET receipt = json_set(receipt, '$.target.sha256', ?) WHERE message = ?"
        db.execute(query, ("ab" * 32, numbers[1]))
    done = slipstream("replay", str(numbers[1]))
    assert done.returncode == 1
    assert "is another file than the one that answered (abababababab then, " in done.stdout


def test_a_planted_text_is_noticed(slipstream: Slipstream, home: Path, smol_path: Path) -> None:
    edited, whole = answered(home, smol_path, mode="exact", answers=2)
    with contextlib.closing(sqlite3.connect(home / "chats.sqlite")) as db, db:
        db.execute("UPDATE messages SET content = content || '!' WHERE id = ?", (edited,))
    done = slipstream("replay", "last", "--count", "2", "--how", "off", "--json")
    assert done.returncode == 2, done.stderr
    assert [(found["answer"], found["identical"], found["text_changed"]) for found in json.loads(done.stdout)] == [
        (whole, True, False),
        (edited, True, True),
    ]
    words = "The text of this answer was changed after it was made: what the chat shows is not what its tokens say"
    assert words in slipstream("receipt", str(edited)).stdout
    assert words not in slipstream("receipt", str(whole)).stdout


def test_the_receipt_tells_what_the_model_was_shown(slipstream: Slipstream, home: Path, smol_path: Path) -> None:
    numbers = answered(home, smol_path, mode="exact", answers=2)
    done = slipstream("receipt", str(numbers[1]))
    assert done.returncode == 0, done.stderr
    assert "'<|im_start|>'" in done.stdout
    assert "of them from the cache" in done.stdout
    assert "lookup" in done.stdout
    found = json.loads(slipstream("receipt", "last", "--json").stdout)
    assert found["answer"] == numbers[1]
    shown = "".join(token["text"] for token in found["prompt"])
    assert "apple" in shown
    done = slipstream("receipt", "seven")
    assert "An answer is named by its number, or by the word last, not 'seven'." in done.stderr
    done = slipstream("receipt", "7")
    assert "There is no answer 7 with a receipt." in done.stderr


def test_score_measures_the_pair_and_names_what_limits_it(slipstream: Slipstream) -> None:
    done = slipstream("score", "--max-tokens", "8", "--runs", "1", "--context", "1024", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    names = [row["name"] for row in found["rows"]]
    assert names[:2] == ["longer passes", "break-even"]
    assert found["limit"].startswith("What limits it: ")
    assert found["best"] in ("off", "lookup", "auto")
    assert found["runs"] == 24
    done = slipstream("score", "--own-chats")
    assert "This model has answered nothing in your chats yet; leave out --own-chats." in done.stderr
    done = slipstream("score", "nowhere.gguf")
    assert "nowhere.gguf" in done.stderr
    assert done.returncode == 1
    done = slipstream("score", "nowhere.gguf", "--model", "elsewhere.gguf")
    assert "It is named twice, as PAIR and with --model." in done.stderr
    assert done.returncode == 1
