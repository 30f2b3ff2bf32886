"""Every folder and file the app owns, in one place.

``SLIPSTREAM_HOME`` puts everything into one folder (portable use, tests); else the platform's own places are used.
The functions that name a folder or a file do not touch the disk; :func:`ensure` creates a folder when it is needed.
"""

from __future__ import annotations

import contextlib
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from app.links import no_folder_words

if TYPE_CHECKING:
    from platformdirs import PlatformDirs

HOME_VARIABLE = "SLIPSTREAM_HOME"

KEPT_ENGINE_LOGS = 10
"""Logs of earlier engine processes that stay for a bug report."""


class FolderError(Exception):
    """A folder the app needs cannot be made; ``str(error)`` says which, why, and what to do."""


def home() -> Path | None:
    """The one folder for everything, when the user named one."""
    named = os.environ.get(HOME_VARIABLE, "").strip()
    return Path(named).expanduser().absolute() if named else None


def data_dir() -> Path:
    """What must not be lost: chats and models."""
    return home() or _platform().user_data_path


def models_dir() -> Path:
    """Model files that this app fetched. They can be fetched again, but cache cleaners must leave them alone."""
    return data_dir() / "models"


def chats_file() -> Path:
    """The store of conversations."""
    return data_dir() / "chats.sqlite"


def system_prompts_file() -> Path:
    """The system prompts that were kept by name from within a chat."""
    return data_dir() / "system-prompts.json"


def bench_dir() -> Path:
    """What ``slipstream bench`` measured, a file a run."""
    return ensure(data_dir() / "bench")


def config_dir() -> Path:
    """What the user writes."""
    return home() or _platform().user_config_path


def settings_file() -> Path:
    """The settings, edited by hand."""
    return config_dir() / "settings.toml"


def catalog_file() -> Path:
    """The user's own model pairs, which extend the shipped catalogue; edited by hand."""
    return config_dir() / "models.toml"


def model_folders_file() -> Path:
    """Further folders with models, added by the user."""
    return config_dir() / "model-folders.txt"


def cache_dir() -> Path:
    """What can be made again at any time."""
    named = home()
    return named / "cache" if named else _platform().user_cache_path


def engine_cache_dir() -> Path:
    """What the engine learned about pairs on this machine."""
    return cache_dir() / "engine"


def model_facts_file() -> Path:
    """What the headers of the model files on this disk said when they were last read."""
    return cache_dir() / "model-files.json"


def state_dir() -> Path:
    """What the app remembers between runs and could do without: measurements, window state, input history."""
    named = home()
    return named / "state" if named else _platform().user_state_path


def last_choice_file() -> Path:
    """Which pair was chosen last in the terminal interface, and who may propose."""
    return state_dir() / "last-choice.json"


def log_dir() -> Path:
    """Logs of the app and of its engine processes."""
    named = home()
    return named / "log" if named else _platform().user_log_path


def app_log() -> Path:
    """The app's own log; instances append to it line by line."""
    return log_dir() / "app.log"


def engine_log(pid: int | None = None) -> Path:
    """Where the engine of the app process ``pid`` (default: this one) writes; one file each, so that two instances
    do not interleave. Makes the folder, and drops all but the newest logs of processes before."""
    folder = ensure(log_dir())
    mine = folder / f"engine-{os.getpid() if pid is None else pid}.log"
    _prune(folder, keep=mine)
    return mine


def ensure(folder: Path) -> Path:
    """Make ``folder`` (readable by its owner only: chats are private) unless it is there; returns it.
    :class:`FolderError` when that is impossible."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise FolderError(
            f"The folder {folder} cannot be created: {no_folder_words(error, folder)}. "
            f"Set {HOME_VARIABLE} to a folder that can be written to."
        ) from error
    return folder


@cache
def _platform() -> PlatformDirs:
    from platformdirs import PlatformDirs

    return PlatformDirs("slipstream", appauthor=False)


def _prune(folder: Path, keep: Path) -> None:
    """A log that cannot be removed (Windows: still open) is a matter for the next start."""
    ages: list[tuple[float, Path]] = []
    for log in folder.glob("engine-*.log"):
        with contextlib.suppress(OSError):
            ages.append((log.stat().st_mtime, log))
    for _, log in sorted(ages, reverse=True)[KEPT_ENGINE_LOGS:]:
        if log != keep:
            with contextlib.suppress(OSError):
                log.unlink()
