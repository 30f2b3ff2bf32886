"""From the options of a command and the settings file to what the engine is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from app import paths
from app.commands.errors import CommandError
from app.commands.sampling import sampling_values
from app.last_choice import LastChoice
from app.library.lookup import find_pair_files
from app.library.resolve import ModelNotFoundError
from app.limits import wanted
from app.presets import Preset, UnknownPreset, preset_named, presets_of
from app.settings import LoadedSettings, Samplers, Settings, load_settings
from app.settings_check import NAMED, as_toml
from app.system_prompts import SystemPrompts
from engine.protocol import GenerateSettings, LoadSettings, Message, ModelFile, Sampling

Record = TypeVar("Record", bound=BaseModel)

NOTHING: Mapping[str, Any] = MappingProxyType({})
NO_CHOICE = LastChoice()
COMMAND_LINE = "command line"
SETTINGS_FILE = "settings.toml"


def effective_settings(options: Mapping[str, Any], named: int | None = NAMED) -> LoadedSettings:
    """The settings file with the given options (those that are not None) above it, and what is wrong in the file.
    What neither says counts as not set (``model_fields_set``). A preset and a system prompt that are called by name are
    in it with what they stand for: a preset of the file below the samplers that the file sets, one of the options above
    them. ``named``: how many wrong entries get a sentence each; None: all."""
    loaded = load_settings(paths.settings_file(), named)
    given = {
        name: _plain(value) for name, value in options.items() if value is not None and name in Settings.model_fields
    }
    for name in {"gpu_layers", "draft_gpu_layers"} & given.keys():
        given[name] = int(given[name]) if given[name].strip().isdecimal() else given[name]
    values = loaded.settings.model_dump(exclude_unset=True)
    complaints = list(loaded.complaints)
    preset: Preset = NOTHING
    try:
        preset = preset_named(given.get("preset") or values.get("preset"), presets_of(loaded.settings))
    except UnknownPreset as error:
        if "preset" in given:
            raise CommandError(str(error)) from error
        complaints.append(f"{SETTINGS_FILE}: preset = {as_toml(values.pop('preset'))}: {error} It is ignored.")
    values = {**values, **preset, **given} if "preset" in given else {**preset, **values, **given}
    settings = checked(Settings, values)
    if settings.system:
        prompts = system_prompts(settings)
        if found := prompts.find(settings.system):
            settings = settings.model_copy(update={"system": found.text})
        elif prompts.trouble:
            complaints.append(prompts.trouble)
    return LoadedSettings(settings, tuple(complaints))


def system_prompts(settings: Settings) -> SystemPrompts:
    """The system prompts that have a name."""
    return SystemPrompts(settings.system_prompts, paths.system_prompts_file())


def origins(options: Mapping[str, Any], settings: Settings) -> dict[str, str]:
    """Who says otherwise than Slipstream, setting by setting: what :func:`effective_settings` made of ``options``."""
    preset = presets_of(settings).get(settings.preset or "", NOTHING)
    found: dict[str, str] = {}
    for name in settings.model_fields_set:
        if options.get(name) is not None:
            found[name] = COMMAND_LINE
        elif name in preset and preset[name] == getattr(settings, name):
            found[name] = f"preset {settings.preset}"
        else:
            found[name] = SETTINGS_FILE
    return found


def load_request(settings: Settings) -> LoadSettings:
    """Which files to load, and how."""
    return wanted_pair(settings)[0]


def wanted_pair(
    settings: Settings, last: LastChoice = NO_CHOICE, *, draft_must_be_there: bool = True
) -> tuple[LoadSettings, tuple[str, ...]]:
    """:func:`load_request`, and what there is to say about it: a draft that is not here yet, or not at all. ``last``:
    what was chosen before, for what the settings leave open."""
    chosen_before = settings.model is None and bool(last.target)
    try:
        wanted = last.target if chosen_before else settings.model
        files = find_pair_files(wanted, settings.draft, draft_must_be_there=draft_must_be_there)
    except ModelNotFoundError as error:
        raise CommandError(str(error)) from error
    draft = "" if files.draft is None else str(files.draft)
    if chosen_before:
        draft = last.draft if settings.draft is None and not draft else draft
        load = pair_request(settings, last.target, draft, last.context)
    else:
        load = pair_request(settings, str(files.target), draft, files.context)
    return load.model_copy(update={"draft_refused": files.draft_refused}), files.notes


def pair_request(settings: Settings, target: str, draft: str, context: int | None = None) -> LoadSettings:
    """How to load a target, and a draft where one is named. ``context``: unless the settings say otherwise."""
    return LoadSettings(
        target=ModelFile(path=target, gpu_layers=settings.gpu_layers),
        draft=ModelFile(path=draft, gpu_layers=settings.draft_gpu_layers) if draft else None,
        context=settings.context or context,
        threads=settings.threads,
        mode=settings.mode,
    )


def answer_request(
    settings: Settings, messages: tuple[Message, ...] = (), options: Mapping[str, Any] = NOTHING
) -> GenerateSettings:
    """How answers are made; ``options`` gives limits, and the samplers that the settings do not know."""
    return checked(
        GenerateSettings,
        {
            "messages": messages,
            "sampling": checked(
                Sampling,
                {
                    **{name: getattr(settings, name) for name in Samplers.model_fields},
                    **sampling_values(options),
                },
            ),
            "overflow": _plain(options.get("overflow")) or "stop",
            "seed": settings.seed if options.get("seed") is None else options["seed"],
            "speculation": settings.speculation,
            "draft_max": settings.draft_max,
            "max_tokens": options.get("max_tokens") or settings.max_tokens,
            "thinking": settings.thinking,
            "stop": tuple(options.get("stop") or ()),
        },
    )


def checked(kind: type[Record], values: Mapping[str, Any]) -> Record:
    """A record of ``kind``; a value out of bounds is named by its option."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        problems = error.errors(include_url=False)
        name = str(problems[0]["loc"][0])
        limits = wanted((one for one in problems if one["loc"][0] == name), kind.model_fields[name])
        given = f"{value:.12g}" if isinstance(value := values[name], float) else value
        raise CommandError(f"--{name.replace('_', '-')} must be {limits}, not {given}.") from error


def _plain(value: Any) -> Any:
    """An option's value as the settings file would hold it."""
    return str(value) if isinstance(value, str) else value
