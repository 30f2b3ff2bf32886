"""The hub: what a repository holds, and under which address its files are fetched.

Settings are those of huggingface_hub: ``HF_ENDPOINT``, ``HF_TOKEN`` or the token of ``hf auth login`` under
``HF_HOME``, ``HF_HUB_OFFLINE``, and the usual variables for proxies. Nothing else is sent: no telemetry, no usage.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable
from urllib.parse import quote, urlsplit

from app import __version__
from app.clean import clean_line
from app.library.hub_answer import MOST_FILES, NotAHubAnswerError, RemoteFile, Repo, read_repo
from app.library.hub_errors import HubError
from app.library.hub_http import LONGEST_ANSWER, Answer, Request, ask, offline_mode_is_on, shown_endpoint
from app.library.hub_refusals import Asked, not_a_hub, refusal
from app.library.layout import wrong_repo
from app.library.offline import network_is_off
from app.library.token_file import unreadable_token_file, wrong_token_file
from engine.files.sizes import size_words

__all__ = ["Hub", "HubError", "RemoteFile", "Repo", "endpoint_in_use"]

PATIENCE = 10.0
"""Seconds for one answer."""

_TOKEN = re.compile(r"[!-~]+")


def endpoint_in_use() -> str:
    """The hub's address: ``HF_ENDPOINT``, else the public hub."""
    return (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").strip().rstrip("/")


class Hub:
    """Questions to one hub. Every answer and every refusal comes within :data:`PATIENCE` seconds."""

    def __init__(
        self,
        endpoint: str | None = None,
        *,
        cancelled: Callable[[], bool] = lambda: False,
        patience: float = PATIENCE,
    ) -> None:
        self.endpoint = endpoint.rstrip("/") if endpoint is not None else endpoint_in_use()
        self._cancelled = cancelled
        """Asked ten times a second from the thread that waits."""
        self._patience = patience

    def repo(self, repo: str, revision: str | None = None) -> Repo:
        """What ``repo`` holds at ``revision`` (default: the newest). :class:`HubError` with words for people."""
        if why := wrong_repo(repo):
            raise HubError("wish", f"{clean_line(repo, 80)} is no repository of the hub: {why}.")
        at = f"/revision/{quote(revision, safe='')}" if revision is not None else ""
        answer, asked = self._ask(f"/api/models/{repo}{at}?blobs=true", Asked(self.endpoint, repo, revision))
        if problem := refusal(answer, asked):
            raise problem
        if answer.too_long:
            words = f"The list of files in {repo} is longer than {size_words(LONGEST_ANSWER)}; no more of one is read"
            raise HubError("hostile", f"{words} (enough for {MOST_FILES:,} files), so nothing was fetched.")
        try:
            return read_repo(json.loads(answer.body), repo)
        except NotAHubAnswerError as error:
            raise not_a_hub(self.endpoint, answer.status, str(error)) from None
        except (ValueError, RecursionError):  # not JSON, not UTF-8, absurd nesting or numbers
            kind = clean_line(answer.headers.get("content-type", "").partition(";")[0], 40) or "an unknown kind"
            what = "its JSON cannot be read" if kind == "application/json" else f"{kind} came in place of JSON"
            raise not_a_hub(self.endpoint, answer.status, what) from None

    def check_access(self, repo: Repo, path: str) -> None:
        """Whether this user may fetch ``path``: a gated repository lists its files to everybody, but gives none."""
        asked = Asked(self.endpoint, repo.id, repo.revision, path)
        answer, asked = self._ask(self.url(repo, path).removeprefix(self.endpoint), asked, method="HEAD")
        if problem := refusal(answer, asked):
            raise problem

    def url(self, repo: Repo, path: str) -> str:
        """Where the file is fetched from, at the commit of ``repo``."""
        return f"{self.endpoint}/{repo.id}/resolve/{repo.revision}/{quote(path)}"

    def headers(self) -> dict[str, str]:
        """Request headers for this hub. They may hold a token: never show or log them, and never send them to another
        host that the hub redirects to."""
        token = self._token()
        agent = {"user-agent": f"slipstream/{__version__}"}
        return agent if token is None else {**agent, "authorization": f"Bearer {token}"}

    def _ask(self, path: str, asked: Asked, method: str = "GET") -> tuple[Answer, Asked]:
        if network_is_off() is not None:
            raise offline_mode_is_on()
        if not _is_address(self.endpoint):
            raise HubError("endpoint", f"HF_ENDPOINT is {shown_endpoint(self.endpoint)}, which is no http address.")
        sent: dict[str, str] = {}

        def headers() -> dict[str, str]:
            sent.update(self.headers())
            return sent

        # A file's address leads on to where the bytes are; whether the hub opens it is known from its first answer.
        request = Request(self.endpoint, self.endpoint + path, headers, method, follow=method == "GET")
        answer = ask(request, seconds=self._patience, cancelled=self._cancelled)
        with_token = "authorization" in sent
        return answer, Asked(asked.endpoint, asked.repo, asked.revision, asked.path, with_token)

    def _token(self) -> str | None:
        """The user's token, if any. It may only be sent, never shown. May ask the hub, for a log-in that ran out."""
        from huggingface_hub import constants, get_token

        logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # its warnings would land on our screen
        if constants.HF_HUB_DISABLE_IMPLICIT_TOKEN:
            return None
        if (wrong := wrong_token_file()) is not None:
            raise HubError("token", wrong)
        try:
            token = get_token()
        except (OSError, ValueError) as error:
            raise HubError("token", unreadable_token_file(error)) from None
        if token is not None and not _TOKEN.fullmatch(token):
            raise HubError("token", "Your token has characters that no token has; log in again, or correct HF_TOKEN.")
        return token


def _is_address(endpoint: str) -> bool:
    try:
        parts = urlsplit(endpoint)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
