"""The hub that is not reached, or answers too late: the words for each reason."""

from __future__ import annotations

import threading
import time

import pytest

from app.library.hub import Hub, HubError
from tests.fixtures import hub as fake
from tests.fixtures.pace import limit
from tests.unit.library.hub_asked import HUB_WORDS, REPO, refused


@pytest.mark.parametrize(
    ("headers", "when", "wait"),
    [
        ({"RateLimit": '"api";r=0;t=55'}, "in 55 s", 55),
        ({"Retry-After": "120", "RateLimit": '"api";r=3;t=55'}, "in 2 min", 120),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, "in 1 s", 0),
        ({"Retry-After": "9" * 9}, "in 24 h", 86400),
        ({"Retry-After": "soon"}, "in some minutes; logged in, more requests are allowed", None),
        ({}, "in some minutes; logged in, more requests are allowed", None),
    ],
)
def test_too_many_requests_say_how_long(
    headers: dict[str, str], when: str, wait: float | None, hub: fake.Hub, repo: fake.Repo
) -> None:
    hub.misbehave("api/*", status=429, headers=headers)
    with pytest.raises(HubError) as error:
        Hub().repo(REPO)
    assert (error.value.code, error.value.wait) == ("rate-limit", wait)
    assert str(error.value) == f"The hub has had too many requests from here; try again {when}."


def test_a_network_that_wants_a_login_first(hub: fake.Hub, repo: fake.Repo) -> None:
    hub.misbehave("api/*", status=511, headers={"Content-Type": "text/html"}, body=b"<html>log in</html>")
    with pytest.raises(HubError) as error:
        Hub().repo(REPO)
    assert error.value.code == "not-a-hub"
    assert str(error.value).endswith(
        "answered with status 511, but it is not a hub answer: this network asks for a login first. "
        "Check HF_ENDPOINT, and whether a proxy or a login page stands in between."
    )


@pytest.mark.parametrize("status", [408, 500, 502, 503])
def test_trouble_of_the_server(status: int, hub: fake.Hub, repo: fake.Repo) -> None:
    hub.misbehave("api/*", status=status, **{"body": b"<html>", "headers": {"Content-Type": "text/html"}})
    words = f"The hub has trouble (status {status}). Nothing was changed; try again later."
    assert refused(Hub()) == ("server", words)


def test_a_connection_that_breaks(hub: fake.Hub, repo: fake.Repo) -> None:
    hub.misbehave("api/*", cut_after=100, reset=True)
    assert refused(Hub()) == (
        "server",
        f"The connection to {hub.url} broke before the answer was whole; try again.",
    )


def test_nobody_is_there(hub: fake.Hub) -> None:
    endpoint = f"http://127.0.0.1:{fake.refusing_port()}"
    assert refused(Hub(endpoint)) == (
        "offline",
        f"The hub cannot be reached at {endpoint} (connection refused). {HUB_WORDS} without it; "
        "try again when the network is back.",
    )


def test_a_name_that_nobody_knows(hub: fake.Hub) -> None:
    code, words = refused(Hub("http://no-such-host.invalid"))
    assert code == "offline"
    assert words.startswith("The hub cannot be reached at http://no-such-host.invalid (its name is not found). ")


def test_offline_mode_asks_nobody(hub: fake.Hub, repo: fake.Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert refused(Hub()) == (
        "offline-mode",
        f"HF_HUB_OFFLINE is set, so the hub is not asked. {HUB_WORDS}; unset it to fetch something new.",
    )
    assert hub.requests == []


def test_a_certificate_that_nobody_trusts(hub: fake.Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    import ssl

    import httpx2
    import huggingface_hub

    def get_session() -> httpx2.Client:
        raise httpx2.ConnectError("no") from ssl.SSLCertVerificationError("self-signed")

    monkeypatch.setattr(huggingface_hub, "get_session", get_session)
    assert refused(Hub("https://mirror.local")) == (
        "certificate",
        "The certificate of https://mirror.local is not trusted; behind a company's proxy, SSL_CERT_FILE names the "
        "ones to trust.",
    )


@pytest.mark.parametrize("endpoint", ["", "mirror.local", "ftp://me:hf_secret@mirror.local", "http://[::1"])
def test_an_endpoint_that_is_no_address(endpoint: str, hub: fake.Hub) -> None:
    code, words = refused(Hub(endpoint))
    assert code == "endpoint"
    assert words.startswith("HF_ENDPOINT is ")
    assert words.endswith(", which is no http address.")
    assert "hf_secret" not in words


def test_a_login_in_the_endpoint_is_not_shown(hub: fake.Hub) -> None:
    port = fake.refusing_port()
    code, words = refused(Hub(f"http://me:hf_secret@127.0.0.1:{port}"))
    assert code == "offline"
    assert "hf_secret" not in words
    assert f"http://127.0.0.1:{port}" in words


def test_an_endpoint_that_never_answers_ends_in_words(hub: fake.Hub, repo: fake.Repo) -> None:
    hub.misbehave("api/*", silent=True)
    began = time.monotonic()
    assert refused(Hub(patience=0.5)) == (
        "timeout",
        f"{hub.url} gave no answer within 0.5 seconds. {HUB_WORDS} without it; try again later.",
    )
    assert time.monotonic() - began < limit(2)


def test_an_endpoint_that_drips_ends_in_words(hub: fake.Hub, repo: fake.Repo) -> None:
    hub.misbehave("api/*", throttle=100)
    began = time.monotonic()
    assert refused(Hub(patience=0.5))[0] == "timeout"
    assert time.monotonic() - began < limit(2)


def test_a_connection_that_is_never_made_ends_in_words(hub: fake.Hub) -> None:
    with fake.never_accepting() as endpoint:
        began = time.monotonic()
        assert refused(Hub(endpoint, patience=0.5))[0] == "timeout"
        assert time.monotonic() - began < limit(2)


def test_cancel_takes_effect_within_a_second(hub: fake.Hub, repo: fake.Repo) -> None:
    hub.misbehave("api/*", silent=True)
    pressed = threading.Event()
    threading.Timer(0.3, pressed.set).start()
    began = time.monotonic()
    assert refused(Hub(cancelled=pressed.is_set)) == ("cancelled", "Cancelled.")
    assert time.monotonic() - began < limit(1.3)
