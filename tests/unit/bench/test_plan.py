"""What is measured: the plan, the work and the watch on neighbours."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.bench.machine import Neighbours, Snapshot, describe, foreign
from tests.bench.pairs import PairFiles
from tests.bench.plan import plan_pair
from tests.bench.run import shared_part
from tests.bench.targets import BEST_FIXED, BEST_LOOKUP, TARGETS
from tests.bench.work import BUNDLED, CATEGORIES, COPY_EDIT, load_work, many, read

PAIRS = {
    "a": PairFiles("a", "a", "exact", Path("a.gguf")),
    "b": PairFiles("b", "b", "fast", Path("b.gguf")),
    "c": PairFiles("c", "c", "fast", Path("c.gguf"), {"q4_1": Path("q4.gguf"), "q2_k": Path("q2.gguf")}),
    "d": PairFiles("d", "d", "exact", Path("d.gguf")),
}


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_every_target_is_measured_side_by_side_in_some_block(target: object) -> None:
    blocks = plan_pair(PAIRS[target.pair]).blocks  # type: ignore[attr-defined]
    suffix = target.variant.removeprefix("auto")  # type: ignore[attr-defined]
    rivals = {
        BEST_LOOKUP: ["Llama lookup 2", "Llama lookup 10"],
        BEST_FIXED: [f"fixed {n}{suffix}" for n in (2, 4, 8)],
    }.get(target.against, [target.against])  # type: ignore[attr-defined]
    wanted = {target.variant, *rivals}  # type: ignore[attr-defined]
    assert any(wanted <= {variant.name for variant in block.variants} for block in blocks)


def test_peers_come_with_their_own_environment_and_apart_with_ours() -> None:
    peers = [v for block in plan_pair(PAIRS["a"]).blocks for v in block.variants if v.worker.kind == "peer"]
    assert any(not peer.worker.environment for peer in peers)
    assert all(("environment" in peer.name) == bool(peer.worker.environment) for peer in peers)


def test_the_bundled_prompts_cover_every_category() -> None:
    prompts = read(BUNDLED.read_text(encoding="utf-8"))
    assert set(prompts) == set(CATEGORIES)
    assert all(len(found) >= 2 for found in prompts.values())
    for prompt in prompts[COPY_EDIT]:
        assert 260 < len(prompt.text.split()) < 360
    ids = [prompt.id for found in prompts.values() for prompt in found]
    assert len(set(ids)) == len(ids)


def test_the_work_says_which_set_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"id": 81, "category": "writing", "turns": ["First.", "Second."]}\n', encoding="utf-8")
    found = load_work(questions)
    assert "Spec-Bench (1 questions" in found.source
    assert found.prompts["writing"][0].text == "First."
    assert COPY_EDIT in found.prompts
    monkeypatch.setenv("SLIPSTREAM_BENCH_QUESTIONS", str(tmp_path / "absent"))
    assert "bundled" in load_work().source
    with pytest.raises(FileNotFoundError):
        load_work(tmp_path / "absent")


def test_prompts_are_chosen_category_by_category(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPSTREAM_BENCH_QUESTIONS", "/nowhere")
    work = load_work()
    chosen = work.choose(["qa", "math"], 2)
    assert [prompt.category for prompt in chosen] == ["qa", "math", "qa", "math"]
    assert work.choose(["qa"], 1, offset=1) == [work.prompts["qa"][1]]
    assert len(many(work, 20)) == 20
    assert [prompt.id for prompt in shared_part(chosen, 0)] == ["qa-1", "math-1"]
    everything = work.choose(CATEGORIES, 2)
    assert shared_part(everything, 1) == everything
    assert len({prompt.category for prompt in shared_part(everything, -4)}) == 4


def test_foreign_work_is_everybodys_less_ours() -> None:
    before, after = Snapshot(10.0, 100.0, 5.0), Snapshot(12.0, 104.0, 8.5)
    assert foreign(before, after) == pytest.approx(0.25)
    assert foreign(before, Snapshot(10.1, 100.1, 5.0)) is None
    assert foreign(Snapshot(10.0, None, 5.0), after) is None


def test_the_watch_reads_proc(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("cpu  100 0 50 900 7 0 10 40 0 0\ncpu0 1 2 3\n")
    (tmp_path / "42").mkdir()
    (tmp_path / "42" / "stat").write_text("42 (a (b) c) R 1 1 1 0 -1 0 0 0 0 0 30 12 0 0 20 0 1\n")
    tick = os.sysconf("SC_CLK_TCK")
    seen = Neighbours(tmp_path).look([42, 43])
    assert seen.everybody == pytest.approx(200 / tick)
    assert seen.ours == pytest.approx(42 / tick)
    assert Neighbours(tmp_path / "absent").look([]).everybody is None


def test_the_description_of_the_machine_holds_no_path() -> None:
    assert not any("/" in value for name, value in describe().items() if name == "build flags")
