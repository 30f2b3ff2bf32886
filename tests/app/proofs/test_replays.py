"""``replay`` and ``receipt`` with the real engine and the starter model."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path

import pytest

from app.replay.kept import KeptAnswer, last_records
from engine.protocol import ExactnessMode
from tests.app.proofs.stored import Slipstream, answered, many_answers


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
    numbers = many_answers(home, smol_path, mode="exact", answers=50)
    done = slipstream("replay", "last", "--count", "50", "--how", "off", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert [result["answer"] for result in found] == numbers[::-1]
    assert {result["how"] for result in found} == {"off"}
    assert sum(result["compared"] for result in found) > 300
    assert all(result["identical"] and result["details"] == [] for result in found), found


def test_fast_answers_come_out_again_by_their_own_passes_after_a_restart(
    slipstream: Slipstream, home: Path, smol_path: Path
) -> None:
    """Fast kernels round otherwise from width to width: what is stored of the passes has to be enough, behind turns
    whose cache was reused and drafts that were rejected, in a process that has seen none of it."""
    numbers = many_answers(home, smol_path, mode="fast", answers=8)
    kept = [one for one in last_records(home / "chats.sqlite", most=8) if isinstance(one, KeptAnswer)]
    assert {answer.receipt.mode for answer in kept} == {"fast"}
    assert any(answer.stats.prompt_tokens_cached for answer in kept), "a cache was reused"
    assert any(max(answer.stats.pass_widths) > 1 for answer in kept), "passes were wide"
    done = slipstream("replay", "last", "--count", "8", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert [result["answer"] for result in found] == numbers[::-1]
    assert {result["how"] for result in found} == {"passes"}, "fast answers are made again as they were"
    assert [result["compared"] for result in found] == [len(answer.token_ids) for answer in kept]
    assert all(result["identical"] and result["details"] == [] for result in found), found


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
