"""What goes past the proxy by ``NO_PROXY`` is what the HTTP library sends past it, whatever form the list has."""

from __future__ import annotations

import os

import httpx2
import pytest

from app.library.proxies import serving

HOSTS = (
    "http://127.0.0.1",
    "https://127.0.0.1:8443",
    "http://10.20.30.40",
    "https://hub.example",
    "https://hub.example:8443",
    "http://hub.example:80",
    "http://api.hub.example",
    "http://myhub.example",
    "http://localhost:8080",
    "http://a.localhost",
    "http://[::1]:8080",
    "http://[fe80::1]",
)
LISTS = (
    "",
    "*",
    "other.example, *",
    "127.0.0.1",
    "127.0.0.0/8",
    "127.0.0.1/8",
    "10.0.0.0/8,192.168.0.0/16",
    "10.0.0.0/99",
    "10.0.0.0/255.0.0.0",
    "10.0.0.0/",
    "::1",
    "[::1]",
    "[::1]:8080",
    "fe80::/10",
    "hub.example",
    "HUB.example",
    " hub.example ,x",
    ".hub.example",
    "*.hub.example",
    "*hub.example",
    "hub.example:8443",
    "hub.example:80",
    "hub.example:443",
    "hub.example/x",
    "example",
    "localhost",
    "http://127.0.0.1",
    "https://127.0.0.1",
    "all://hub.example",
    "http://hub.example",
    "http://hub.example:80",
    "all://",
    "https://hub.example:8443",
    "http://*.hub.example",
    "http://*hub.example",
    "http://*",
    "http://",
    "http://10.0.0.0/8",
    "10.20.30.40:80",
    "hub.example:x",
    "[::1",
    "::1/128",
    ",,",
)


@pytest.mark.parametrize("left_out", LISTS)
def test_it_is_read_as_the_library_reads_it(monkeypatch: pytest.MonkeyPatch, left_out: str) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", left_out)
    with httpx2.Client(verify=False) as client:
        straight = {url: client._transport_for_url(httpx2.URL(url)) is client._transport for url in HOSTS}
    assert {url: serving(url) is None for url in HOSTS} == straight


def test_a_network_goes_past_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "127.0.0.0/8")
    assert serving("http://127.0.0.1:8000") is None
    assert serving("http://10.0.0.1:8000") == "http_proxy"
