"""A proxy that is set wrongly or does not answer is named by its variable, and the hub is not blamed for it."""

from __future__ import annotations

import ssl
from pathlib import Path

import httpx2
import pytest

from app.library import hub_http, proxies
from app.library.hub import Hub
from app.library.proxies import SYSTEM, InUse, serving, unusable
from app.library.transfer.patience import Patience
from app.library.transfer.stream import _explain
from tests.fixtures import hub as fake
from tests.fixtures.transfers import QUICK, failure, offer, want
from tests.unit.library.hub_asked import HUB_WORDS, refused

SECRET = "hf_secret"

pytestmark = pytest.mark.usefixtures("no_proxies")


@pytest.mark.parametrize(
    ("set_to", "url", "name"),
    [
        ({"http_proxy": "http://p"}, "http://hub/x", "http_proxy"),
        ({"HTTP_PROXY": "http://p"}, "http://hub/x", "HTTP_PROXY"),
        ({"HTTP_PROXY": "http://p", "http_proxy": "http://q"}, "http://hub/x", "http_proxy"),
        ({"HTTP_PROXY": "http://p", "http_proxy": ""}, "http://hub/x", None),
        ({"http_proxy": "http://p"}, "https://hub/x", None),
        ({"https_proxy": "p:1"}, "https://hub/x", "https_proxy"),
        ({"ALL_PROXY": "http://p"}, "https://hub/x", "ALL_PROXY"),
        ({"https_proxy": "http://p", "ALL_PROXY": "http://p"}, "https://hub/x", "https_proxy"),
        ({"https_proxy": "http://p", "no_proxy": "example.com,hub"}, "https://hub/x", None),
        ({"https_proxy": "http://p", "no_proxy": "*"}, "https://hub/x", None),
        ({"https_proxy": "http://p"}, "https://[::1", None),
        ({}, "https://hub/x", None),
    ],
)
def test_which_variable_counts(
    monkeypatch: pytest.MonkeyPatch, set_to: dict[str, str], url: str, name: str | None
) -> None:
    for variable, value in set_to.items():
        monkeypatch.setenv(variable, value)
    assert serving(url) == name


