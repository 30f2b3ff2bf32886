"""What the engine measured of a pair is found again by who looks at the two files."""

from __future__ import annotations

from pathlib import Path

from app.library.facts import FactStore
from app.library.found import Candidate
from app.library.local import LocalModel, scan
from app.library.measured import MeasuredCosts
from engine.profile import ProfileStore
from engine.session import Session
from tests.engine.conftest import Driver


class Just:
    """One file and nothing else."""

    origin = "here"

    def __init__(self, path: Path) -> None:
        self._path = path

    def find(self) -> list[Candidate]:
        return [Candidate(self._path, self.origin)]


def local(path: Path) -> LocalModel:
    (model,) = scan([Just(path)]).models  # type: ignore[list-item]
    return model


def test_a_pair_that_talked_was_measured(smol_path: Path, noise_draft: Path, tmp_path: Path) -> None:
    driver = Driver()
    driver.session = Session(ProfileStore(tmp_path))
    driver.load(smol_path, noise_draft, context=512)
    before = MeasuredCosts(tmp_path, FactStore())
    driver.ask("Count to ten.", speculation="off", max_tokens=8)  # costs are told in plain passes
    driver.ask("Count to ten.", speculation="draft", max_tokens=24)
    driver.session.unload()
    target, draft = local(smol_path), local(noise_draft)
    assert before(target, draft) is None
    cost = MeasuredCosts(tmp_path, FactStore())(target, draft)
    assert cost is not None
    assert 0 < cost.ratio < 1.5
