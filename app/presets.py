"""Sampling presets: values of samplers that go together, under one name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from app.clean import clean_line
from engine.protocol import Sampling

if TYPE_CHECKING:
    from app.settings import Settings

Preset = Mapping[str, Any]
"""Sampler -> value, by the protocol's names."""


class UnknownPreset(Exception):
    """``str(error)`` says so, and what presets there are."""


# All three set the same four samplers, so that going from one to another leaves nothing of the first behind. In
# llama.cpp's order the filters (top_k, top_p, min_p) come first and the temperature last: the filters say which tokens
# are possible at all, the temperature how evenly one of them is drawn.
_CORE: Final = ("temperature", "top_k", "top_p", "min_p")
BUILT_IN: Final[Mapping[str, Preset]] = {
    # For facts, code, summaries, and whatever should come out nearly the same each time. Not temperature 0: small
    # models fall into loops there. min_p 0.1 leaves out what is less than a tenth as likely as the best token, which is
    # most of what derails an answer. Drafts are accepted most often here, so it is the fastest of the three, too.
    "precise": {"temperature": 0.3, "top_k": 40, "top_p": 0.9, "min_p": 0.1},
    # The engine's own defaults, which are llama.cpp's but for the temperature: what most chat models are tuned for.
    "balanced": {name: Sampling.model_fields[name].default for name in _CORE},
    # For stories, names, ideas. Tokens are drawn as likely as the model says (temperature 1), from a longer list, and
    # top_p is off, since it cuts deepest where many ways to go on are good. min_p keeps the nonsense out: it adapts to
    # how sure the model is (Nguyen et al., "Turning Up the Heat", arXiv 2407.01082, recommend 0.05 to 0.1). Not top_k
    # 0: looking at the whole vocabulary would cost milliseconds a token and bring little that min_p leaves.
    "creative": {"temperature": 1.0, "top_k": 100, "top_p": 1.0, "min_p": 0.05},
}


def presets_of(settings: Settings) -> dict[str, Preset]:
    """All there are: the built-in ones, and those of settings.toml; one that is called like a built-in stands in its
    place."""
    own = {name: preset.model_dump(exclude_unset=True) for name, preset in settings.presets.items()}
    return {**BUILT_IN, **own}


def preset_named(name: str | None, presets: Mapping[str, Preset]) -> Preset:
    """What ``name`` stands for; nothing where none is named. Raises :class:`UnknownPreset`."""
    if name is None:
        return {}
    if name not in presets:
        raise UnknownPreset(f"There is no preset called {clean_line(name, 60)}; there are {', '.join(presets)}.")
    return presets[name]