def test_settings_of_the_system_have_no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxies, "getproxies", lambda: {"https": "http://p"})
    assert serving("https://hub/x") == SYSTEM


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("notaurl:xx", "its address is not valid"),
        ("::bad::", "its address is not valid"),
        ("http://", "its address is not valid"),
        (f"gopher://me:{SECRET}@127.0.0.1:1", "its address is not valid"),
        ("http://p:99999", "its address is not valid"),
        ("socks5://p:1", "the Python package socksio, which it needs, is missing"),
        (f"http://me:{SECRET}@p:1", None),
        ("p:8080", None),
    ],
)
@pytest.mark.parametrize("variable", ["http_proxy", "https_proxy", "ALL_PROXY"])
def test_a_proxy_that_cannot_be_used_is_known(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, why: str | None
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv(variable, value)
    assert unusable() == ((variable, why) if why is not None else None)
    monkeypatch.setenv("no_proxy", "localhost, *")
    assert unusable() is None, "with that the library reads none"


@pytest.mark.parametrize("value", ["notaurl:xx", "::bad::", f"gopher://me:{SECRET}@127.0.0.1:1"])
@pytest.mark.parametrize("variable", ["http_proxy", "HTTPS_PROXY"])
def test_the_hub_is_not_blamed_for_a_proxy_that_cannot_be_used(
    hub: fake.Hub, repo: fake.Repo, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    assert refused(Hub()) == (
        "proxy",
        f"The proxy in {variable} cannot be used (its address is not valid), so the hub is not asked. {HUB_WORDS}; "
        f"correct or unset {variable}.",
    )
    assert hub.requests == []


def test_nor_for_one_that_does_not_answer(hub: fake.Hub, repo: fake.Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://me:{SECRET}@127.0.0.1:{fake.refusing_port()}")
    assert refused(Hub()) == (
        "offline",
        f"The proxy in HTTP_PROXY cannot be reached (connection refused), so the hub is not asked. {HUB_WORDS} without "
        "it; correct or unset HTTP_PROXY, or try again when the network is back.",
    )
    assert hub.requests == []


def test_nor_for_one_that_never_answers(hub: fake.Hub, repo: fake.Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.misbehave("*", silent=True)
    monkeypatch.setenv("http_proxy", hub.url)
    code, words = refused(Hub("http://hub.example", patience=0.5))
    assert code == "timeout"
    assert words.startswith(
        "http://hub.example gave no answer within 0.5 seconds, asked through the proxy in http_proxy. "
    )


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (httpx2.ConnectTimeout("x"), "offline", "The proxy in https_proxy cannot be reached (no answer), so the hub"),
        (httpx2.ProxyError("x"), "proxy", "The proxy in https_proxy does not let us through to https://hub.example;"),
        (httpx2.ReadError("x"), "server", "The connection to https://hub.example broke before the answer was whole, "
         "asked through the proxy in https_proxy; try again."),
    ],
)  # fmt: skip
def test_every_fault_on_the_way_names_the_proxy(
    monkeypatch: pytest.MonkeyPatch, error: Exception, code: str, words: str
) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    found = hub_http._trouble(error, "https://hub.example", 10)
    assert (found.code, str(found)[: len(words)]) == (code, words)


def test_certificates_that_are_named_and_not_there(
    repo: fake.Repo, hub: fake.Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    assert refused(Hub()) == (
        "certificate",
        "The certificates named in SSL_CERT_FILE or SSL_CERT_DIR cannot be read, so the hub is not asked; correct or "
        "unset it.",
    )
    assert hub.requests == []


def test_encryption_behind_the_proxy_is_not_its_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    error = httpx2.ConnectError("x")
    error.__cause__ = ssl.SSLError(1, "wrong version number")
    assert str(hub_http._trouble(error, "https://hub.example", 10)).startswith(
        "The hub cannot be reached at https://hub.example (wrong version number). "
    )


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        ({"status": 407}, "proxy", "The proxy asks for a name and a password; put them into http_proxy."),
        ({"status": 503}, "server", "The hub, or the proxy in http_proxy, has trouble (status 503). Nothing was"),
        (fake.HTML, "not-a-hub", "http://hub.example answered with status 200, but it is not a hub answer: "),
    ],
)
def test_what_a_proxy_answers_itself(
    hub: fake.Hub, monkeypatch: pytest.MonkeyPatch, answer: dict[str, object], code: str, words: str
) -> None:
    hub.misbehave("*", **{"status": 200, **answer})  # type: ignore[arg-type]
    monkeypatch.setenv("http_proxy", hub.url)
    found = refused(Hub("http://hub.example"))
    assert (found[0], found[1][: len(words)]) == (code, words)
    if code == "not-a-hub":
        assert found[1].endswith("whether the proxy in http_proxy or a login page stands in between.")


@pytest.mark.parametrize("value", ["foo://127.0.0.1:1", f"http://me:{SECRET}@x:abc"])
def test_a_transfer_names_the_variable_of_a_proxy_that_makes_no_sense(
    hub: fake.Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    offer(hub)
    monkeypatch.setenv("http_proxy", value)
    error = failure(want(hub, tmp_path))
    assert (error.code, str(error)) == (
        "proxy",
        "the proxy in http_proxy cannot be used (its address is not valid); nothing was fetched; correct or unset "
        "http_proxy.",
    )


def test_a_transfer_names_a_proxy_that_is_away(hub: fake.Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(hub)
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{fake.refusing_port()}")
    error = failure(want(hub, tmp_path))
    assert error.code == "offline"
    assert "the proxy in HTTP_PROXY cannot be reached (connection refused" in str(error)
    assert str(error).endswith("check the network and HTTP_PROXY.")
    assert hub.requests == []


@pytest.mark.parametrize(
    ("error", "words", "todo"),
    [
        (httpx2.ProxyError("x"), "the proxy in https_proxy does not let us through to hub.example",
         "check https_proxy"),
        (httpx2.ConnectTimeout("x"), "the proxy in https_proxy cannot be reached (no answer within 7 s)",
         "check the network and https_proxy"),
        (httpx2.ReadError("x"), "the connection to hub.example (through the proxy in https_proxy) broke off",
         "start it again to continue"),
    ],
)  # fmt: skip
def test_faults_of_a_transfer_on_the_way_through_a_proxy(error: Exception, words: str, todo: str) -> None:
    patience = Patience(connect=7, stall=QUICK.stall)
    found = _explain(error, "hub.example", patience, InUse("https_proxy"))
    assert (str(found), found.todo) == (words, todo)
