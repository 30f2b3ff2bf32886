"""Prompt formats for files whose own chat template is missing or cannot be used, by name."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

Turn = tuple[str, str]
"""(role, content) of one message."""


@dataclass(frozen=True, slots=True)
class Fallback:
    """One format: what stands before and behind the content of each role. A start token is the tokenizer's to add."""

    name: str
    marker: str
    """The control token whose presence in a vocabulary says that the model was trained on this format."""
    user: tuple[str, str]
    assistant: tuple[str, str]
    system: tuple[str, str] | None
    """None: the format has no system role."""
    opening: str
    """Opens the answer."""
    stop: tuple[str, ...] = ()
    """Stop strings, for a format whose turns are not ended by a token."""

    def render(self, turns: Sequence[Turn], eos: str) -> str:
        """The prompt. ``{eos}`` in the format is the model's end token. A system turn needs a system role."""
        around = {"user": self.user, "assistant": self.assistant, "system": self.system or ("", "")}
        parts: list[str] = []
        for role, content in turns:
            before, behind = around[role]
            parts += (before.replace("{eos}", eos), content, behind.replace("{eos}", eos))
        return "".join(parts) + self.opening

    @property
    def sha256(self) -> str:
        """Changes whenever the format does."""
        form = (self.name, self.user, self.assistant, self.system, self.opening)
        return hashlib.sha256(repr(form).encode()).hexdigest()


CHATML = Fallback(
    name="chatml",
    marker="<|im_start|>",
    user=("<|im_start|>user\n", "<|im_end|>\n"),
    assistant=("<|im_start|>assistant\n", "<|im_end|>\n"),
    system=("<|im_start|>system\n", "<|im_end|>\n"),
    opening="<|im_start|>assistant\n",
)
LLAMA3 = Fallback(
    name="llama3",
    marker="<|start_header_id|>",
    user=("<|start_header_id|>user<|end_header_id|>\n\n", "<|eot_id|>"),
    assistant=("<|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>"),
    system=("<|start_header_id|>system<|end_header_id|>\n\n", "<|eot_id|>"),
    opening="<|start_header_id|>assistant<|end_header_id|>\n\n",
)
GEMMA = Fallback(
    name="gemma",
    marker="<start_of_turn>",
    user=("<start_of_turn>user\n", "<end_of_turn>\n"),
    assistant=("<start_of_turn>model\n", "<end_of_turn>\n"),
    system=None,
    opening="<start_of_turn>model\n",
)
MISTRAL = Fallback(
    name="mistral",
    marker="[INST]",
    user=("[INST]", "[/INST]"),
    assistant=("", "{eos}"),
    system=None,
    opening="",
)
PLAIN = Fallback(
    name="plain",
    marker="",
    user=("User: ", "\n"),
    assistant=("Assistant: ", "\n"),
    system=("", "\n\n"),
    opening="Assistant:",
    stop=("\nUser:",),
)


def choose(controls: Collection[str]) -> Fallback:
    """The format a vocabulary with these control-token texts was most likely trained on."""
    return next((form for form in (CHATML, LLAMA3, GEMMA, MISTRAL) if form.marker in controls), PLAIN)
