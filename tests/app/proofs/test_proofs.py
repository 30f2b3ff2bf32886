"""``compare``, ``bench``, ``score`` and ``speeds`` with the real engine and the starter model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from app.tui.names import full_name
from engine.stats import FACTORS, FIGURES
from tests.app.proofs.stored import PROMPT, Slipstream, answered

ROOT = Path(__file__).resolve().parents[3]


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
