"""How a transfer can end without its file, beyond plain refusals: the code, and the sentence that people read."""

from __future__ import annotations

import socket
import ssl
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from app.library.transfer import answer, stream
from app.library.transfer.errors import Again, Refused
from app.library.transfer.patience import Patience
from app.library.transfer.wanted import Wanted, host_of
from tests.fixtures.hub import Hub, refusing_port
from tests.fixtures.transfers import (
    CDN,
    NAME,
    PATIENT,
    QUICK,
    REPO,
    RESOLVE,
    Running,
    failure,
    names,
    offer,
    sha256,
    want,
)

GO_ON = "start it again to continue"
NOTHING = "nothing of it was received"


def test_the_connection_is_cut_before_the_end(hub: Hub, tmp_path: Path) -> None:
    offer(hub, 800_000)
    hub.misbehave(CDN, cut_after=0)
    hub.misbehave(CDN, cut_after=700_000, times=1)
    error = failure(want(hub, tmp_path))
    assert error.code == "cut"
    host = host_of(hub.cdn_url)
    assert str(error) == (
        f"{NAME}: the connection to {host} broke off, 3 times in a row; 700 kB of 800 kB are kept; {GO_ON}."
    )
    assert names(tmp_path) == [f"{NAME}.part", f"{NAME}.part.json"]


def test_the_server_ends_the_file_early_without_having_announced_a_length(hub: Hub, tmp_path: Path) -> None:
    offer(hub, 800_000)
    hub.misbehave(CDN, chunked=True, content=b"GGUF" + b"x" * 699_996)
    error = failure(want(hub, tmp_path, etag=None, sha256=None))
    assert (error.code, "700 kB of 800 kB are kept" in str(error)) == ("changed", True)


