"""What llama.cpp's old cache says of a file that ``-hf OWNER/REPO`` put there.

The cache is one flat folder of ``OWNER_REPO_FILE``, each ``/`` of them written as ``_``. Where the one ends and the
other begins is told by ``<file>.json`` (address and ETag) or, of later versions, by ``manifest=OWNER=REPO=TAG.json``
(the file's name on the hub) and ``<file>.etag``. None of them is believed unless it makes up the very name that the
file has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from app.json_text import parsed
from app.library.choice import split_name
from engine.files.kept import read_kept

MOST_BYTES: Final = 1_000_000
"""A manifest is a page of JSON."""
MOST_MANIFESTS: Final = 1_000

_URL: Final = re.compile(r"https?://[^\s?#]+?/([\w.-]+/[\w.-]+)/resolve/[^/\s?#]+/([^\s?#]+)", re.ASCII)
_MANIFEST: Final = re.compile(r"manifest=([\w.-]+)=([\w.-]+)=[^=]+\.json", re.ASCII)
_SHA256: Final = re.compile(r'"?([0-9a-f]{64})"?')


def fetched_from(file: Path) -> tuple[str, str, str | None] | None:
    """Repository, path inside it, and SHA-256 (None where that is not said) of a file of the cache; None where nothing
    is known."""
    noted = _noted(_beside(file, ".json"))
    etag = noted.get("etag")
    if not isinstance(etag, str):
        etag = _read(_beside(file, ".etag")).decode("ascii", "replace").strip()
    hashed = match[1] if (match := _SHA256.fullmatch(etag)) else None
    url = noted.get("url")
    named = _URL.fullmatch(url) if isinstance(url, str) else None
    known = [(named[1], unquote(named[2]))] if named is not None else _of_manifests(file)
    for repo, path in known:
        if f"{repo}_{path}".replace("/", "_") == file.name:
            return repo, path, hashed
    return None


def _of_manifests(file: Path) -> Iterator[tuple[str, str]]:
    """What the manifests beside ``file`` may call it: they name the first part of a model in parts only."""
    try:
        manifests = sorted(file.parent.glob("manifest=*.json"))[:MOST_MANIFESTS]
    except OSError:
        return
    for manifest in manifests:
        match = _MANIFEST.fullmatch(manifest.name)
        if match is None or not file.name.startswith(f"{match[1]}_{match[2]}_"):
            continue
        of_it = _noted(manifest).get("ggufFile")
        path = of_it.get("rfilename") if isinstance(of_it, dict) else None
        if not isinstance(path, str):
            continue
        first, this = split_name(path), split_name(file.name)
        if first.count and this.count == first.count:
            path = f"{first.stem}-{this.number:05}-of-{this.count:05}.gguf"
        yield f"{match[1]}/{match[2]}", path


def _beside(file: Path, ending: str) -> Path:
    return file.with_name(file.name + ending)


def _noted(file: Path) -> dict[str, Any]:
    """A table that another program wrote down; empty where it did not, or not so that it can be read."""
    try:
        said = parsed(_read(file))
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _read(file: Path) -> bytes:
    try:
        return read_kept(file, MOST_BYTES)
    except OSError:
        return b""
