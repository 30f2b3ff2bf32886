"""The log file: nothing that anybody logs of an address can hold a password or a signature."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.library.hub import Hub
from app.library.hub_errors import HubError
from app.logs import discreet, log_to_file
from tests.fixtures import hub as fake


@pytest.fixture
def log_file(tmp_path: Path) -> Iterator[Path]:
    """A log file that has everything, as in the program: nobody else listens meanwhile."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    names = ("httpx2", "httpcore2")
    levels = [logging.getLogger(name).level for name in names]
    root.handlers.clear()
    file = tmp_path / "app.log"
    log_to_file(file)
    yield file
    for handler in root.handlers:
        handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, before in zip(names, levels, strict=True):
        logging.getLogger(name).setLevel(before)


def test_a_password_in_the_endpoint_is_in_no_log(
    log_file: Path, hub: fake.Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.repo("a/b").put("x.gguf", b"x")
    endpoint = hub.url.replace("://", "://user:PASSWORD@")
    for quiet in (True, False):
        if not quiet:  # even where a library speaks up
            monkeypatch.setattr(logging.Logger, "setLevel", lambda self, level: None)
            logging.getLogger("httpx2").level = logging.INFO
            logging.getLogger("httpx2")._cache.clear()  # type: ignore[attr-defined]
        with pytest.raises(HubError):  # the hub here knows no such user
            Hub(endpoint).repo("a/b")
    logging.getLogger("anybody").info("GET %s/x?X-Amz-Signature=SECRET", endpoint)
    try:
        raise ValueError(f"cannot reach {endpoint}")
    except ValueError:
        logging.getLogger("anybody").exception("failed")
    text = log_file.read_text()
    assert "anybody" in text
    assert "httpx2 HTTP Request: GET" in text
    assert f"{hub.url}/x?…" in text
    assert "PASSWORD" not in text
    assert "SECRET" not in text
    assert "user:" not in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("GET http://u:p@host:80/a/b done", "GET http://host:80/a/b done"),
        ("http://u:p/w@host/a", "http://host/a"),
        ("'https://cdn/x?sig=1&y=2' 'b'", "'https://cdn/x?…' 'b'"),
        ("a@b.org is no address, and so is x://", "a@b.org is no address, and so is x://"),
        ("socks5://u:p@proxy", "socks5://proxy"),
    ],
)
def test_what_is_left_of_an_address(text: str, shown: str) -> None:
    assert discreet(text) == shown
