"""What pairs were measured to cost on this machine, from the profiles that the engine keeps in its cache folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from pydantic import BaseModel, Field, ValidationError

from app.library.facts import FactStore
from app.library.local import LocalModel
from app.library.verdicts import DraftCost
from engine.files.kept import read_kept
from engine.files.paying import SOUND_PASSES, SOUND_PROPOSALS

MOST_PROFILES: Final = 2000
MOST_BYTES: Final = 1_000_000


class _Cost(BaseModel):
    ratios: dict[int, float] = Field(default_factory=dict)
    draft_ratio: float | None = None
    passes: dict[int, int] = Field(default_factory=dict)
    proposals: int = 0


class _Pacing(BaseModel):
    cost: _Cost = Field(default_factory=_Cost)


class _Profile(BaseModel):
    """The part of :class:`engine.profile.Profile` that is asked for here."""

    target: str | None = None
    draft: str | None = None
    pacing: _Pacing = Field(default_factory=_Pacing)


class MeasuredCosts:
    """``costs(target, draft)``: what was measured last of the pair, whatever the settings were; None: nothing was, or
    so little that the sizes tell more.

    ``folder``: the engine's cache. Files are told apart by their fingerprints, which ``store`` makes and keeps.
    """

    def __init__(self, folder: Path, store: FactStore) -> None:
        self._store = store
        self._costs = _read(folder)
        self._targets = {target for target, _ in self._costs}

    def __call__(self, target: LocalModel, draft: LocalModel) -> DraftCost | None:
        if not self._costs:
            return None
        ours = self._fingerprint(target)
        if ours not in self._targets:
            return None
        theirs = self._fingerprint(draft)
        return self._costs.get((ours, theirs)) if ours and theirs else None

    def _fingerprint(self, model: LocalModel) -> str | None:
        try:
            return self._store.fingerprint(model.path, model.path.stat())
        except OSError:
            return None


def _read(folder: Path) -> dict[tuple[str, str], DraftCost]:
    """(target, draft) -> cost, of all profiles; of several for one pair the youngest counts. Never raises."""
    costs: dict[tuple[str, str], DraftCost] = {}
    for path in _youngest(folder):
        try:
            profile = _Profile.model_validate_json(read_kept(path, MOST_BYTES))
        except (OSError, ValidationError):
            continue
        cost = profile.pacing.cost
        if not (profile.target and profile.draft) or cost.draft_ratio is None or cost.proposals < SOUND_PROPOSALS:
            continue
        passes = {width: ratio for width, ratio in cost.ratios.items() if cost.passes.get(width, 0) >= SOUND_PASSES}
        costs.setdefault((profile.target, profile.draft), DraftCost(cost.draft_ratio, passes))
    return costs


def _youngest(folder: Path) -> list[Path]:
    """The profiles in ``folder``, the youngest first."""
    ages: list[tuple[int, Path]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".json"):
                    status = entry.stat()
                    if stat.S_ISREG(status.st_mode) and status.st_size <= MOST_BYTES:
                        ages.append((status.st_mtime_ns, Path(entry.path)))
    except OSError:
        return []
    return [path for _, path in sorted(ages, reverse=True)[:MOST_PROFILES]]
