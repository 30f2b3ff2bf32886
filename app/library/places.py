"""Where model files lie on this disk: our own folder, and those of other tools, which are read and never written.

A place yields one candidate a file, and what is left out with the reason, where it would be missed otherwise: a link
to nothing, a folder that may not be read, a download that has not ended.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from app.library.catalog import Catalog, ModelSource
from app.library.found import ADDED, HUB, JAN, LLAMA_CPP, LM_STUDIO, OURS, PACKAGE, Candidate, Found, Place
from app.library.ollama import OllamaStore
from app.library.resolve import packaged_file
from app.library.walk import MOST_DEPTH, LeftOut, half_written, listed, walk
from app.links import NOWHERE, dead_link

_SETTINGS_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Folder:
    """Model files anywhere below a folder."""

    folder: Path
    origin: str
    depth: int = MOST_DEPTH
    must_exist: bool = False

    def find(self) -> Iterator[Found]:
        """Every ``.gguf`` file."""
        if self.must_exist and not self.folder.exists() and dead_link(self.folder) is None:
            yield LeftOut(self.folder, self.origin, "there is no such folder")
        for found in walk(self.folder, self.origin, depth=self.depth, ours=self.origin == OURS):
            yield found if isinstance(found, LeftOut) else Candidate(found, self.origin)


@dataclass(frozen=True, slots=True)
class HubCache:
    """``models--owner--repo/snapshots/<commit>/...``, links to ``blobs``; what llama.cpp fetches lies there, too."""

    folder: Path
    origin: str = HUB

    def find(self) -> Iterator[Found]:
        """Every ``.gguf`` file of every snapshot."""
        entries = listed(self.folder, self.origin)
        if isinstance(entries, LeftOut):
            yield entries
            return
        for entry in entries:
            if not entry.name.startswith("models--"):
                continue
            repository = Path(entry.path)
            if dead_link(repository) is not None:  # moved to a disk that is not there
                if "gguf" in entry.name.lower():
                    yield LeftOut(repository, self.origin, NOWHERE)
                continue
            for found in walk(repository / "snapshots", self.origin, depth=4):
                yield found if isinstance(found, LeftOut) else Candidate(found, self.origin)
            yield from self._unfinished(repository)

    def _unfinished(self, repository: Path) -> Iterator[LeftOut]:
        """Downloads that have not ended bear a hash as their name; only a repository of GGUF files is worth a word."""
        if "gguf" not in repository.name.lower():
            return
        entries = listed(repository / "blobs", self.origin)
        for entry in () if isinstance(entries, LeftOut) else entries:
            if half_written(entry.name):
                name = repository.name.removeprefix("models--").replace("--", "/")
                words = f"a file of {name} is still being written"
                yield LeftOut(Path(entry.path), self.origin, words, expected=True)


@dataclass(frozen=True, slots=True)
class Packages:
    """Files of the catalogue inside installed Python packages."""

    sources: tuple[ModelSource, ...]
    origin: str = PACKAGE

    def find(self) -> Iterator[Found]:
        """Those that are installed."""
        for source in self.sources:
            if (file := packaged_file(source)) is not None:
                yield Candidate(file, self.origin)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What decides where other tools keep their files; made up in tests."""

    environment: Mapping[str, str]
    home: Path
    platform: str = sys.platform

    @staticmethod
    def here() -> Surroundings:
        """This process's."""
        return Surroundings(os.environ, Path.home())

    def folder(self, variable: str) -> Path | None:
        """The folder a variable names; None where it is not set."""
        named = self.environment.get(variable, "").strip()
        if not named:
            return None
        if named == "~" or named.startswith("~/"):
            named = str(self.home) + named[1:]
        return Path(named).absolute()


