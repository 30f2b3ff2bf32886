"""A proxy that speaks no TLS, has a certificate of its own or wants a name and a password: the hub is not blamed."""

from __future__ import annotations

import re
import socketserver
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from app.library import hub_http
from app.library.hub import Hub
from app.library.proxies import in_use
from app.library.transfer.errors import Refused
from app.library.transfer.stream import _explain
from tests.fixtures import hub as fake
from tests.fixtures.transfers import QUICK, failure, offer, want
from tests.unit.library.hub_asked import refused

SECRET = "hf_secret"

pytestmark = pytest.mark.usefixtures("no_proxies")


class _Plain(socketserver.BaseRequestHandler):
    """It answers in plain text what was no request."""

    def handle(self) -> None:
        self.request.recv(65_536)
        self.request.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        self.request.recv(65_536)  # until the other side hangs up: a reset could come before the answer


@pytest.fixture
def plain_proxy() -> Iterator[str]:
    """Host and port of a proxy that speaks plain HTTP."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Plain) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


TLS_TO_A_PROXY = (
    "No encryption could be agreed on with the proxy in http_proxy (wrong version number), so the hub is not asked. It "
    "is given as https://, and most proxies speak plain HTTP, for every address: try http:// in http_proxy."
)


def test_a_proxy_that_is_said_to_speak_tls_and_does_not(
    hub: fake.Hub, plain_proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"https://me:{SECRET}@{plain_proxy}")
    code, words = refused(Hub())
    assert (code, re.sub(r"\(.+\)", "(wrong version number)", words)) == ("proxy", TLS_TO_A_PROXY)
    assert hub.requests == []


def test_a_transfer_says_the_same_of_it(
    hub: fake.Hub, plain_proxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(hub)
    monkeypatch.setenv("http_proxy", f"https://{plain_proxy}")
    error = failure(want(hub, tmp_path))
    assert (error.code, str(error).partition(": ")[2]) == (
        "proxy",
        "no encryption could be agreed on with the proxy in http_proxy, which is given as https://; nothing of it was "
        "received; most proxies speak plain HTTP, for every address: try http:// in http_proxy.",
    )


@pytest.mark.parametrize(
    ("proxy", "endpoint", "whose"),
    [
        ("https://p", "http://hub.example", "the proxy in http_proxy"),
        ("https://p", "https://hub.example", "https://hub.example"),
        ("http://p", "https://hub.example", "https://hub.example"),
    ],
)
def test_whose_certificate_is_not_trusted(
    monkeypatch: pytest.MonkeyPatch, proxy: str, endpoint: str, whose: str
) -> None:
    for variable in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(variable, proxy)
    error = httpx2.ConnectError("x")
    error.__cause__ = ssl.SSLCertVerificationError(1, "self-signed")
    assert str(hub_http._trouble(error, endpoint, 10)).startswith(f"The certificate of {whose} is not trusted; ")


WRONG_LOGIN = "The proxy does not accept the name and the password in https_proxy; correct them."


@pytest.mark.parametrize(
    ("proxy", "words"),
    [
        ("http://p", "The proxy asks for a name and a password; put them into https_proxy."),
        (f"http://me:{SECRET}@p", WRONG_LOGIN),
        (f"me:{SECRET}@p:1/", WRONG_LOGIN),
        ("http://p/@", "The proxy asks for a name and a password; put them into https_proxy."),
    ],
)
def test_a_name_and_a_password_that_the_proxy_wants(monkeypatch: pytest.MonkeyPatch, proxy: str, words: str) -> None:
    monkeypatch.setenv("https_proxy", proxy)
    refusal = httpx2.ProxyError("407 Proxy Authentication Required")
    found = hub_http._trouble(refusal, "https://hub.example", 10)
    assert (found.code, str(found)) == ("proxy", words)
    in_transfer = _explain(refusal, "hub.example", QUICK, in_use("https://hub.example"))
    assert isinstance(in_transfer, Refused), "no use in trying it again"
    said = f"{in_transfer}; {in_transfer.todo}."
    assert said[0].upper() + said[1:] == words


def test_a_login_that_a_proxy_refuses_by_an_answer(
    hub: fake.Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(hub)
    hub.misbehave("*", status=407)
    monkeypatch.setenv("http_proxy", hub.url.replace("://", f"://me:{SECRET}@"))
    code, words = refused(Hub("http://hub.example"))
    assert (code, words) == ("proxy", WRONG_LOGIN.replace("https_proxy", "http_proxy"))
    error = failure(want(hub, tmp_path))
    assert ": the proxy does not accept the name and the password in http_proxy; " in str(error)
    assert str(error).endswith("; correct them.")
