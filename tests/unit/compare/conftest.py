"""The commands ``bench`` and ``compare`` with an engine of paper in the engine's place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.commands import bench, compare
from engine.protocol import LoadSettings, ModelFile
from tests.unit.compare.engines import PaperEngine

LOAD = LoadSettings(target=ModelFile(path="/m/t.gguf"))
OPTIONS: dict[str, Any] = {
    "ways": "off,lookup",
    "categories": None,
    "each": None,
    "runs": 2,
    "seed": 1,
    "max_tokens": 8,
    "as_json": False,
    "as_csv": False,
    "as_markdown": False,
}

Benched = Callable[..., int]


def kept(home: Path) -> list[Any]:
    return [json.loads(file.read_text()) for file in sorted((home / "bench").glob("*.json"))]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def benched(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Benched:
    file = tmp_path / "mine.jsonl"

    def run(
        engine: PaperEngine, prompts: tuple[str, ...] = ("one", "two"), load: LoadSettings = LOAD, **options: object
    ) -> int:
        file.write_text("".join(json.dumps({"prompt": prompt}) + "\n" for prompt in prompts))
        monkeypatch.setattr("app.commands.client.make_client", lambda: engine)
        monkeypatch.setattr(bench, "wanted_files", lambda settings: load)
        return bench.run_bench_command({**OPTIONS, "prompts": str(file), **options})

    return run


@pytest.fixture
def compared(home: Path, monkeypatch: pytest.MonkeyPatch) -> Benched:
    def run(engine: PaperEngine, load: LoadSettings = LOAD, **options: object) -> int:
        monkeypatch.setattr("app.commands.client.make_client", lambda: engine)
        monkeypatch.setattr("sys.stdin", None)
        monkeypatch.setattr(compare, "wanted_files", lambda settings: load)
        return compare.run_compare({**OPTIONS, "prompt": "one", "last": False, "chat": None, **options})

    return run
