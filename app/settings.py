"""What a person can set once for all chats, in a TOML file that they edit by hand.

The program only reads the file: writing it back would lose the user's comments. (When the program has to change a
value some day, it must edit the text in place.) A key that is unknown or has a wrong value is named, its default is
used, and the file stays as it is.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine.protocol import ExactnessMode, SpeculationMode

GpuLayerSetting = Annotated[int, Field(ge=0)] | Literal["auto", "all"]


class Settings(BaseModel):
    """Defaults for new chats; options of a command and settings of a chat stand above them."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)

    model: str | None = None
    """The model to talk to: a name from the catalogue or the path of a GGUF file. Not set: as chosen last."""

    draft: str | None = None
    """A smaller model with the same vocabulary that proposes tokens: a name or a path. Not set: as chosen last."""

    speculation: SpeculationMode = "auto"
    """Who may propose tokens: "off", "lookup" (the text so far), "draft" (the draft model) or "auto"."""

    draft_max: Annotated[int, Field(ge=0, le=64)] | None = None
    """The longest draft, in tokens (0 to 64). Not set: the engine chooses."""

    temperature: float = Field(0.7, ge=0, le=10, allow_inf_nan=False)
    """How freely tokens are chosen (0 to 10); at 0 always the likeliest."""

    top_k: int = Field(40, ge=0)
    """Choose among the k likeliest tokens only; 0 switches this off."""

    top_p: float = Field(0.95, gt=0, le=1, allow_inf_nan=False)
    """Choose among the likeliest tokens that together have this probability; 1 switches this off."""

    min_p: float = Field(0.05, ge=0, le=1, allow_inf_nan=False)
    """Leave out tokens less likely than this share of the likeliest one; 0 switches this off."""

    context: Annotated[int, Field(ge=16)] | None = None
    """The context window in tokens, for model and draft alike. Not set: what the model and the memory allow."""

    threads: Annotated[int, Field(ge=1)] | None = None
    """How many CPU threads decode. Not set: the usable cores."""

    mode: ExactnessMode = "auto"
    """"exact" (the answer does not depend on speculation), "fast", or "auto" (exact on a CPU)."""

    gpu_layers: GpuLayerSetting = "auto"
    """How many layers of the model go to a GPU: a number, "auto" (as many as fit) or "all"."""

    draft_gpu_layers: GpuLayerSetting = "auto"
    """How many layers of the draft model go to a GPU: a number, "auto" or "all"."""

    system: str = ""
    """The system prompt: what the model is told before the first message. Empty: none."""

    save_folder: str = ""
    """The folder that answers are saved to from the chat. Empty: the folder that Slipstream was started in."""

    theme: str = "slipstream-dark"
    """The colours of the terminal interface, by the theme's name."""


class LoadedSettings(NamedTuple):
    """The settings in force, and one sentence for everything in the file that could not be used."""

    settings: Settings
    complaints: tuple[str, ...]


def load_settings(file: Path) -> LoadedSettings:
    """Read ``file``; a missing one means the defaults, and nothing is wrong with that."""
    try:
        text = file.read_bytes().decode("utf-8-sig")
        values = tomllib.loads(text)
    except FileNotFoundError:
        return LoadedSettings(Settings(), ())
    except (OSError, ValueError) as error:  # TOMLDecodeError and UnicodeDecodeError are ValueErrors
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return LoadedSettings(Settings(), (f"{file} cannot be read: {reason}. The defaults are used.",))
    return _checked(values, file)


def default_file() -> str:
    """A settings file with every setting explained and commented out: each line shows the default."""
    lines = ["# Slipstream's settings. Take the # from a line and change its value.", ""]
    for key, field in Settings.model_fields.items():
        lines.append(f"# {field.description}")
        lines.append(f"# {key} =" if field.default is None else f"# {key} = {_toml(field.default)}")
        lines.append("")
    return "\n".join(lines)


def _checked(values: dict[str, Any], file: Path) -> LoadedSettings:
    try:
        return LoadedSettings(Settings.model_validate(values), ())
    except ValidationError as error:
        wrong: dict[str, list[str]] = {}
        for problem in error.errors(include_url=False):
            wrong.setdefault(str(problem["loc"][0]), []).append(problem["msg"])
    complaints = tuple(f"{file.name}: {_complaint(key, values[key], messages)}" for key, messages in wrong.items())
    good = {key: value for key, value in values.items() if key not in wrong}
    return LoadedSettings(Settings.model_validate(good), complaints)


def _complaint(key: str, value: object, messages: list[str]) -> str:
    field = Settings.model_fields.get(key)
    if field is None:
        return f"there is no setting {key!r}{_near(key)}; it is ignored"
    shown = repr(value) if len(repr(value)) <= 40 else repr(value)[:40] + "…"
    wanted = " or ".join(message.removeprefix("Input should be ") for message in messages)
    default = "not set" if field.default is None else _toml(field.default)
    return f"{key} = {shown} should be {wanted}; using the default ({default})"


def _near(key: str) -> str:
    from difflib import get_close_matches  # only for a file with a mistake in it

    close = get_close_matches(key, Settings.model_fields, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _toml(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)
