"""How a chat template has its model think: the variable that switches it, the markers around it.

There is no standard. Templates are asked, not read: where a short conversation is rendered otherwise with a variable
set one way than the other, that variable is the switch.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from engine.protocol import Thinking, ThoughtMarkers
from engine.text.sandbox import TemplateProblem

MARKERS = tuple(
    ThoughtMarkers(open=open_, close=close)
    for open_, close in (
        ("<think>", "</think>"),  # DeepSeek R1, Qwen3, GLM, SmolLM3, Nemotron, MiniMax M2, Granite
        ("<thinking>", "</thinking>"),  # Apriel 1.5
        ("[THINK]", "[/THINK]"),  # Magistral, Ministral
        ("<|channel>thought", "<channel|>"),  # Gemma 4
        ("<seed:think>", "</seed:think>"),  # Seed-OSS
        ("<mm:think>", "</mm:think>"),  # MiniMax M3
        ("<|START_THINKING|>", "<|END_THINKING|>"),  # Command A, Command R7B
        ("<|inner_prefix|>", "<|inner_suffix|>"),  # Apertus
        ("◁think▷", "◁/think▷"),  # Kimi VL
        ("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"),  # Apriel 1.6
        # gpt-oss speaks in channels: usually analysis, then final. What goes to any other one is not for the reader.
        ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
        ("<|channel|>", "final<|message|>"),
    )
)


class Switch(NamedTuple):
    """A template variable, and its values for thinking and for not."""

    name: str
    on: bool | int | str
    off: bool | int | str

    def occurs_in(self, template: str) -> bool:
        """Whether the template may know it."""
        return re.search(rf"\b{self.name}\b", template) is not None

    def words_occur_in(self, template: str) -> bool:
        """Whether the template knows the values that are words: one that it does not know may be no switch to it."""
        words = [word for word in (self.on, self.off) if isinstance(word, str)]
        return all(f"'{word}'" in template or f'"{word}"' in template for word in words)


SWITCHES = (
    Switch("enable_thinking", True, False),  # Qwen3, SmolLM3, GLM, Gemma 4, Nemotron 3, Apertus
    Switch("thinking", True, False),  # DeepSeek V3.1, Granite 3.3, Kimi K3
    Switch("reasoning", True, False),  # Command A
    Switch("thinking_mode", "enabled", "disabled"),  # MiniMax M3
    Switch("thinking_budget", -1, 0),  # Seed-OSS
    Switch("reasoning_effort", "high", "no_think"),  # Hunyuan 3
    Switch("reasoning_effort", "high", "none"),
)
EFFORT = Switch("reasoning_effort", "high", "low")
"""gpt-oss always thinks, but not always as long; it writes whatever word it is given into the prompt."""

CANNOT_STOP = "the chat template cannot switch thinking off"
THINKS_LESS = f"{CANNOT_STOP}; the reasoning effort was set to low"
KNOWS_NONE = "thinking was asked for, but the chat template knows none"


@dataclass(frozen=True, slots=True)
class ThinkingStyle:
    """How answers think. ``on``, ``off``: template variables that ask for it, or for none of it."""

    kind: Thinking = "none"
    markers: tuple[ThoughtMarkers, ...] = ()
    on: Mapping[str, object] = field(default_factory=dict)
    off: Mapping[str, object] = field(default_factory=dict)

    def variables(self, thinking: bool | None) -> Mapping[str, object]:
        """What the template is told; nothing where it decides itself."""
        return {} if thinking is None else self.on if thinking else self.off

    def notes(self, thinking: bool | None) -> tuple[str, ...]:
        """Where the wish cannot be met: why."""
        if thinking and self.kind == "none":
            return (KNOWS_NONE,)
        if thinking is False and self.kind == "always":
            return (THINKS_LESS if self.off else CANNOT_STOP,)
        return ()

    def without_switch(self) -> ThinkingStyle:
        """The same model behind a fallback template."""
        return ThinkingStyle("always" if self.markers else "none", self.markers)


def find_style(template: str, render: Callable[[Mapping[str, object]], str]) -> ThinkingStyle:
    """Find out about ``template``. ``render``: a short conversation with these variables; may raise TemplateProblem."""

    def matters(switch: Switch) -> bool:
        try:
            return switch.occurs_in(template) and render({switch.name: switch.on}) != render({switch.name: switch.off})
        except TemplateProblem:
            return False

    markers = tuple(pair for pair in MARKERS if pair.open in template or pair.close in template)
    for switch in SWITCHES:
        if switch.words_occur_in(template) and matters(switch):
            return ThinkingStyle("switchable", markers, {switch.name: switch.on}, {switch.name: switch.off})
    if matters(EFFORT):
        return ThinkingStyle("always", markers, off={EFFORT.name: EFFORT.off})
    return ThinkingStyle("always" if markers else "none", markers)