def places(
    models_dir: Path, catalog: Catalog, added: Sequence[Path] = (), around: Surroundings | None = None
) -> list[Place]:
    """Everywhere to look: ours first, so that of a file seen twice our copy is the one that counts."""
    around = around or Surroundings.here()
    files = [source for pair in catalog.pair for source in (pair.target, pair.draft)]
    packaged = tuple(source for source in files if isinstance(source, ModelSource) and source.package)
    found: list[Place] = [Folder(models_dir, OURS), Packages(packaged)]
    found += [Folder(folder, ADDED, must_exist=True) for folder in added]
    found += [HubCache(folder) for folder in hub_folders(around)]
    found += [Folder(folder, LM_STUDIO) for folder in lm_studio_folders(around)]
    found += [OllamaStore(folder) for folder in ollama_folders(around)]
    found += [Folder(folder, LLAMA_CPP, depth=0) for folder in llama_cpp_folders(around)]
    found += [Folder(folder, JAN) for folder in jan_folders(around)]
    return found


def hub_folders(around: Surroundings) -> list[Path]:
    """The hub library's cache, and llama.cpp's, which is the same by default and of the same form."""
    legacy = around.folder("HUGGINGFACE_HUB_CACHE")
    hub = around.folder("HF_HUB_CACHE") or legacy
    if hub is None and (home := around.folder("HF_HOME")):
        hub = home / "hub"
    if hub is None:
        hub = (around.folder("XDG_CACHE_HOME") or around.home / ".cache") / "huggingface" / "hub"
    return _unlike([hub, around.folder("LLAMA_CACHE")])


def lm_studio_folders(around: Surroundings) -> list[Path]:
    """LM Studio's models, in its home (which a file may point to), where its settings say, and where they were."""
    homes = [around.home / ".lmstudio", around.home / ".cache" / "lm-studio"]
    if pointed := _absolute(_read(around.home / ".lmstudio-home-pointer").strip()):
        homes.insert(0, pointed)
    moved = [_moved(home / "settings.json") for home in homes]
    return _unlike([*moved, *(home / "models" for home in homes)])


def ollama_folders(around: Surroundings) -> list[Path]:
    """Ollama's stores: the user's, and on Linux the one of its service, where that may be read."""
    service = [Path("/usr/share/ollama/.ollama/models"), Path("/var/lib/ollama/models")]
    own = around.folder("OLLAMA_MODELS") or around.home / ".ollama" / "models"
    return _unlike([own, *(service if around.platform == "linux" else [])])


def llama_cpp_folders(around: Surroundings) -> list[Path]:
    """The flat folder that llama.cpp kept its downloads in before it took over the hub's cache."""
    if around.platform == "darwin":
        usual = around.home / "Library" / "Caches" / "llama.cpp"
    elif around.platform == "win32":
        usual = (around.folder("LOCALAPPDATA") or around.home / "AppData" / "Local") / "llama.cpp"
    else:
        usual = (around.folder("XDG_CACHE_HOME") or around.home / ".cache") / "llama.cpp"
    return _unlike([around.folder("LLAMA_CACHE"), usual])


def jan_folders(around: Surroundings) -> list[Path]:
    """Jan's models."""
    if around.platform == "darwin":
        data = around.home / "Library" / "Application Support"
    elif around.platform == "win32":
        data = around.folder("APPDATA") or around.home / "AppData" / "Roaming"
    else:
        data = around.folder("XDG_DATA_HOME") or around.home / ".local" / "share"
    return [data / "Jan" / "data" / "llamacpp" / "models"]


def _moved(settings: Path) -> Path | None:
    """The models folder that LM Studio's settings name."""
    try:
        said: Any = json.loads(_read(settings))
        folder = str(said["downloadsFolder"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return _absolute(folder)


def _absolute(text: str) -> Path | None:
    """The folder that another tool wrote down, where it can be one."""
    return Path(text) if os.path.isabs(text) and "\0" not in text else None


def _read(file: Path) -> str:
    """A small text file of another tool; empty where there is none."""
    try:
        if not file.is_file():  # opening a pipe would wait for ever
            return ""
        with open(file, encoding="utf-8", errors="replace") as opened:
            return opened.read(_SETTINGS_BYTES)
    except OSError:
        return ""


def _unlike(folders: Sequence[Path | None]) -> list[Path]:
    """Each folder once, in order."""
    return list(dict.fromkeys(folder for folder in folders if folder is not None))
