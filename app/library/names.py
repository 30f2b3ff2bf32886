"""What a person may write to name a model of the hub, parsed into a wish.

``NAME`` is a pair of the catalogue, ``OWNER/REPO`` a repository, ``OWNER/REPO:QUANT`` one quantization of it, and
``OWNER/REPO/PATH/FILE.gguf`` one file. The address of a repository or file in a browser means the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from app.clean import clean_line
from app.library.hub_errors import HubError
from app.library.layout import wrong_path, wrong_repo

_LONGEST = 300
_HUB_HOSTS = ("huggingface.co", "www.huggingface.co", "hf.co")
_QUANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
_REVISION = re.compile(r"[A-Za-z0-9_](?:[\w./-]{0,98}[A-Za-z0-9_])?", re.ASCII)
_NOT_MODELS = ("datasets", "spaces", "collections", "papers", "docs", "buckets")
_FORMS = "a model is a name of the catalogue, OWNER/REPO, OWNER/REPO:QUANT or OWNER/REPO/FILE.gguf"


@dataclass(frozen=True)
class PairWish:
    """A pair of the catalogue."""

    name: str


@dataclass(frozen=True)
class RepoWish:
    """A repository, from which one quantization is chosen."""

    repo: str
    quant: str | None = None
    revision: str | None = None


@dataclass(frozen=True)
class FileWish:
    """One file of a repository (of a split model any part means all)."""

    repo: str
    path: str
    revision: str | None = None


Wish = PairWish | RepoWish | FileWish


def parse_wish(text: str, endpoint: str | None = None) -> Wish:
    """The wish that ``text`` is; :class:`HubError` with the code ``wish`` when it is none.

    Addresses of ``endpoint`` (a mirror) are understood like those of the hub itself.
    """
    wanted = text.strip()
    if not wanted:
        raise _refused("Nothing was named", _FORMS)
    if len(wanted) > _LONGEST:
        raise _refused(f"{_printable(wanted)} is too long to be a model's name", _FORMS)
    if not wanted.isprintable():
        raise _refused(f"{_printable(wanted)} has control codes in it", _FORMS)
    if (address := _address(wanted, endpoint)) is not None:
        return address
    if (
        wanted.startswith(("/", "~", "./", "../", ".\\", "..\\"))
        or "\\" in wanted
        or re.match(r"[A-Za-z]:[/\\]", wanted)
    ):
        raise _refused(f"{wanted} is a path on this disk, not a model of the hub", _FORMS)
    if "/" in wanted:
        return _parse_plain(wanted, wanted)
    if wanted.lower().endswith(".gguf"):
        raise _refused(f"{wanted} is only a file's name", "a file of the hub is OWNER/REPO/FILE.gguf")
    if ":" in wanted:
        raise _refused(f"{wanted} has no owner", "a quantization is asked for as OWNER/REPO:QUANT")
    return PairWish(wanted)


def _parse_plain(plain: str, wanted: str, revision: str | None = None) -> Wish:
    """OWNER/REPO[:QUANT] or OWNER/REPO/PATH/FILE.gguf; ``wanted`` is what was written, for the words."""
    body, colon, quant = plain.partition(":")
    segments = body.split("/")
    repo, path = "/".join(segments[:2]), "/".join(segments[2:])
    if why := wrong_repo(repo):
        raise _refused(f"{wanted} names no repository: {why}", _FORMS)
    if len(segments) == 2:
        if repo.lower().endswith(".gguf"):
            raise _refused(f"{wanted} names a file without its repository", "write OWNER/REPO/FILE.gguf")
        if colon and not _QUANT.fullmatch(quant):
            raise _refused(f"{wanted} has no quantization after the colon", "a quantization looks like Q4_K_M")
        return RepoWish(repo, quant or None, revision)
    if colon:
        raise _refused(
            f"{wanted} names a file and a quantization", "the file says it all: leave out what follows the :"
        )
    if not path.lower().endswith(".gguf"):
        raise _refused(f"{wanted} is no GGUF file", "only files that end in .gguf can be run")
    if why := wrong_path(path):
        raise _refused(f"{wanted} is not fetched: {why}", _FORMS)
    return FileWish(repo, path, revision)


def _address(wanted: str, endpoint: str | None) -> Wish | None:
    """The wish in an address, or None when ``wanted`` is no address."""
    if wanted.lower().startswith("hf://"):
        return _parse_plain(wanted[len("hf://") :], wanted)
    with_scheme = wanted
    if "://" not in wanted:
        if wanted.split("/", 1)[0].lower() not in _HUB_HOSTS:
            return None
        with_scheme = f"https://{wanted}"
    try:
        parts = urlsplit(with_scheme)
        host, foreign = parts.hostname or "", parts.scheme not in ("http", "https")
        has_login = parts.username is not None or parts.password is not None
    except ValueError:
        raise _refused(f"{wanted} is no valid address", _FORMS) from None
    if has_login:
        raise _refused("An address with a user name or password in it is not taken", "log in with `hf auth login`")
    prefix = _prefix(parts, host, endpoint)
    if foreign or prefix is None:
        raise _refused(f"{wanted} is not an address of the hub", _FORMS)
    # Cut first, decode then: a %2F is part of a revision or name, and no cut.
    return _parse_address(wanted, [unquote(part) for part in parts.path[len(prefix) :].strip("/").split("/")])


def _prefix(parts: SplitResult, host: str, endpoint: str | None) -> str | None:
    """The path that stands before OWNER on this host, or None for a host that is no hub."""
    if host.lower() in _HUB_HOSTS:
        return ""
    mirror = urlsplit(endpoint) if endpoint else None
    if mirror is None or mirror.netloc.lower() != parts.netloc.lower():
        return None
    prefix = mirror.path.rstrip("/")
    return prefix if parts.path.startswith(prefix) else None


def _parse_address(wanted: str, segments: list[str]) -> Wish:
    """OWNER/REPO, OWNER/REPO/tree/REVISION or OWNER/REPO/(blob|resolve|raw)/REVISION/FILE, as a browser shows them."""
    if not "".join(segments).isprintable():
        raise _refused(f"{wanted} has control codes in it", _FORMS)
    if segments[0] in _NOT_MODELS:
        raise _refused(f"{wanted} is not the address of a model", _FORMS)
    if len(segments) <= 2 or segments[2] not in ("tree", "blob", "resolve", "raw") or len(segments) == 3:
        return _parse_plain("/".join(segments), wanted)
    kind, rest = segments[2], segments[3:]
    revision = None if rest[0] == "main" else rest[0]
    if revision is not None and not _REVISION.fullmatch(revision):
        raise _refused(f"{wanted} names no revision that can be", "open the file on the hub and copy its address")
    plain = "/".join(segments[:2] + (rest[1:] if kind != "tree" else []))
    return _parse_plain(plain, wanted, revision)


def _refused(what: str, instead: str) -> HubError:
    return HubError("wish", f"{what}; {instead}.")


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "\ufffd" for character in clean_line(text, 60))
