"""The file with the user's token: whatever stands in its place is named, and nobody waits for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from huggingface_hub import constants

from app.library.hub import Hub
from app.library.records import Phase
from app.library.shelf import Shelf
from app.library.token_file import MOST_BYTES, wrong_token_file
from tests.fixtures import hub as fake
from tests.fixtures.homes import Home
from tests.unit.library.hub_asked import REPO, refused
from tests.unit.library.shelves import until

PIPE = "it is a pipe, which gives its token only once"


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where the token would be."""
    file = tmp_path / "token"
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_OIDC_RESOURCE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(file))
    monkeypatch.setattr(constants, "HF_STORED_TOKENS_PATH", str(tmp_path / "stored_tokens"))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_IMPLICIT_TOKEN", False)
    return file


def words(file: Path, why: str) -> tuple[str, str]:
    return (
        "token",
        f"The file with your token, {file}, cannot be read: {why}. The hub was not asked; log in again with "
        "`hf auth login`, or set HF_TOKEN.",
    )


def test_a_pipe_is_never_waited_for(hub: fake.Hub, repo: fake.Repo, token: Path) -> None:
    os.mkfifo(token)
    assert refused(Hub()) == words(token, PIPE)
    assert hub.requests == []


def test_nor_is_one_beside_it(hub: fake.Hub, repo: fake.Repo, token: Path) -> None:
    token.write_text("hf_good")
    os.mkfifo(token.with_name("stored_tokens"))
    assert refused(Hub()) == words(token.with_name("stored_tokens"), PIPE)


@pytest.mark.parametrize("what", ["folder", "dead link", "large"])
def test_else_the_one_beside_it_is_not_needed(hub: fake.Hub, repo: fake.Repo, token: Path, what: str) -> None:
    token.write_text("hf_good")
    saved = token.with_name("stored_tokens")
    if what == "folder":
        saved.mkdir()
    elif what == "dead link":
        saved.symlink_to(token.with_name("gone"))
    else:
        saved.write_bytes(b"#" * (MOST_BYTES + 1))
    assert wrong_token_file() is None


def test_a_device_that_holds_nothing_means_no_token(
    hub: fake.Hub, repo: fake.Repo, token: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", os.devnull)
    assert wrong_token_file() is None


def test_a_folder(hub: fake.Hub, repo: fake.Repo, token: Path) -> None:
    token.mkdir()
    assert refused(Hub()) == words(token, "it is a folder")


def test_a_device_and_a_file_beyond_every_token(hub: fake.Hub, repo: fake.Repo, token: Path) -> None:
    token.symlink_to("/dev/zero")
    assert refused(Hub()) == words(token, "it is no regular file")
    token.unlink()
    token.touch()
    os.truncate(token, MOST_BYTES + 1)
    assert refused(Hub()) == words(token, "it has 65,537 bytes")


def test_a_link_that_leads_nowhere(hub: fake.Hub, repo: fake.Repo, token: Path) -> None:
    token.symlink_to(token.with_name("gone"))
    assert refused(Hub()) == words(token, "it is a link that leads nowhere")


def test_a_path_that_goes_through_a_file(
    hub: fake.Hub, repo: fake.Repo, token: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token.touch()
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(token / "inside"))
    assert refused(Hub()) == words(token / "inside", "not a directory")


def test_a_file_that_may_not_be_read(
    hub: fake.Hub, repo: fake.Repo, token: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    def get_token() -> str | None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(huggingface_hub, "get_token", get_token)
    assert refused(Hub()) == words(token, "permission denied")


def test_a_file_that_is_no_text(hub: fake.Hub, repo: fake.Repo, token: Path) -> None:
    token.write_bytes(b"\xff\xfe\x00")
    assert refused(Hub()) == words(token, "it is no text")


@pytest.mark.parametrize("variable", ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"])
def test_a_token_in_the_environment_needs_no_file(
    hub: fake.Hub, repo: fake.Repo, token: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    os.mkfifo(token)
    hub.tokens.add("hf_good")
    monkeypatch.setenv(variable, "hf_good")
    assert Hub().repo(REPO).id == REPO
    assert hub.seen("api/*")[0].headers["authorization"] == "Bearer hf_good"


def test_without_a_file_nobody_is_logged_in(hub: fake.Hub, repo: fake.Repo, token: Path) -> None:
    assert Hub().repo(REPO).id == REPO
    assert "authorization" not in hub.seen("api/*")[0].headers


def test_a_file_that_becomes_a_pipe_ends_a_download_in_words(
    home: Home, hub: fake.Hub, shelf: Shelf, token: Path
) -> None:
    offer = shelf.plan("one")
    os.mkfifo(token)
    shelf.start(offer)
    failed = until(shelf, "one", Phase.FAILED, Phase.DONE)
    assert (failed.phase, failed.trouble) == (Phase.FAILED, words(token, PIPE)[1])
    assert hub.seen("cdn/*") == []
