"""The samplers that are no plain setting, as options of ``ask``; the others are in :class:`app.settings.Samplers`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.commands.errors import CommandError
from app.commands.prompt import valid_text
from app.sampler_texts import read_bias
from engine.protocol import Sampling


def sampling_values(options: Mapping[str, Any]) -> dict[str, Any]:
    """What the options say about samplers, by the names of :class:`engine.protocol.Sampling`; left out where silent."""
    values: dict[str, Any] = {}
    if options.get("dry_sequence_breaker"):
        values["dry_sequence_breakers"] = tuple(valid_text(text) for text in options["dry_sequence_breaker"])
    if options.get("logit_bias"):
        values["logit_bias"] = dict(_bias(text) for text in options["logit_bias"])
    for option, name in (("grammar_file", "grammar"), ("json_schema_file", "json_schema")):
        if options.get(option) is not None:
            values[name] = _read(option, options[option])
    return values


def _bias(text: str) -> tuple[int, float]:
    try:
        token, bias = read_bias(text)
        Sampling(logit_bias={token: bias})  # within bounds; what it raises is a ValueError
    except ValueError:
        raise CommandError(
            f"--logit-bias must be TOKEN_ID=BIAS, a bias of -1000 to 1000, for example 198=-5, not {text}."
        ) from None
    return token, bias


def _read(option: str, path: Path) -> str:
    name = "--" + option.replace("_", "-")
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{name}: {path} cannot be read ({error.strerror or error}).") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{name}: {path} is not UTF-8 text.") from error
