"""What a person can set once for all chats, in a TOML file that they edit by hand.

The program only reads the file: writing it back would lose the user's comments. (When the program has to change a
value some day, it must edit the text in place.) An entry that is unknown or has a wrong value is named, its default is
used, and the file stays as it is.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict
from pydantic_core import PydanticCustomError

from app.given_names import name_trouble
from app.reading import NotReadable, read_small
from app.settings_check import BAD_NAME, NAMED, as_toml, usable
from engine.protocol import ContextSize, ExactnessMode, GenerateSettings, Sampling, SpeculationMode

MOST_BYTES: Final = 1_048_576
"""Of the file; nobody writes so much by hand."""
TABLES: Final = ("system_prompts", "presets")
"""Settings that are a ``[table]`` of entries with names."""
EXAMPLES: Final = """\
[system_prompts]
brief = "Answer in one or two sentences."
proofreader = \"\"\"
Correct spelling and grammar. Change nothing else.
Answer with the corrected text only.\"\"\"

[presets.wild]
temperature = 1.3
min_p = 0.08
xtc_probability = 0.3

[presets.no-repeats]
repeat_penalty = 1.1
dry_multiplier = 0.8"""


def _bounded(name: str, record: type[BaseModel] = Sampling) -> Any:
    """The engine's own default and bounds of that name."""
    info = record.model_fields[name]
    words = ("ge", "gt", "le", "lt")
    bounds = {word: getattr(bound, word) for bound in info.metadata for word in words if hasattr(bound, word)}
    return Field(info.default, **bounds)


def _usable_name(name: str) -> str:
    trouble = name_trouble(name)
    if not trouble and name in Settings.model_fields:  # so much the likelier
        trouble = "is a setting; settings stand above the first [table]"
    if trouble:
        raise PydanticCustomError(BAD_NAME, "{trouble}", {"trouble": trouble})
    return name


KEYS: Final = "keys"
"""A table, so it comes last in a file. What may stand in it is known to app/tui/keymap.py."""

GpuLayerSetting = Annotated[int, Field(ge=0)] | Literal["auto", "all"]
Name = Annotated[str, AfterValidator(_usable_name)]


