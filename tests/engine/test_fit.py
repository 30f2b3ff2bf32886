"""The memory estimate against what a process really takes: loaded, its weights touched, in exact mode."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.files.fit import estimate
from engine.files.header import read_header
from engine.files.shape import Shape
from engine.llama.backend import AbortFlag, library
from engine.llama.checkpoints import PARTIAL_ONLY
from engine.llama.context import FAST, Context
from engine.llama.model import Model
from tests.bench.pairs import smol_q2_k
from tests.engine.test_rollback import KINDS

ERROR = 0.1
"""The promise is 15 %."""

PROMPT = "Tell me about rivers. " * 110
"""More than one full chunk, so that the widest pass is made."""

_PROGRAM = """
import json, sys
from engine.llama.backend import library
from tests.engine.conftest import Driver

def memory(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field + ":"))

path, draft, context, prompt = json.load(sys.stdin)
library()
driver = Driver()
before = memory("VmRSS")
driver.load(path, draft, context=context, mode="exact")
driver.ask(prompt, speculation="draft" if draft else "lookup", max_tokens=24)
print(memory("VmHWM") - before)
"""


@pytest.fixture(scope="module")
def q2_k(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model in a type that is rearranged when it need not be exact."""
    return smol_q2_k(tmp_path_factory.mktemp("drafts"))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("context", "drafting"), [(2048, ""), (8192, ""), (2048, "itself"), (512, "q2_k"), (2048, "q2_k")]
)
def test_near_the_most_that_is_taken(smol_path: Path, q2_k: Path, context: int, drafting: str) -> None:
    draft = {"": None, "itself": smol_path, "q2_k": q2_k}[drafting]
    prompt = PROMPT if context > 512 else PROMPT[: len(PROMPT) // 2]
    shapes = [Shape.of(read_header(path)) for path in (smol_path, draft) if path is not None]
    expected = estimate(*shapes, context=context)
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        input=json.dumps([str(smol_path), str(draft) if draft else None, context, prompt]),
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    measured = int(done.stdout)
    assert abs(expected.loaded - measured) <= ERROR * measured, (expected.loaded, measured, expected.parts)


TOKENS = 50
"""Fewer than the window of the windowed kinds: a copy leaves out what lies behind it, the cache does not."""


@pytest.mark.parametrize("kind", ["llama", *KINDS])
def test_caches_are_as_large_as_the_librarys_own(
    kind: str, random_model: Path, kind_model: Callable[..., Path]
) -> None:
    """By what a copy of the memory takes: with each token it grows by a cell, and the running states do not grow."""
    path = random_model if kind == "llama" else kind_model(kind)
    shape = Shape.of(read_header(path))
    model = Model(path)
    context = Context(model, size=512, threads=1, settings=FAST, abort=AbortFlag())

    def copied(flags: int) -> int:
        return int(library().llama_state_seq_get_size_ext(context.handle, 0, flags))

    try:
        context.decode([1, 2, 3], rows=0)
        few = copied(0)
        if shape.state:
            assert shape.state <= copied(PARTIAL_ONLY) < shape.state + 2000
        context.decode([number % 100 + 3 for number in range(TOKENS)], rows=0)
        cell = (copied(0) - few) / TOKENS
        assert shape.cell <= cell < shape.cell + 48  # place and owner of each token, for each of the caches
    finally:
        context.close()
        model.close()


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_model_is_expected_to_take_back(kind: str, kind_model: Callable[..., Path]) -> None:
    expected = {"full": "any", "bounded": "some", "none": "none"}[KINDS[kind]]
    assert Shape.of(read_header(kind_model(kind))).undo == expected
