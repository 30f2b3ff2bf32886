"""Every setting of a chat that is one value, in the order of the sheet; by the same names as slash commands."""

from __future__ import annotations

from typing import Final

from app.tui.setting import Kind, Setting
from app.tui.setting_kinds import BIASES, BREAKERS, GRAMMAR, SCHEMA, SWITCH

THINKING: Final = "thinking"
_LOOKS_BACK: Final = "so many tokens; 0: none, -1: the whole text"
_UNLIKELIER: Final = "less likely for each time it was said; 0: off"
_XTC: Final = "how often the likeliest of several good tokens are left out; 0: off"


def _seldom(name: str, field: str, title: str, help_text: str, unset: str = "", kind: Kind | None = None) -> Setting:
    """An advanced one."""
    return Setting(name, field, title, help_text, unset, kind, advanced=True)


SETTINGS: Final = (
    Setting("temp", "temperature", "Temperature", "how freely tokens are chosen; at 0 always the likeliest"),
    Setting("top-k", "top_k", "Top k", "choose among the k likeliest tokens only"),
    Setting("top-p", "top_p", "Top p", "choose among the likeliest tokens that together have this probability"),
    Setting("min-p", "min_p", "Min p", "leave out tokens less likely than this share of the likeliest one"),
    Setting("seed", "seed", "Seed", "the same seed gives the same answer", "random"),
    Setting("draft-max", "draft_max", "Longest draft", "how many tokens are proposed at once at most", "auto"),
    Setting("max-tokens", "max_tokens", "Longest answer", "where an answer is cut off", "none"),
    Setting("thinking", THINKING, "Thinking", "think before answering", "auto", SWITCH),
    _seldom("typical", "typical_p", "Typical p", "choose among tokens about as surprising as the text usually is"),
    _seldom("top-n-sigma", "top_n_sigma", "Top n sigma", "leave out logits further than n deviations below the best"),
    _seldom("repeat-penalty", "repeat_penalty", "Repeat penalty", "make what was said less likely, by this factor"),
    _seldom("repeat-last-n", "repeat_last_n", "Penalties look back", _LOOKS_BACK),
    _seldom("frequency-penalty", "frequency_penalty", "Frequency penalty", _UNLIKELIER),
    _seldom("presence-penalty", "presence_penalty", "Presence penalty", "less likely once it was said at all; 0: off"),
    _seldom(
        "dry-multiplier", "dry_multiplier", "DRY strength", "make it unlikely that a sequence is said again; 0: off"
    ),
    _seldom("dry-base", "dry_base", "DRY base", "how fast that grows with the length of the repeat"),
    _seldom("dry-allowed-length", "dry_allowed_length", "DRY from length", "repeats of so many tokens are penalised"),
    _seldom("dry-penalty-last-n", "dry_penalty_last_n", "DRY looks back", _LOOKS_BACK),
    _seldom("dry-breakers", "dry_sequence_breakers", "DRY breakers", "no repeat reaches across these", kind=BREAKERS),
    _seldom("xtc-probability", "xtc_probability", "XTC chance", _XTC),
    _seldom("xtc-threshold", "xtc_threshold", "XTC threshold", "from here on a token is a good one; above 0.5: off"),
    _seldom("logit-bias", "logit_bias", "Logit bias", "what is added to the logits of single tokens", kind=BIASES),
    _seldom("grammar", "grammar", "Grammar", "what the answer's text must follow", "none", GRAMMAR),
    _seldom("json-schema", "json_schema", "JSON schema", "what the answer, as JSON, must fit", "none", SCHEMA),
)
