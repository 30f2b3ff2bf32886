"""Ollama's store: manifests that name layers, and the layers as blobs under their hashes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from app.library.found import OLLAMA, Candidate, Found
from app.library.walk import BEING_WRITTEN, LeftOut, half_written, listed, plain_name, why_not

MOST_MANIFESTS: Final = 5_000
MOST_BYTES: Final = 1_000_000
"""A manifest is a page of JSON."""

LATEST: Final = ":latest"
"""The tag that may be left out."""

NO_MANIFEST: Final = "its manifest cannot be understood"
NOT_IN_FULL: Final = "is not here in full"
"""Behind the model's name."""

_MODEL_LAYERS: Final = frozenset(
    f"application/vnd.ollama.image.{kind}" for kind in ("model", "draft", "projector", "adapter")
)
_DIGEST: Final = re.compile(r"^sha256[:-]([0-9a-f]{64})$")
_DEFAULT_HOST, _DEFAULT_OWNER = "registry.ollama.ai", "library"


@dataclass(frozen=True, slots=True)
class OllamaStore:
    """``folder`` holds ``manifests/<host>/<owner>/<model>/<tag>`` and ``blobs/sha256-<hash>``."""

    folder: Path
    origin: str = OLLAMA

    def find(self) -> Iterator[Found]:
        """The blobs that manifests name, and what cannot be read of them."""
        for manifest in self._manifests():
            if isinstance(manifest, LeftOut):
                yield manifest
            else:
                yield from self._layers(manifest)
        entries = listed(self.folder / "blobs", self.origin)
        if isinstance(entries, LeftOut):
            yield entries
            return
        for entry in entries:
            # A blob is written in parts beside each other: sha256-…-partial, -partial-0, -partial-1.
            if half_written(entry.name) and not re.search(r"-\d+$", entry.name):
                yield LeftOut(Path(entry.path), self.origin, BEING_WRITTEN, expected=True)

    def _manifests(self) -> Iterator[Path | LeftOut]:
        """Files four folders deep; links are not followed, there are none in a store."""
        level: list[Path] = [self.folder / "manifests"]
        for depth in range(4):
            below: list[Path] = []
            for folder in level:
                entries = listed(folder, self.origin)
                if isinstance(entries, LeftOut):
                    yield entries
                    continue
                for entry in entries:
                    wanted = entry.is_dir if depth < 3 else entry.is_file
                    if wanted(follow_symlinks=False) and not entry.name.startswith("."):  # .DS_Store, for one
                        below.append(Path(entry.path))
            level = below[:MOST_MANIFESTS]
        yield from level

    def _layers(self, manifest: Path) -> Iterator[Found]:
        name = name_of(manifest.relative_to(self.folder / "manifests"))
        try:
            with open(manifest, "rb") as file:
                said = json.loads(file.read(MOST_BYTES))
            layers: list[Any] = said["layers"] or []  # null: the model is in Ollama's cloud, and nothing of it is here
            wanted = [layer for layer in layers if layer["mediaType"] in _MODEL_LAYERS]
            digests = [str(layer["digest"]) for layer in wanted]
        except OSError as error:
            yield LeftOut(manifest, self.origin, why_not(manifest, error))
            return
        except (ValueError, KeyError, TypeError, RecursionError):
            yield LeftOut(manifest, self.origin, NO_MANIFEST)
            return
        for digest in digests:
            match = _DIGEST.match(digest)  # anything else could lead out of the store
            if match is None:
                yield LeftOut(manifest, self.origin, NO_MANIFEST)
                continue
            blob = self.folder / "blobs" / f"sha256-{match[1]}"
            if not plain_name(str(blob)) or not plain_name(name):
                yield LeftOut(blob, self.origin, "its name holds control codes")
            elif not blob.is_file():
                yield LeftOut(blob, self.origin, f"{name} {NOT_IN_FULL}", name)
            else:
                yield Candidate(blob, self.origin, name, renamed=True)


def name_of(manifest: Path) -> str:
    """A model as people write it: ``llama3.2:1b``, ``owner/model:tag``, ``hf.co/owner/model:tag``."""
    host, owner, model, tag = manifest.parts
    before = [] if host == _DEFAULT_HOST else [host]
    if before or owner != _DEFAULT_OWNER:
        before.append(owner)
    return "/".join([*before, f"{model}:{tag}"])
