"""What a server's answer means for a transfer: go on, start over, try again, or give up with words."""

from __future__ import annotations

import http
import re
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from app.library.proxies import login_refused
from app.library.transfer.errors import Again, Refused, StartOver
from app.library.transfer.wanted import Wanted
from app.library.transfer.words import duration
from engine.files.sizes import two_sizes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.library.transfer.stream import Head

_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)")
_RATE_LIMIT = re.compile(r'"\w+"\s*;\s*r\s*=\s*0\s*;\s*t\s*=\s*(\d+)')
_PAGES = ("text/html", "application/xhtml+xml")
_BEGINNINGS = (b"<!doctype", b"<html", b"<?xml", b"{", b"version https://git-lfs")

LOG_IN_FIRST = http.HTTPStatus.NETWORK_AUTHENTICATION_REQUIRED
"""What a network answers in the hub's place until somebody logs in to it."""
LOG_IN = "log in: hf auth login"
LOOK_UP = "look the model up again, it may have been renamed or taken away"


def body_offset(head: Head, wanted: Wanted, offset: int, longest_order: float) -> int:
    """Where in the file the body begins, when ``offset`` was asked for: there, or 0."""
    if head.status not in (200, 206, 416):
        raise _refusal(head, wanted, longest_order)
    if wanted.is_other(head.hub_etag) or head.hub_size not in (None, wanted.size):
        raise changed(wanted.host, wanted, head.hub_size).refusal  # nothing that it sends would fit
    if head.status == 416:
        return _no_such_range(head, wanted)
    _check_kind(head, wanted)
    encoded = head.headers.get("content-encoding", "identity").strip().lower() != "identity"
    if head.status == 206:
        return _range_offset(head, wanted, offset, encoded=encoded)
    length = head.headers.get("content-length", "")
    if length.isdigit() and int(length) != wanted.size and not encoded:
        raise changed(head.host, wanted, int(length))
    return 0


def check_beginning(data: bytes, wanted: Wanted, host: str) -> None:
    """Refuse what is plainly no model, at its first bytes."""
    if wanted.is_model and not data.startswith(b"GGUF") and data.lstrip()[:64].lower().startswith(_BEGINNINGS):
        raise _not_a_hub(host, "something else")


def changed(host: str, wanted: Wanted, size: int | None) -> StartOver:
    """The server has another file there than the one that was asked for."""
    if size is not None and size != wanted.size:
        there, asked = two_sizes(size, wanted.size)
        said = f"{host} has a file of {there} there now, and {asked} were announced"
    else:
        said = f"the file on {host} has changed since it was looked up"
    return StartOver(said, Refused("changed", said, LOOK_UP))


def too_long(host: str, wanted: Wanted) -> StartOver:
    """More bytes came than the file should have."""
    said = f"{host} sends more than the {wanted.size:,} bytes that were announced"
    return StartOver(said, Refused("changed", said, LOOK_UP))


def validator(head: Head) -> str | None:
    """The server's ETag, where If-Range may carry it: it must be a strong one."""
    etag = head.headers.get("etag", "").strip()
    return etag if len(etag) > 2 and etag.startswith('"') and etag.endswith('"') else None


