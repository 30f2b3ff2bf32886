"""Sampling presets: the built-in ones and those of settings.toml."""

from __future__ import annotations

import pytest

from app.presets import BUILT_IN, UnknownPreset, preset_named, presets_of
from app.settings import Samplers, Settings
from engine.protocol import Sampling


def test_the_built_in_ones_set_the_same_samplers_within_the_engines_bounds() -> None:
    assert list(BUILT_IN) == ["precise", "balanced", "creative"]
    assert len({frozenset(preset) for preset in BUILT_IN.values()}) == 1
    for preset in BUILT_IN.values():
        Sampling.model_validate(preset)
    assert Sampling.model_validate(BUILT_IN["balanced"]) == Sampling()


def test_ones_own_stand_beside_them_or_in_their_place() -> None:
    settings = Settings(presets={"wild": Samplers(temperature=1.3), "precise": Samplers(temperature=0.0, top_k=1)})
    assert presets_of(settings) == {
        **BUILT_IN,
        "precise": {"temperature": 0.0, "top_k": 1},
        "wild": {"temperature": 1.3},
    }


def test_by_name() -> None:
    assert preset_named(None, BUILT_IN) == {}
    assert preset_named("precise", BUILT_IN) is BUILT_IN["precise"]
    with pytest.raises(UnknownPreset, match="There is no preset called Precise; there are precise, balanced, creative"):
        preset_named("Precise", BUILT_IN)