class Samplers(BaseModel):
    """How tokens are chosen: the engine's samplers, by its names and within its bounds.

    Logit bias, grammar and JSON schema are not here: they fit one model or one question, and a chat can have them.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )

    temperature: float = _bounded("temperature")
    """How freely tokens are chosen (0 to 10); at 0 always the likeliest."""

    top_k: int = _bounded("top_k")
    """Choose among the k likeliest tokens only; 0 switches this off."""

    top_p: float = _bounded("top_p")
    """Choose among the likeliest tokens that together have this probability; 1 switches this off."""

    min_p: float = _bounded("min_p")
    """Leave out tokens less likely than this share of the likeliest one; 0 switches this off."""

    typical_p: float = _bounded("typical_p")
    """Choose among tokens about as surprising as the text usually is, up to this probability; 1 switches this off."""

    top_n_sigma: float = _bounded("top_n_sigma")
    """Leave out tokens whose logit is further than n standard deviations below the best; 0 switches this off."""

    repeat_penalty: float = _bounded("repeat_penalty")
    """Make tokens that were said less likely, by this factor (1.1 is much); 1 switches this off."""

    repeat_last_n: int = _bounded("repeat_last_n")
    """How many tokens the three penalties look back; 0: none, -1: the whole text."""

    frequency_penalty: float = _bounded("frequency_penalty")
    """Make a token less likely for each time it was said (-100 to 100); 0 switches this off."""

    presence_penalty: float = _bounded("presence_penalty")
    """Make tokens that were said at all less likely (-100 to 100); 0 switches this off."""

    dry_multiplier: float = _bounded("dry_multiplier")
    """DRY: make it unlikely that a sequence of tokens is said again (0.8 is usual); 0 switches this off."""

    dry_base: float = _bounded("dry_base")
    """DRY: how fast the penalty grows with the length of the repeat (1 to 100)."""

    dry_allowed_length: int = _bounded("dry_allowed_length")
    """DRY: repeats of so many tokens and more are penalised."""

    dry_penalty_last_n: int = _bounded("dry_penalty_last_n")
    """DRY: how many tokens it looks back; 0: none, -1: the whole text."""

    dry_sequence_breakers: Annotated[tuple[str, ...], Strict(False)] = _bounded("dry_sequence_breakers")
    """DRY: texts that no repeat reaches across."""

    xtc_probability: float = _bounded("xtc_probability")
    """XTC: how often (0 to 1) the likeliest of several good tokens are left out; 0 switches this off."""

    xtc_threshold: float = _bounded("xtc_threshold")
    """XTC: from which probability on a token is a good one; above 0.5 XTC is off."""


class Settings(Samplers):
    """Defaults for new chats; options of a command and settings of a chat stand above them."""

    model: str | None = None
    """The model to talk to: a name from the catalogue or the path of a GGUF file. Not set: as chosen last."""

    draft: str | None = None
    """A smaller model with the same vocabulary that proposes tokens: a name or a path. Not set: as chosen last."""

    speculation: SpeculationMode = "auto"
    """Who may propose tokens: "off", "lookup" (the text so far), "draft" (the draft model) or "auto"."""

    draft_max: int | None = _bounded("draft_max", GenerateSettings)
    """The longest draft, in tokens (0 to 64). Not set: the engine chooses."""

    max_tokens: int | None = _bounded("max_tokens", GenerateSettings)
    """Where an answer is cut off, in tokens. Not set: where the context is full."""

    seed: int | None = _bounded("seed", GenerateSettings)
    """The same seed gives the same answer. Not set: drawn for each answer."""

    thinking: bool | None = None
    """Think before answering, for models that let one choose: true or false. Not set: as the model does by itself."""

    context: ContextSize | None = None
    """The context window in tokens, for model and draft alike. Not set: what the model and the memory allow."""

    overflow: Literal["ask", "stop", "drop-oldest"] = "ask"
    """When a chat outgrows the context: "ask", "stop" (nothing is sent) or "drop-oldest" (turns are left out)."""

    threads: Annotated[int, Field(ge=1)] | None = None
    """How many CPU threads decode. Not set: the usable cores."""

    mode: ExactnessMode = "auto"
    """"exact" (the answer does not depend on speculation), "fast", or "auto" (exact on a CPU)."""

    gpu_layers: GpuLayerSetting = "auto"
    """How many layers of the model go to a GPU: a number, "auto" (as many as fit) or "all"."""

    draft_gpu_layers: GpuLayerSetting = "auto"
    """How many layers of the draft model go to a GPU: a number, "auto" or "all"."""

    system: str = ""
    """The system prompt: what the model is told before the first message. A text, or a name of [system_prompts]."""

    save_folder: str = ""
    """The folder that answers are saved to from the chat. Empty: the folder that Slipstream was started in."""

    theme: str = "slipstream-dark"
    """The colours of the terminal interface, by the theme's name. Not set: as chosen last."""

    motion: Literal["full", "reduced"] = "full"
    """"reduced": nothing slides in the terminal interface, and answers grow line by line."""

    keys: dict[str, Any] = {}
    """Other keys for the terminal interface, in a table below everything else; f1 there shows all keys by name."""

    preset: str | None = None
    """Samplers by one name: "precise", "balanced", "creative" or one of your own; those set below stand above it."""

    system_prompts: dict[Name, str] = {}
    """System prompts by name, for /system NAME: a line NAME = "TEXT" for each."""

    presets: dict[Name, Samplers] = {}
    """Sampling presets of your own, for /preset NAME: a table [presets.NAME] with samplers for each."""


class LoadedSettings(NamedTuple):
    """The settings in force, and one sentence for everything in the file that could not be used."""

    settings: Settings
    complaints: tuple[str, ...]


def load_settings(file: Path, named: int | None = NAMED) -> LoadedSettings:
    """Read ``file``; a missing one means the defaults, and nothing is wrong with that. Never waits for a pipe.
    ``named``: how many wrong entries get a sentence each; None: all."""
    try:
        values = tomllib.loads(read_small(file, MOST_BYTES).decode("utf-8-sig"))
        settings, complaints = usable(Settings, values, TABLES, named)
    except FileNotFoundError:
        return LoadedSettings(Settings(), ())
    except (NotReadable, ValueError) as error:  # TOMLDecodeError and UnicodeDecodeError are ValueErrors
        reason = str(error)
    except RecursionError:
        reason = "It is nested too deeply"
    else:
        return LoadedSettings(settings, tuple(f"{file.name}: {complaint}" for complaint in complaints))
    return LoadedSettings(Settings(), (f"{file} cannot be read: {reason}. The defaults are used.",))


def default_file() -> str:
    """A settings file with every setting explained and commented out: each line shows the default, and the tables, for
    which there is none, an example."""
    samplers = list(Samplers.model_fields)
    plain = [name for name in Settings.model_fields if name not in (*samplers, *TABLES, KEYS)]
    lines = ["# Slipstream's settings. Take the # from a line and change its value.", ""]
    for name in (*plain, *samplers):
        default = Settings.model_fields[name].default
        lines += [f"# {_described(name)}", f"# {name} =" if default is None else f"# {name} = {as_toml(default)}", ""]
    lines += ["# Tables of entries with names; every setting above must stand above them.", ""]
    lines += [f"# {_described(name)}" for name in TABLES]
    lines += [f"# {line}".rstrip() for line in EXAMPLES.split("\n")]
    lines += ["", f"# {_described(KEYS)}", f"# [{KEYS}]", '# "chat.compare" = "ctrl+r"']
    return "\n".join([*lines, ""])


def _described(name: str) -> str:
    return Settings.model_fields[name].description or ""
