"""The run for a GPU, tried on the processor with tiny models, and what it says where things are missing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.files.header import read_header
from tests.bench import gpu_report
from tests.bench.gpu_steps import Ballast, Setup, steps
from tests.bench.synthetic import BIG, TINY, WeightType, write_synthetic

ROOT = Path(__file__).resolve().parents[3]


def run(work: Path, out: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.bench.gpu", "--tiny", "--cpu", "--work", str(work), "--out", str(out)]
    return subprocess.run([*command, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=240)


def records(out: Path) -> dict[str, dict[str, Any]]:
    text = (out / "gpu.json").read_text()
    assert str(ROOT) not in text
    return {one["name"]: one for one in json.loads(text)}


def test_every_step_runs_on_a_cpu_with_tiny_models(tmp_path: Path) -> None:
    done = run(tmp_path / "work", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    found = records(tmp_path / "out")
    assert list(found) == list(steps(Setup(tmp_path, tiny=True, cpu=True)))
    assert {one["status"] for one in found.values()} == {"ok"}
    exact = found["self-test of the starter"]["findings"]["exact"]
    assert exact["self-test"]["widths"] >= 4
    assert exact["rounding"]["48"]["finite"]
    identity = found["identity with the starter"]["findings"]
    assert identity["forks"] == {"plain again": 0, "lookup": 0, "draft": 0, "auto": 0}
    assert identity["accepted of drafted"]["draft"]
    (cost,) = found["costs"]["findings"]["costs"]
    assert len(cost["V"]) == 16
    assert cost["D"] > 0
    assert found["cancel"]["findings"]["the next answer is as before"]
    (attempt,) = found["out of memory"]["findings"]["attempts"]
    assert any("trained for" in note for note in attempt["notes"])
    assert found["slipstream ask"]["findings"]["tokens"] == 32
    report = (tmp_path / "out" / "gpu.md").read_text()
    assert "widths that agree bit by bit" in report
    assert str(tmp_path) not in report


def test_a_step_that_fails_is_recorded_and_the_next_one_runs(tmp_path: Path) -> None:
    """Without the step that writes the models: what needs them fails, the facts do not."""
    assert run(tmp_path, tmp_path, "--only", "f").returncode == 1
    found = records(tmp_path)
    assert {name: one["status"] for name, one in found.items()} == {
        "facts": "ok",
        "self-test of the starter": "failed",
        "self-test of the synthetic model": "failed",
        "out of memory": "failed",
    }
    assert "LoadError" in found["self-test of the starter"]["error"]


def test_a_step_that_has_no_time_left_is_skipped(tmp_path: Path) -> None:
    assert run(tmp_path, tmp_path, "--seconds", "1").returncode == 0
    assert {one["status"] for one in records(tmp_path).values()} == {"skipped"}


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="there is a GPU")
def test_the_script_says_at_once_what_is_missing(tmp_path: Path) -> None:
    places = {"OUT": str(tmp_path / "out"), "WORK": str(tmp_path / "work"), "GPU_PYTHON": sys.executable}
    done = subprocess.run(
        ["bash", "tests/bench/gpu.sh"],
        cwd=ROOT, env=os.environ | places, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "missing: an NVIDIA GPU" in done.stderr
    assert "an NVIDIA GPU" in records(tmp_path / "out")["what is missing"]["findings"]["text"]
    assert "nothing was measured" in (tmp_path / "out" / "gpu.md").read_text()


def test_paths_are_cut_down_to_their_last_name() -> None:
    said = gpu_report.scrub({"a": ["could not open /somewhere/deep/model.gguf, 12 tok/s, and/or"]})
    assert said == {"a": ["could not open .../model.gguf, 12 tok/s, and/or"]}


@pytest.mark.parametrize("weights", ["q8_0", "f16"])
def test_a_synthetic_model_has_the_sizes_asked_for(tmp_path: Path, random_model: Path, weights: WeightType) -> None:
    path = write_synthetic(tmp_path / "one.gguf", TINY, weights=weights, tokenizer=random_model)
    header, source = read_header(path), read_header(random_model)
    assert (header.block_count, header.embedding_length) == (TINY.blocks, TINY.width)
    assert header.size == header.expected_size + -header.expected_size % 32
    assert header.tokens is not None
    assert source.tokens is not None
    assert header.tokens.count == source.tokens.count
    first = path.read_bytes()
    assert write_synthetic(path, TINY, weights=weights, tokenizer=random_model).read_bytes() == first


def test_the_big_shape_is_that_of_a_3b_model() -> None:
    matrices = BIG.width * (2 * BIG.width + 2 * BIG.kv_heads * 128 + 3 * BIG.feed_forward)
    assert 3.0e9 < BIG.blocks * matrices + 2 * BIG.width * BIG.vocabulary < 3.3e9
    assert BIG.kv_bytes == 28 * 2 * 2 * 1024


def test_ballast_is_taken_and_given_back() -> None:
    ballast = Ballast(0, 1 << 20)  # the processor is a device, too
    ballast.close()
    ballast.close()
