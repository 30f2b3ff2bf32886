"""What a server can answer instead of the file: the code, and the sentence that people read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.library.transfer.wanted import host_of
from tests.fixtures.hub import HTML, Hub
from tests.fixtures.transfers import CDN, NAME, REPO, RESOLVE, failure, names, offer, want

GATED = {"X-Error-Code": "GatedRepo"}
GO_ON = "start it again to continue"
NOTHING = "nothing of it was received"


@pytest.mark.parametrize(
    ("where", "fault", "code", "happened", "todo"),
    [
        (
            RESOLVE,
            {"status": 404, "headers": {"X-Error-Code": "EntryNotFound"}},
            "no_file",
            "HUB has no such file (404)",
            "look the model up again, it may have been renamed or taken away",
        ),
        (
            RESOLVE,
            {"status": 404},
            "no_file",
            "HUB has no such file (404)",
            "look the model up again, it may have been renamed or taken away",
        ),
        (
            RESOLVE,
            {"status": 404, "headers": {"X-Error-Code": "RevisionNotFound"}},
            "no_file",
            f"HUB no longer has this version of {REPO}",
            "look the model up again, it may have been renamed or taken away",
        ),
        (
            RESOLVE,
            {"status": 401, "headers": {"X-Error-Code": "RepoNotFound"}},
            "no_repo",
            f"HUB has no repository {REPO}, or hides it",
            "check the name; if it is private, log in: hf auth login",
        ),
        (
            RESOLVE,
            {"status": 401, "headers": GATED},
            "gated",
            f"{REPO} is gated: its licence has to be accepted on the hub",
            f"accept it at http://HUB/{REPO}, then log in: hf auth login",
        ),
        (
            RESOLVE,
            {"status": 403, "headers": GATED},
            "gated",
            f"{REPO} is gated: its licence has to be accepted on the hub",
            f"accept it at http://HUB/{REPO}, then log in: hf auth login",
        ),
        (
            RESOLVE,
            {"status": 401, "headers": {"X-Error-Message": "Invalid credentials in Authorization header"}},
            "token",
            "HUB does not know the access token",
            "log in: hf auth login, or correct HF_TOKEN",
        ),
        (RESOLVE, {"status": 401}, "token", "HUB wants an access token", "log in: hf auth login"),
        (
            RESOLVE,
            {"status": 403},
            "token",
            f"HUB refuses access to {REPO} (403)",
            "if it is for accounts only, log in: hf auth login",
        ),
        (
            RESOLVE,
            {"status": 403, "headers": {"X-Error-Message": "Access to this resource is disabled."}},
            "disabled",
            f"HUB has disabled {REPO}",
            "choose another model",
        ),
        (
            RESOLVE,
            {"status": 407},
            "proxy",
            "the proxy asks for a name and a password",
            "put them into HTTPS_PROXY",
        ),
        (RESOLVE, {"status": 418}, "server", "HUB answers 418 (i'm a teapot)", "try again later"),
        (RESOLVE, {"status": 499}, "server", "HUB answers 499", "try again later"),
        (
            RESOLVE,
            {"status": 500},
            "server",
            "HUB answers 500 (internal server error), 3 times in a row",
            "start it again later",
        ),
        (
            RESOLVE,
            {"status": 503, "headers": {"Retry-After": "90000"}},
            "server",
            "HUB is away for 25 h",
            "start it again then",
        ),
        (
            RESOLVE,
            {"status": 429},
            "rate_limit",
            "HUB takes no more requests now, 3 times in a row",
            "start it again in a while",
        ),
        (
            RESOLVE,
            {"status": 429, "headers": {"Retry-After": "1500"}},
            "rate_limit",
            "HUB takes no more requests for 25 min",
            "start it again then; after hf auth login the limit is higher",
        ),
        (
            RESOLVE,
            {"status": 511},
            "not_a_hub",
            "HUB sent a login page instead of the file",
            "log in to the network if it asks for that, or check HF_ENDPOINT and the proxy",
        ),
        (
            RESOLVE,
            HTML,
            "not_a_hub",
            "HUB sent a web page instead of the file",
            "log in to the network if it asks for that, or check HF_ENDPOINT and the proxy",
        ),
        (
            RESOLVE,
            {"status": 200, "headers": {"Content-Type": "application/json"}, "body": b"{}"},
            "not_a_hub",
            "HUB sent a JSON text instead of the file",
            "log in to the network if it asks for that, or check HF_ENDPOINT and the proxy",
        ),
        (
            CDN,
            {"content": b" \n<!DOCTYPE html>" + b"x" * 199_983},
            "not_a_hub",
            "CDN sent something else instead of the file",
            "log in to the network if it asks for that, or check HF_ENDPOINT and the proxy",
        ),
        (
            CDN,
            {"content": b"version https://git-lfs.github.com/spec/v1" + b"x" * 199_958},
            "not_a_hub",
            "CDN sent something else instead of the file",
            "log in to the network if it asks for that, or check HF_ENDPOINT and the proxy",
        ),
        (
            RESOLVE,
            {"redirect": "HUBURL{path}"},
            "redirect",
            "HUB redirects in circles",
            "check HF_ENDPOINT, or try again later",
        ),
        (RESOLVE, {"redirect": "ftp://elsewhere/x"}, "redirect", "HUB redirects to nowhere", "check HF_ENDPOINT"),
        (RESOLVE, {"redirect": "http://x:abc/"}, "redirect", "HUB redirects to nowhere", "check HF_ENDPOINT"),
        (
            RESOLVE,
            {"silent": True},
            "stalled",
            "HUB has sent nothing for 1 s, 2 times in a row",
            GO_ON,
        ),
        (CDN, {"status": 403}, "server", "CDN refuses the file (403), 3 times in a row", GO_ON),
        (
            CDN,
            {"content": b"GGUF" + b"x" * 99_996},
            "changed",
            "CDN has a file of 100 kB there now, and 200 kB were announced",
            "look the model up again, it may have been renamed or taken away",
        ),
        (
            RESOLVE,
            {"headers": {"X-Linked-Size": "200001"}},
            "changed",
            "HUB has a file of 200,001 bytes there now, and 200,000 bytes were announced",
            "look the model up again, it may have been renamed or taken away",
        ),
        (
            RESOLVE,
            {"headers": {"X-Linked-Etag": f'"{"5" * 64}"'}},
            "changed",
            "the file on HUB has changed since it was looked up",
            "look the model up again, it may have been renamed or taken away",
        ),
        (CDN, {"cut_after": 0}, "cut", "the connection to CDN broke off, 3 times in a row", GO_ON),
        (CDN, {"stall_after": 0}, "stalled", "CDN has sent nothing for 1 s, 3 times in a row", GO_ON),
    ],
)  # fmt: skip
def test_what_the_server_can_do(
    hub: Hub, tmp_path: Path, where: str, fault: dict[str, Any], code: str, happened: str, todo: str
) -> None:
    offer(hub)
    if "redirect" in fault:
        fault = {**fault, "redirect": fault["redirect"].replace("HUBURL", hub.url)}
    hub.misbehave(where, **fault)
    error = failure(want(hub, tmp_path, token=None))
    sentence = f"{NAME}: {happened}; {NOTHING}; {todo}.".replace("HUB", host_of(hub.url), 2)
    assert (error.code, str(error)) == (code, sentence.replace("CDN", host_of(hub.cdn_url)))
    assert error.path == tmp_path / NAME
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("status", "headers", "happened", "todo"),
    [
        (
            403,
            GATED,
            f"{REPO} is gated, and this account has no access to it yet",
            f"ask for it at http://HUB/{REPO}; the token must be allowed to read gated repositories",
        ),
        (
            401,
            GATED,
            f"{REPO} is gated, and this account has no access to it yet",
            f"ask for it at http://HUB/{REPO}; the token must be allowed to read gated repositories",
        ),
        (403, {}, f"HUB refuses access to {REPO} (403)", "check what the access token may read"),
    ],
)
def test_an_account_that_is_logged_in_is_spoken_of(
    hub: Hub, tmp_path: Path, status: int, headers: dict[str, str], happened: str, todo: str
) -> None:
    hub.tokens.add("hf_known")
    offer(hub)
    hub.misbehave(RESOLVE, status=status, headers=headers)
    sentence = f"{NAME}: {happened}; {NOTHING}; {todo}.".replace("HUB", host_of(hub.url))
    assert str(failure(want(hub, tmp_path, token="hf_known"))) == sentence