def seconds_to_wait(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """What Retry-After (seconds or a date) or the hub's RateLimit header asks for."""
    asked = headers.get("retry-after", "").strip()
    if asked.isascii() and asked.isdigit():
        return float(min(int(asked), 10**7))
    if asked:
        try:
            at = parsedate_to_datetime(asked).timestamp()
        except (ValueError, TypeError, OverflowError):
            return None
        return max(0.0, at - (time.time() if now is None else now))
    limit = _RATE_LIMIT.search(headers.get("ratelimit", ""))
    return float(min(int(limit[1]), 10**7)) if limit else None


def _no_such_range(head: Head, wanted: Wanted) -> int:
    """416 to a range that lies within the file: the file is another one, or the server is confused."""
    total = head.headers.get("content-range", "").rpartition("/")[2]
    if total.isdigit() and int(total) != wanted.size:
        raise changed(head.host, wanted, int(total))
    said = f"{head.host} cannot continue the file"
    raise StartOver(said, Refused("server", said, "try again later"))


def _range_offset(head: Head, wanted: Wanted, offset: int, *, encoded: bool) -> int:
    match = _CONTENT_RANGE.fullmatch(head.headers.get("content-range", "").strip())
    if match is not None and match[3] not in ("*", str(wanted.size)):
        raise changed(head.host, wanted, int(match[3]))
    if match is None or int(match[1]) != offset or encoded:
        said = f"{head.host} sends another piece of the file than it was asked for"
        raise StartOver(said, Refused("server", said, "try again later"))
    return offset


def _check_kind(head: Head, wanted: Wanted) -> None:
    kind = head.headers.get("content-type", "").partition(";")[0].strip().lower()
    suffix = wanted.path.suffix.lower()
    if kind in _PAGES and suffix not in (".html", ".htm", ".xhtml"):
        raise _not_a_hub(head.host, "a web page")
    if kind == "application/json" and wanted.is_model:
        raise _not_a_hub(head.host, "a JSON text")


def _not_a_hub(host: str, sent: str) -> Refused:
    said = f"{host} sent {sent} instead of the file"
    return Refused("not_a_hub", said, "log in to the network if it asks for that, or check HF_ENDPOINT and the proxy")


def _refusal(head: Head, wanted: Wanted, longest_order: float) -> Again | Refused:
    status, host = head.status, head.host
    code, message = head.headers.get("x-error-code", ""), head.headers.get("x-error-message", "")
    repo = wanted.repo or wanted.name
    if status == LOG_IN_FIRST:
        return _not_a_hub(host, "a login page")
    if status in (408, 425, 429) or status >= 500:
        return _later(head, longest_order)
    if not head.at_home and status in (401, 403, 404, 410):  # a signed address has run out: the hub gives a new one
        return Again("server", f"{host} refuses the file ({status})")
    if code == "GatedRepo" and not head.with_token:
        said = f"{repo} is gated: its licence has to be accepted on the hub"
        return Refused("gated", said, f"accept it at {wanted.page}, then {LOG_IN}")
    if code == "GatedRepo":
        said = f"{repo} is gated, and this account has no access to it yet"
        todo = f"ask for it at {wanted.page}; the token must be allowed to read gated repositories"
        return Refused("gated", said, todo)
    if "resource is disabled" in message:
        return Refused("disabled", f"{host} has disabled {repo}", "choose another model")
    if status == 401 and "Invalid credentials" in message:
        return Refused("token", f"{host} does not know the access token", f"{LOG_IN}, or correct HF_TOKEN")
    if code == "RepoNotFound":
        said = f"{host} has no repository {repo}, or hides it"
        return Refused("no_repo", said, f"check the name; if it is private, {LOG_IN}")
    if code == "RevisionNotFound":
        return Refused("no_file", f"{host} no longer has this version of {repo}", LOOK_UP)
    if status == 401:
        return Refused("token", f"{host} wants an access token", LOG_IN)
    if status == 403 and not head.with_token:
        todo = f"if it is for accounts only, {LOG_IN}"
        return Refused("token", f"{host} refuses access to {repo} (403)", todo)
    if status == 403:
        return Refused("token", f"{host} refuses access to {repo} (403)", "check what the access token may read")
    if status == 404 or code == "EntryNotFound":
        return Refused("no_file", f"{host} has no such file (404)", LOOK_UP)
    if status == 407:
        return Refused("proxy", *login_refused(head.proxy))
    return Refused("server", f"{host} answers {_status(status)}", "try again later")


def _later(head: Head, longest_order: float) -> Again | Refused:
    """A refusal that will pass."""
    after = seconds_to_wait(head.headers)
    if head.status == 429:
        if after is not None and after > longest_order:
            said = f"{head.host} takes no more requests for {duration(after)}"
            return Refused("rate_limit", said, "start it again then; after hf auth login the limit is higher")
        return Again("rate_limit", f"{head.host} takes no more requests now", after, todo="start it again in a while")
    if after is not None and after > longest_order:
        return Refused("server", f"{head.host} is away for {duration(after)}", "start it again then")
    return Again("server", f"{head.host} answers {_status(head.status)}", after, todo="start it again later")


def _status(status: int) -> str:
    try:
        return f"{status} ({http.HTTPStatus(status).phrase.lower()})"
    except ValueError:
        return str(status)
