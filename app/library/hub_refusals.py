"""From a hub's refusal to a sentence: what happened, and what the person can do."""

from __future__ import annotations

from dataclasses import dataclass

from app.clean import clean_line
from app.library.hub_errors import HubError
from app.library.hub_http import Answer, proxy_login_refused, shown_endpoint
from app.library.proxies import serving
from app.library.transfer.answer import LOG_IN_FIRST, seconds_to_wait
from app.library.transfer.words import duration

_LONGEST_WAIT = 24 * 3600
_DISABLED = "Access to this resource is disabled."
_LOG_IN = "log in with `hf auth login` or set HF_TOKEN"


@dataclass(frozen=True)
class Asked:
    """What the request was about."""

    endpoint: str
    repo: str
    revision: str | None = None
    path: str | None = None
    with_token: bool = False


def refusal(answer: Answer, asked: Asked) -> HubError | None:
    """The error that ``answer`` is; None for an answer that is none."""
    if answer.status < 400:
        return None
    code, words = answer.headers.get("x-error-code", ""), answer.headers.get("x-error-message", "")
    if known := _by_code(code, words, asked):
        return known
    if answer.status == 401 and "invalid credentials" in (words + answer.body[:500].decode("latin-1")).lower():
        return _token(asked)
    if answer.status == 429:
        return _too_many(answer)
    if answer.status == 407:
        return proxy_login_refused(asked.endpoint)
    if answer.status == LOG_IN_FIRST:
        return not_a_hub(asked.endpoint, answer.status, "this network asks for a login first")
    if answer.status >= 500 or answer.status == 408:
        proxy = serving(asked.endpoint)
        who = f"The hub, or the proxy in {proxy}," if proxy is not None else "The hub"
        return HubError("server", f"{who} has trouble (status {answer.status}). Nothing was changed; try again later.")
    if answer.status == 451:
        return _disabled(asked)
    if "html" in answer.headers.get("content-type", "").lower():
        return not_a_hub(asked.endpoint, answer.status, "a web page came")
    return _by_status(answer.status, asked)


def not_a_hub(endpoint: str, status: int, what: str) -> HubError:
    """Something answered in the hub's place: a login page, a proxy, a mirror that is none."""
    proxy = serving(endpoint)
    between = "a proxy" if proxy is None else f"the proxy in {proxy}"
    return HubError(
        "not-a-hub",
        f"{shown_endpoint(endpoint)} answered with status {status}, but it is not a hub answer: {what}. "
        f"Check HF_ENDPOINT, and whether {between} or a login page stands in between.",
    )


def _by_code(code: str, words: str, asked: Asked) -> HubError | None:
    """The hub's own codes say more than the status."""
    if code == "GatedRepo":
        return _gated(asked)
    if code == "RevisionNotFound":
        revision = clean_line(asked.revision or "main", 60)
        return HubError("revision", f"{asked.repo} has no revision {revision}; leave it out to get the newest.")
    if code == "EntryNotFound":
        return HubError("file", f"{asked.repo} has no file {clean_line(asked.path or '', 120)}.")
    if words == _DISABLED:
        return _disabled(asked)
    return _no_repository(asked) if code == "RepoNotFound" else None


def _by_status(status: int, asked: Asked) -> HubError:
    """Mirrors often send no code. 401 also stands for a repository that is not there."""
    if status == 403 or (status == 401 and asked.with_token):
        return _token(asked)
    if status in (401, 404, 410):
        return _no_repository(asked)
    return not_a_hub(asked.endpoint, status, "no hub answers so")


def _gated(asked: Asked) -> HubError:
    page = f"{shown_endpoint(asked.endpoint)}/{asked.repo}"
    if asked.with_token:
        return HubError(
            "gated",
            f"{asked.repo} is gated, and the account you are logged in with has no access yet: ask for it at {page} "
            "(some owners answer by hand), then try again.",
        )
    return HubError("gated", f"{asked.repo} is gated: accept its licence at {page}, then {_LOG_IN}.")


def _no_repository(asked: Asked) -> HubError:
    if asked.with_token:
        return HubError(
            "repository",
            f"{shown_endpoint(asked.endpoint)} has no repository {asked.repo}, or the token that was sent may not see "
            "it. Check the name; for a private one the token must be of an account that may read it.",
        )
    return HubError(
        "repository",
        f"{shown_endpoint(asked.endpoint)} has no repository {asked.repo}, or it is private. Check the name; "
        f"for a private one {_LOG_IN}.",
    )


def _token(asked: Asked) -> HubError:
    if not asked.with_token:
        return HubError("token", f"The hub lets nobody read {asked.repo} without an account; {_LOG_IN}.")
    return HubError(
        "token",
        f"The hub refused your token for {asked.repo}: it is wrong, has expired or may not read this. "
        "Log in again with `hf auth login`, or correct HF_TOKEN.",
    )


def _disabled(asked: Asked) -> HubError:
    return HubError("disabled", f"{asked.repo} was disabled on the hub and cannot be fetched from there.")


def _too_many(answer: Answer) -> HubError:
    ordered = seconds_to_wait(answer.headers)
    wait = None if ordered is None else min(ordered, float(_LONGEST_WAIT))
    when = f"in {duration(wait)}" if wait is not None else "in some minutes; logged in, more requests are allowed"
    return HubError("rate-limit", f"The hub has had too many requests from here; try again {when}.", wait=wait)
