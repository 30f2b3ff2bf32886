"""The hub: what it says of a repository, and the words for who may not read it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.library.hub import Hub, HubError
from tests.fixtures import hub as fake
from tests.unit.library.hub_asked import REPO, refused


def test_a_repository_at_its_commit(hub: fake.Hub, repo: fake.Repo) -> None:
    seen = Hub().repo(REPO)
    file = seen.file("some-Q4_K_M.gguf")
    assert file is not None
    assert (seen.id, seen.revision, seen.gated, seen.licence) == (REPO, repo.commit, False, "apache-2.0")
    assert (file.size, file.sha256) == (400, repo.at("main")[1]["some-Q4_K_M.gguf"].sha256)  # type: ignore[index]
    assert file.blob == file.sha256
    assert seen.file("README.md") is not None
    assert Hub().url(seen, "a b/x.gguf") == f"{hub.url}/{REPO}/resolve/{repo.commit}/a%20b/x.gguf"
    (request,) = hub.seen("api/*")
    assert request.query == {"blobs": ["true"]}
    assert "authorization" not in request.headers
    assert request.headers["user-agent"].startswith("slipstream/")


def test_an_older_revision(hub: fake.Hub, repo: fake.Repo) -> None:
    old = repo.commit
    repo.put("some-Q4_K_M.gguf", b"newer")
    assert Hub().repo(REPO, old).revision == old
    assert Hub().repo(REPO, "main").revision == repo.commit


def test_a_repository_that_moved(hub: fake.Hub, repo: fake.Repo) -> None:
    hub.moved["old/Name-GGUF"] = REPO
    assert Hub().repo("old/Name-GGUF").id == REPO


def test_the_endpoint_may_have_a_path_and_a_slash(hub: fake.Hub, repo: fake.Repo) -> None:
    assert Hub(hub.url + "/").repo(REPO).id == REPO


def test_the_token_of_the_environment_goes_to_the_hub(
    hub: fake.Hub, repo: fake.Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", " hf_good\n")
    hub.tokens.add("hf_good")
    Hub().repo(REPO)
    assert hub.seen("api/*")[0].headers["authorization"] == "Bearer hf_good"


def test_no_such_repository(hub: fake.Hub, repo: fake.Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    words = (
        f"{hub.url} has no repository owner/None, or it is private. Check the name; "
        "for a private one log in with `hf auth login` or set HF_TOKEN."
    )
    assert refused(Hub(), "owner/None") == ("repository", words)
    monkeypatch.setenv("HF_TOKEN", "hf_good")
    hub.tokens.add("hf_good")
    with_token = (
        f"{hub.url} has no repository owner/None, or the token that was sent may not see it. Check the name; "
        "for a private one the token must be of an account that may read it."
    )
    assert refused(Hub(), "owner/None") == ("repository", with_token)


def test_no_such_revision(hub: fake.Hub, repo: fake.Repo) -> None:
    words = f"{REPO} has no revision v9/x; leave it out to get the newest."
    assert refused(Hub(), revision="v9/x") == ("revision", words)


def test_a_name_that_is_none_is_never_sent(hub: fake.Hub) -> None:
    words = "../../evil is no repository of the hub: it is not OWNER/NAME."
    assert refused(Hub(), "../../evil") == ("wish", words)
    assert hub.requests == []


def test_a_gated_repository_says_where_and_how(hub: fake.Hub, monkeypatch: pytest.MonkeyPatch, repo: fake.Repo) -> None:
    repo.gated = "manual"
    seen = Hub().repo(REPO)
    assert seen.gated
    with pytest.raises(HubError) as error:
        Hub().check_access(seen, "some-Q4_K_M.gguf")
    assert (error.value.code, str(error.value)) == (
        "gated",
        f"{REPO} is gated: accept its licence at {hub.url}/{REPO}, then log in with `hf auth login` or set HF_TOKEN.",
    )
    monkeypatch.setenv("HF_TOKEN", "hf_stranger")
    hub.tokens |= {"hf_stranger", "hf_reader"}
    with pytest.raises(HubError) as error:
        Hub().check_access(seen, "some-Q4_K_M.gguf")
    assert (error.value.code, str(error.value)) == (
        "gated",
        f"{REPO} is gated, and the account you are logged in with has no access yet: ask for it at {hub.url}/{REPO} "
        "(some owners answer by hand), then try again.",
    )
    monkeypatch.setenv("HF_TOKEN", "hf_reader")
    repo.readers.add("hf_reader")
    Hub().check_access(seen, "some-Q4_K_M.gguf")
    assert hub.seen("cdn/*") == []


def test_a_403_without_a_token_speaks_of_no_account(
    hub: fake.Hub, monkeypatch: pytest.MonkeyPatch, repo: fake.Repo
) -> None:
    repo.gated = "manual"
    seen = Hub().repo(REPO)
    hub.misbehave("resolve/*", methods=("GET", "HEAD"), status=403, headers={"X-Error-Code": "GatedRepo"})
    with pytest.raises(HubError) as error:
        Hub().check_access(seen, "some-Q4_K_M.gguf")
    assert str(error.value) == (
        f"{REPO} is gated: accept its licence at {hub.url}/{REPO}, then log in with `hf auth login` or set HF_TOKEN."
    )


def test_a_file_that_went_away(hub: fake.Hub, repo: fake.Repo) -> None:
    with pytest.raises(HubError) as error:
        Hub().check_access(Hub().repo(REPO), "gone.gguf")
    assert (error.value.code, str(error.value)) == ("file", f"{REPO} has no file gone.gguf.")


def test_a_refused_token_is_not_repeated(hub: fake.Hub, repo: fake.Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_stale_secret")
    code, words = refused(Hub())
    assert (code, words) == (
        "token",
        f"The hub refused your token for {REPO}: it is wrong, has expired or may not read this. "
        "Log in again with `hf auth login`, or correct HF_TOKEN.",
    )


def test_a_token_that_is_none_is_not_sent(hub: fake.Hub, repo: fake.Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret\u2026with a typo")
    words = "Your token has characters that no token has; log in again, or correct HF_TOKEN."
    assert refused(Hub()) == ("token", words)
    assert hub.requests == []


def test_a_mirror_that_forbids(hub: fake.Hub, repo: fake.Repo) -> None:
    hub.misbehave("api/*", status=403, body=b'{"error": "no"}', headers={"Content-Type": "application/json"})
    words = f"The hub lets nobody read {REPO} without an account; log in with `hf auth login` or set HF_TOKEN."
    assert refused(Hub()) == ("token", words)


def test_a_disabled_repository(hub: fake.Hub, repo: fake.Repo) -> None:
    repo.disabled = True
    words = f"{REPO} was disabled on the hub and cannot be fetched from there."
    assert refused(Hub()) == ("disabled", words)
    hub.misbehave("api/*", status=451)
    assert refused(Hub()) == ("disabled", words)


def run_apart(code: str, **environment: str) -> str:
    """What a fresh process prints, which read these variables when it began."""
    found = {name: os.environ[name] for name in ("PATH", "NO_PROXY", "HF_ENDPOINT") if name in os.environ}
    root = Path(__file__).resolve().parents[3]
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=root, env=found | environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.strip()


def test_a_token_of_hf_auth_login_is_found(hub: fake.Hub, repo: fake.Repo, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("hf_saved\n")
    hub.tokens.add("hf_saved")
    asked = f"from app.library.hub import Hub; print(Hub().repo({REPO!r}).id)"
    assert run_apart(asked, HF_HOME=str(tmp_path)) == REPO
    assert hub.seen("api/*")[0].headers["authorization"] == "Bearer hf_saved"
    assert run_apart(asked, HF_HOME=str(tmp_path), HF_HUB_DISABLE_IMPLICIT_TOKEN="1") == REPO
    assert "authorization" not in hub.seen("api/*")[1].headers
    assert {request.key for request in hub.requests} == {f"api/{REPO}"}


def test_the_hub_library_is_loaded_only_to_ask(hub: fake.Hub) -> None:
    code = "import sys, app.library.check, app.library.plan_text; print('huggingface_hub' in sys.modules)"
    assert run_apart(code) == "False"
