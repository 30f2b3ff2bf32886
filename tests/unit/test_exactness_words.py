"""What ``slipstream doctor --self-test`` says of its finding."""

from __future__ import annotations

from typing import Any

import pytest

from app.commands.exactness import exactness_words
from tests.unit.score.test_card import outcome_of

BESIDE = "  other programs kept 1.3 cores busy meanwhile, so these times may be off"


def found(other_cores: float | None) -> dict[str, Any]:
    result = outcome_of().model_copy(update={"other_cores": other_cores})
    return {
        "model": "one", "backend": "CPU", "layers": 2, "gpu_layers": 0, **result.model_dump(mode="json"),
    }  # fmt: skip


@pytest.mark.parametrize(("other_cores", "said"), [(1.31, True), (0.1, False), (0.0, False), (None, False)])
def test_times_taken_beside_other_work_are_said_to_be(other_cores: float | None, said: bool) -> None:
    lines = exactness_words(found(other_cores))
    assert (lines[-1] == BESIDE) == said
    assert len(lines) == 4 + said


def test_a_record_of_before_knows_of_no_other_work() -> None:
    old = {name: value for name, value in found(None).items() if name != "other_cores"}
    assert len(exactness_words(old)) == 4