def test_more_bytes_than_announced(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    hub.misbehave(CDN, chunked=True, content=b"GGUF" + b"x" * 300_000)
    error = failure(want(hub, tmp_path))
    assert error.code == "changed"
    assert f"{host_of(hub.cdn_url)} sends more than the 200,000 bytes that were announced; " in str(error)


def test_a_length_that_is_a_lie(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    hub.misbehave(CDN, length=150_000)
    error = failure(want(hub, tmp_path))
    assert error.code == "changed"
    assert "has a file of 150 kB there now, and 200 kB were announced" in str(error)


def test_a_wrong_hash(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    wrong = b"GGUF" + b"x" * 199_996
    hub.misbehave(CDN, content=wrong)
    wanted = want(hub, tmp_path)
    error = failure(wanted)
    assert error.code == "hash_mismatch"
    assert wanted.sha256 is not None
    assert str(error) == (
        f"{NAME}: what {host_of(hub.url)} sent has the SHA-256 {sha256(wrong)[:8]} instead of {wanted.sha256[:8]}; "
        "the wrong file was removed; start it again; if that happens twice, the file on the hub is broken."
    )
    assert names(tmp_path) == []
    hub.behave()
    assert Running([[wanted]]).result() == [wanted.path]


def test_nobody_listens(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    port = refusing_port()
    error = failure(want(hub, tmp_path, url=f"http://127.0.0.1:{port}/{REPO}/resolve/main/{NAME}"))
    assert (error.code, str(error)) == (
        "offline",
        f"{NAME}: 127.0.0.1:{port} cannot be reached (connection refused), 2 times in a row; {NOTHING}; "
        "start it again when the network is back.",
    )


def test_the_name_is_not_found(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(hub)

    def lookup(*args: object, **options: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    error = failure(want(hub, tmp_path, url=f"https://hub.invalid/{REPO}/resolve/main/{NAME}"))
    assert error.code == "offline"
    assert f"{NAME}: hub.invalid cannot be reached (its name was not found), 2 times in a row; " in str(error)


def test_the_network_is_switched_off(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(hub)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    error = failure(want(hub, tmp_path))
    assert (error.code, str(error)) == (
        "offline",
        f"{NAME}: HF_HUB_OFFLINE is set, so nothing is fetched; {NOTHING}; unset HF_HUB_OFFLINE, then start it again.",
    )
    assert hub.requests == []


def test_a_file_of_that_name_is_somebody_elses(hub: Hub, tmp_path: Path) -> None:
    data = offer(hub)
    mine = tmp_path / NAME
    mine.write_bytes(b"mine")
    error = failure(want(hub, tmp_path))
    assert (error.code, str(error)) == (
        "exists",
        f"{NAME} is in {tmp_path} already and is not the hub's file: it has 4 bytes instead of 200 kB; "
        "nothing was changed; delete or move it, then start again.",
    )
    mine.write_bytes(b"?" * len(data))
    error = failure(want(hub, tmp_path))
    assert "is not the hub's file: its SHA-256 is another one; " in str(error)
    assert mine.read_bytes() == b"?" * len(data)
    assert hub.requests == []
    Running([[want(hub, tmp_path)]], replace=lambda path: True).result()
    assert mine.read_bytes() == data


def explained(error: Exception) -> Again | Refused:
    return stream._explain(error, "hub.example", replace(QUICK, connect=7))


def test_faults_of_the_network_that_are_hard_to_stage() -> None:
    certificate = httpx2.ConnectError("x")
    certificate.__cause__ = ssl.SSLCertVerificationError("x")
    encryption = httpx2.ConnectError("x")
    encryption.__cause__ = ssl.SSLError("x")
    strange = httpx2.ConnectError("x")
    strange.__cause__ = OSError(101, "Network is unreachable")
    said = [
        (found.code, str(found), found.todo)
        for found in map(
            explained,
            [
                certificate,
                encryption,
                strange,
                httpx2.ConnectError("x"),
                httpx2.ConnectTimeout("x"),
                httpx2.ProxyError("x"),
                httpx2.ReadTimeout("x"),
                httpx2.ReadError("x"),
                httpx2.UnsupportedProtocol("x"),
                httpx2.DecodingError("x"),
            ],
        )
    ]
    online = "start it again when the network is back"
    assert said == [
        (
            "certificate",
            "the certificate of hub.example is not trusted",
            "log in to the network if it wants that, or name your company's certificates in SSL_CERT_FILE",
        ),
        ("offline", "hub.example cannot be reached (no encryption could be agreed on)", online),
        ("offline", "hub.example cannot be reached (network is unreachable)", online),
        ("offline", "hub.example cannot be reached (no connection)", online),
        ("offline", "hub.example cannot be reached (no answer within 7 s)", online),
        ("proxy", "the proxy does not let us through to hub.example", "check HTTPS_PROXY and HTTP_PROXY"),
        ("stalled", "hub.example has sent nothing for 1 s", GO_ON),
        ("cut", "the connection to hub.example broke off", GO_ON),
        ("bad_address", "the address of the file on hub.example cannot be asked for", "check HF_ENDPOINT"),
        ("server", "hub.example answered in a way that makes no sense (DecodingError)", GO_ON),
    ]


def test_from_https_to_http_is_refused() -> None:
    start = httpx2.URL("https://hub.example/a")
    assert str(stream._redirected(start, "/b")) == "https://hub.example/b"
    assert str(stream._redirected(start, "https://cdn.example/b")) == "https://cdn.example/b"
    with pytest.raises(Refused, match="redirects to an address that is not encrypted") as refused:
        stream._redirected(start, "http://hub.example/b")
    assert refused.value.code == "redirect"


def test_waiting_as_the_server_says() -> None:
    now = 1_700_000_000.0
    assert answer.seconds_to_wait({"retry-after": "7"}) == 7
    assert answer.seconds_to_wait({"retry-after": "Tue, 14 Nov 2023 22:13:50 GMT"}, now) == 30
    assert answer.seconds_to_wait({"retry-after": "Tue, 14 Nov 2023 22:00:00 GMT"}, now) == 0
    assert answer.seconds_to_wait({"ratelimit": '"api";r=0;t=55'}) == 55
    assert answer.seconds_to_wait({"ratelimit": '"api";r=12;t=55'}) is None
    assert answer.seconds_to_wait({"retry-after": "soon"}) is None
    assert answer.seconds_to_wait({}) is None


def test_retry_after_is_heeded_and_shown(hub: Hub, tmp_path: Path) -> None:
    offer(hub)
    hub.misbehave(RESOLVE, status=429, headers={"Retry-After": "1"}, times=1)
    running = Running([[want(hub, tmp_path)]], patience=PATIENT)
    waiting = running.wait_state("waiting").files[0]
    assert waiting.reason == f"{host_of(hub.url)} takes no more requests now"
    assert 0 < waiting.wait <= 1
    running.result()


def test_pauses_grow_to_half_a_minute() -> None:
    patience = Patience(jitter=lambda: 1.0)
    assert [patience.after(failures) for failures in range(1, 10)] == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    assert patience.after(10_000) == 30
    assert Patience(jitter=lambda: 0.0).after(2) == 0.75


def test_a_wanted_file_shows_no_secret() -> None:
    wanted = Wanted(
        "https://me:secret@hub.example:444/o/r/resolve/main/a.gguf?token=secret#secret",
        Path("a.gguf"),
        5,
        headers=lambda: {"Authorization": "secret"},
    )
    assert "secret" not in repr(wanted)
    assert wanted.public_url == "https://hub.example:444/o/r/resolve/main/a.gguf"
    assert (wanted.host, wanted.repo, wanted.page) == ("hub.example:444", "o/r", "https://hub.example:444/o/r")
    with pytest.raises(ValueError, match="a size of -1 bytes"):
        replace(wanted, size=-1)
