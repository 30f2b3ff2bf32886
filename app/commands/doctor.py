"""``slipstream doctor``: what is here, what works, and what is wrong with each. Exit code 0 when all is well."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from app import __version__, paths
from app.clean import clean, clean_line
from app.commands import client
from app.commands.errors import FAILED
from app.commands.exactness import exactness_words, examine_exactness
from app.commands.stdout import print_text
from app.library.catalog import Catalog
from app.library.facts import facts_of
from app.library.lookup import find_model
from app.library.outside import named_by_path
from app.library.resolve import ModelNotFoundError, find_source, gguf_files, resolve
from app.library.user_catalog import load_catalog
from app.library.words import why_words
from app.presets import UnknownPreset, preset_named, presets_of
from app.settings import Settings, load_settings
from app.settings_check import as_toml
from engine.files.header import Header, HeaderError, read_header
from engine.files.sizes import size_words
from engine.protocol import Failed

PACKAGES = ("llama-cpp-python", "textual", "huggingface-hub", "pydantic", "numpy", "jinja2")

LOW_DISK = 1 << 30

ENGINE_PATIENCE = 30.0
"""Seconds the engine has to describe itself."""


def run_doctor(as_json: bool, *, self_test: bool = False, model: str | None = None) -> int:
    """Look at everything, print it, and return the exit code."""
    report = examine()
    if model is not None and not self_test:
        report["models"].append(_named_model(model, report["problems"]))
    try:
        if self_test:
            report["exactness"] = examine_exactness(model, report["problems"])
    except KeyboardInterrupt:
        report["exactness"] = {"error": "The self-test was stopped; nothing of it is kept."}
        raise
    finally:  # what is known is said, also where the test is stopped
        print_text(json.dumps(report, indent=2, ensure_ascii=False) if as_json else _words(report))
    return FAILED if report["problems"] else 0


def examine() -> dict[str, Any]:
    """The whole report; ``problems`` lists, one sentence each, everything in it that is wrong."""
    problems: list[str] = []
    report: dict[str, Any] = {
        "slipstream": __version__,
        "versions": _versions(problems),
        "engine": _engine(problems),
        "folders": [_folder(name, folder, problems) for name, folder in _folders()],
        "settings": _settings(problems),
        "models": _models(problems),
        "terminal": _terminal(),
    }
    return {**report, "problems": problems}


def _versions(problems: list[str]) -> dict[str, str]:
    versions = {"python": platform.python_version(), "system": platform.platform()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            problems.append(f"The package {package} is not installed.")
    return versions


def _engine(problems: list[str]) -> dict[str, Any]:
    """What the engine process says of itself, or why it does not."""
    try:
        answer = client.describe_engine(ENGINE_PATIENCE)
    except TimeoutError:
        problems.append(f"The engine did not answer within {ENGINE_PATIENCE:.0f} seconds.")
        return {"error": problems[-1]}
    if isinstance(answer, Failed):
        what_happened = re.split(r"(?<=\.)\s", answer.message, maxsplit=1)[0]  # the rest speaks of answers kept
        last_words = answer.detail.splitlines()[-1:]
        problems.append(" Its last words: ".join([what_happened, *last_words]))
        return {"error": what_happened, "log": answer.detail}
    return answer.model_dump(exclude={"kind", "id"}, mode="json")


def _folders() -> list[tuple[str, Path]]:
    return [
        ("data", paths.data_dir()),
        ("models", paths.models_dir()),
        ("config", paths.config_dir()),
        ("cache", paths.cache_dir()),
        ("state", paths.state_dir()),
        ("log", paths.log_dir()),
    ]


def _folder(name: str, folder: Path, problems: list[str]) -> dict[str, Any]:
    """Whether the folder can be written to; one that is not there yet is judged by where it would be made."""
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    wrong = None
    try:
        if not existing.is_dir():
            raise NotADirectoryError(f"{existing} is a file")
        with tempfile.TemporaryFile(dir=existing):  # asking for permission bits is not enough on network disks
            pass
        free = shutil.disk_usage(existing).free
    except OSError as error:
        free = None
        wrong = f"The {name} folder {folder} cannot be written to: {error.strerror or error}."
    if name == "data" and free is not None and free < LOW_DISK:
        wrong = f"The disk of the data folder {folder} has only {size_words(free)} left."
    if wrong:
        problems.append(wrong)
    return {"name": name, "path": str(folder), "exists": folder.is_dir(), "free_bytes": free, "wrong": wrong}


def _settings(problems: list[str]) -> dict[str, Any]:
    file = paths.settings_file()
    loaded = load_settings(file, named=None)
    wrong = [*loaded.complaints]
    if loaded.settings.keys:
        from app.tui.keymap import read  # with Textual: only where there is something to read

        wrong += read(loaded.settings.keys).complaints
    wrong += _names_of_nothing(loaded.settings)
    problems += wrong
    for name in ("model", "draft"):
        if wanted := getattr(loaded.settings, name):
            try:
                find_model(wanted)
            except ModelNotFoundError as error:
                problems.append(f'settings.toml: {name} = "{clean_line(wanted, 200)}": {error}')
    return {"path": str(file), "exists": file.exists(), "wrong": wrong}


def _names_of_nothing(settings: Settings) -> list[str]:
    """A preset and a theme that the file asks for and that there are not."""
    wrong: list[str] = []
    try:
        preset_named(settings.preset, presets_of(settings))
    except UnknownPreset as error:
        wrong.append(
            f"settings.toml: preset = {as_toml(clean_line(settings.preset or '', 60))}: {error} It is ignored."
        )
    if "theme" in settings.model_fields_set:
        from app.tui.theme import NO_SUCH_THEME, can_be_chosen  # with Textual: only where there is something to look at

        if not can_be_chosen(settings.theme):
            wrong.append(NO_SUCH_THEME.format(name=clean_line(settings.theme, 40)))
    return wrong


def _catalog() -> Catalog:
    return load_catalog(paths.catalog_file()).catalog


def _models(problems: list[str]) -> list[dict[str, Any]]:
    """Every model file that can be asked for by name, and whether it is whole."""
    problems += load_catalog(paths.catalog_file()).complaints
    files = gguf_files(paths.models_dir())
    try:
        starter = find_source(_catalog().starter.target, paths.models_dir())
        files = [starter, *(file for file in files if file != starter)]
    except ModelNotFoundError as error:
        problems.append(str(error))
    return [_model(file, problems) for file in files]


def _model(file: Path, problems: list[str]) -> dict[str, Any]:
    report: dict[str, Any] = {"path": str(file), "wrong": None}
    try:
        header = read_header(file)
    except HeaderError as error:
        report["wrong"] = error.message
    except OSError as error:
        report["wrong"] = f"{file} cannot be read: {error.strerror or error}."
    else:
        report |= {
            "name": header.name,
            "architecture": header.architecture,
            "size_bytes": header.size,
            "context": header.context_length,
        }
        if (fault := _fault(file, header)) is not None:
            report["wrong"] = f"{why_words(file.name, fault)}."
    if report["wrong"]:
        problems.append(report["wrong"])
    return report


def _fault(file: Path, header: Header) -> str | None:
    """Why a model whose header can be read cannot be used; of one in parts, all are looked at."""
    if header.split is None:
        return facts_of(header).fault
    model = named_by_path(str(file))
    return model.fault if model is not None else None


def _named_model(wanted: str, problems: list[str]) -> dict[str, Any]:
    """The model that was asked about, whole or not."""
    try:
        return _model(resolve(wanted, paths.models_dir(), _catalog()), problems)
    except ModelNotFoundError as error:
        problems.append(str(error))
        return {"path": wanted, "wrong": str(error)}


def _terminal() -> dict[str, Any]:
    facts = {"term": os.environ.get("TERM"), "encoding": getattr(sys.stdout, "encoding", None)}
    try:
        size = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):  # a pipe or a file
        return {**facts, "columns": None, "rows": None}
    return {**facts, "columns": size.columns, "rows": size.lines}


def _words(report: dict[str, Any]) -> str:
    """The report for people."""
    lines = [f"slipstream {report['slipstream']}", *_pairs(report["versions"])]
    lines += ["", "engine", *_engine_words(report["engine"])]
    lines += ["", "folders"]
    for folder in report["folders"]:
        lines.append(f"  {folder['name']:<10} {folder['path']}  ({_folder_words(folder)})")
    settings = report["settings"]
    lines.append(f"  {'settings':<10} {settings['path']}" + ("" if settings["exists"] else "  (none)"))
    lines += ["", "models", *(_model_words(model) for model in report["models"])]
    if "exactness" in report:
        lines += ["", "exactness", *exactness_words(report["exactness"])]
    terminal = report["terminal"]
    size = f"{terminal['columns']} x {terminal['rows']}" if terminal["columns"] else "output is not a terminal"
    lines += ["", f"terminal     {terminal['term']}, {size}, {terminal['encoding']}", ""]
    problems = report["problems"]
    if problems:
        lines += [f"{len(problems)} problem{'s' * (len(problems) > 1)}:", *(f"  {problem}" for problem in problems)]
    else:
        lines.append("All is well.")
    return clean("\n".join(lines))


def _folder_words(folder: dict[str, Any]) -> str:
    if folder["free_bytes"] is None:
        return "cannot be written to"
    return f"{size_words(folder['free_bytes'])} free" if folder["exists"] else "will be made when needed"


def _engine_words(engine: dict[str, Any]) -> list[str]:
    if "error" in engine:
        return [f"  {engine['error']}", *(f"  | {line}" for line in engine.get("log", "").splitlines()[-8:])]
    devices = [
        f"{device['name']}: {device['description']} ({device['kind']}, {size_words(device['memory_total'])})"
        for device in engine["devices"]
    ]
    facts = {
        "build": ", ".join(f"{name} {number}" for name, number in engine["versions"].items()),
        "processor": engine["system_info"].strip(),
        "devices": "; ".join(devices) or "none",
        "offload": "to a GPU is built in; auto offloads as many layers as fit"
        if engine["gpu_offload"]
        else "none: this build has no GPU backend",
        "threads": f"{engine['threads']} ({engine['cores']})",
        "exact": ", ".join(f"{name}={value}" for name, value in engine["exact_settings"].items()),
        "environment": ", ".join(f"{name}={value}" for name, value in engine["environment"].items() if value),
    }
    return _pairs(facts)


def _model_words(model: dict[str, Any]) -> str:
    if model["wrong"]:
        return f"  {model['path']}  (unusable)"
    context = f", context {model['context']}" if model["context"] else ""
    return f"  {model['path']}  (whole, {size_words(model['size_bytes'])}, {model['architecture']}{context})"


def _pairs(facts: dict[str, str]) -> list[str]:
    width = max(len(name) for name in facts)
    return [f"  {name:<{width}}  {value}" for name, value in facts.items()]
