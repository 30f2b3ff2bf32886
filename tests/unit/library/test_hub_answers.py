"""Answers that are none, absurd or hostile: one clear line, soon, and nothing of them is believed."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from app.library.hub import Hub, HubError
from app.library.hub_answer import NotAHubAnswerError, RemoteFile, read_repo
from app.library.hub_http import LONGEST_ANSWER
from tests.fixtures import hub as fake
from tests.fixtures.pace import limit

REPO = "owner/Some-GGUF"
COMMIT = "0123456789" * 4
SHA256 = "ab" * 32


def answer(**changed: Any) -> dict[str, Any]:
    file = {"rfilename": "x-Q4_0.gguf", "size": 5, "blobId": COMMIT, "lfs": {"sha256": SHA256, "size": 5}}
    return {"id": REPO, "sha": COMMIT, "siblings": [file], **changed}


def listing(*files: Any) -> dict[str, Any]:
    return answer(siblings=list(files))


def gguf(path: object, size: object = 5) -> dict[str, object]:
    return {"rfilename": path, "size": size}


def test_what_is_read() -> None:
    repo = read_repo(answer(gated="auto", cardData={"license": "other", "license_name": "gemma"}), REPO)
    assert repo.files == (RemoteFile("x-Q4_0.gguf", 5, SHA256, SHA256),)
    assert (repo.revision, repo.gated, repo.licence) == (COMMIT, True, "gemma")


@pytest.mark.parametrize(
    ("facts", "licence", "url"),
    [
        ({"cardData": {"license": "apache-2.0"}}, "apache-2.0", None),
        ({"tags": ["gguf", 7, "license:mit"]}, "mit", None),
        ({"cardData": {"license": ["a"], "license_link": "https://x.y/z"}}, None, "https://x.y/z"),
        (
            {"cardData": {"license": "x\x1b[2J" + "y" * 500, "license_link": "javascript:x"}},
            "x␛[2J" + "y" * 54 + "…",
            None,
        ),
        ({"cardData": 5, "tags": 5}, None, None),
        ({}, None, None),
    ],
)
def test_a_licence_is_foreign_text(facts: dict[str, Any], licence: str | None, url: str | None) -> None:
    repo = read_repo(answer(**facts), REPO)
    assert (repo.licence, repo.licence_url) == (licence, url)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        ([], "it is no table of a repository's facts"),
        ({}, "the commit is missing"),
        (answer(sha=5), "the commit is missing"),
        (answer(sha="main"), "the commit is missing"),
        (answer(siblings=None), "the list of files is missing"),
        (answer(siblings={"a": 1}), "the list of files is missing"),
        (listing("x.gguf"), "a file has no name"),
        (listing({"rfilename": 5}), "a file has no name"),
        (listing({"rfilename": "x.gguf"}), "the size of x.gguf is missing"),
        (listing(gguf("x.gguf", "5")), "the size of x.gguf is missing"),
        (listing(gguf("x.gguf", True)), "the size of x.gguf is missing"),
        (listing(gguf("x.gguf", 1.5)), "the size of x.gguf is missing"),
        (listing({**gguf("x.gguf"), "lfs": {"sha256": "short"}}), "the hash of x.gguf is none"),
        (listing({**gguf("x.gguf"), "lfs": {"sha256": 5}}), "the hash of x.gguf is none"),
    ],
)
def test_what_every_hub_sends_is_missing(data: object, what: str) -> None:
    with pytest.raises(NotAHubAnswerError) as error:
        read_repo(data, REPO)
    assert str(error.value) == what


@pytest.mark.parametrize(
    ("path", "shown", "why"),
    [
        ("../../x.gguf", "../../x.gguf", "it leads out of its folder"),
        ("a\\..\\..\\x.gguf", "a\\..\\..\\x.gguf", "it leads out of its folder"),
        ("/tmp/x.gguf", "/tmp/x.gguf", "it is not relative to the repository"),
        ("nul.gguf", "nul.gguf", "Windows keeps that name for a device"),
        ("a\x1b[2J.GGUF", "a␛[2J.GGUF", "it has control codes in it"),
    ],
)
def test_a_name_that_is_not_stored_keeps_nobody_from_the_others(path: str, shown: str, why: str) -> None:
    repo = read_repo(listing(gguf(path), gguf("good.gguf")), REPO)
    assert [file.path for file in repo.files] == ["good.gguf"]
    assert repo.left_out == ((path, f"{REPO} lists a file that is not stored here: {shown} ({why})."),)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (listing(gguf("x.gguf", -5)), "lists x.gguf with a size of -5 bytes."),
        (listing(gguf("x.gguf", 10**18)), "lists x.gguf with a size of 1000000000000000000 bytes."),
        (listing(gguf("x.gguf", 10**4000)), "lists x.gguf with a size of 100000000000000000000000… bytes."),
        (
            listing(*[gguf("x.gguf")] * 20_001),
            "lists 20,001 files, and no more than 20,000 of a repository are read; nothing was fetched.",
        ),
    ],
)
def test_what_no_honest_hub_says(data: object, words: str) -> None:
    with pytest.raises(HubError) as error:
        read_repo(data, REPO)
    assert (error.value.code, str(error.value)) == ("hostile", f"{REPO} {words}")


def test_of_two_names_that_are_one_file_on_many_disks_the_first_counts() -> None:
    for other in ("X.GGUF", "x.gguf"):
        repo = read_repo(listing(gguf("x.gguf"), gguf(other)), REPO)
        assert [file.path for file in repo.files] == ["x.gguf"]
        words = f"{REPO} lists x.gguf and {other}: on many disks that is one file."
        assert repo.left_out == ((other, words),)


def test_odd_names_that_are_never_fetched_do_no_harm() -> None:
    others = [gguf("../../notes.txt"), gguf("aux.md"), {"rfilename": "x.png", "size": "?"}, gguf("y.bin", 10**18)]
    repo = read_repo(listing(*others, gguf("README.md"), gguf("x.gguf")), REPO)
    assert [file.path for file in repo.files] == ["README.md", "x.gguf"]


def test_a_name_that_is_none_is_not_believed() -> None:
    assert read_repo(answer(id="../../evil"), REPO).id == REPO
    assert read_repo(answer(id=5), REPO).id == REPO
    assert read_repo(answer(id="Owner/some-gguf"), REPO).id == "Owner/some-gguf"


def refused(hub: fake.Hub, body: bytes, kind: str = "application/json", **switches: Any) -> tuple[str, str, float]:
    hub.misbehave("api/*", **{"status": 200, "headers": {"Content-Type": kind}, "body": body, **switches})
    began = time.monotonic()
    with pytest.raises(HubError) as error:
        Hub().repo(REPO)
    return error.value.code, str(error.value), time.monotonic() - began


def not_a_hub(hub: fake.Hub, what: str, status: int = 200) -> str:
    return (
        f"{hub.url} answered with status {status}, but it is not a hub answer: {what}. "
        "Check HF_ENDPOINT, and whether a proxy or a login page stands in between."
    )


@pytest.mark.parametrize(
    ("body", "kind", "what"),
    [
        (b"<!DOCTYPE html><p>Log in</p>", "text/html; charset=utf-8", "text/html came in place of JSON"),
        (b"", "", "an unknown kind came in place of JSON"),
        (b"\xff\xfe", "application/json", "its JSON cannot be read"),
        (b"[" * 100_000, "application/json", "its JSON cannot be read"),
        (b'{"sha": ' + b"9" * 5000 + b"}", "application/json", "its JSON cannot be read"),
        (b'{"id": "a/b", "siblings": []}', "application/json", "the commit is missing"),
        (b"null", "application/json", "it is no table of a repository's facts"),
    ],
)
def test_something_else_answers(body: bytes, kind: str, what: str, hub: fake.Hub) -> None:
    code, words, seconds = refused(hub, body, kind)
    assert (code, words) == ("not-a-hub", not_a_hub(hub, what))
    assert seconds < limit(2)


def test_a_page_in_place_of_a_refusal(hub: fake.Hub) -> None:
    code, words, _ = refused(hub, b"<html>", "text/html", status=404)
    assert (code, words) == ("not-a-hub", not_a_hub(hub, "a web page came", 404))
    code, words, _ = refused(hub, b"", "text/plain", status=418)
    assert (code, words) == ("not-a-hub", not_a_hub(hub, "no hub answers so", 418))


def test_a_redirect_to_a_page(hub: fake.Hub) -> None:
    hub.misbehave("other/login", **fake.HTML)
    code, words, _ = refused(hub, b"", status=None, redirect=f"{hub.url}/login")
    assert (code, words) == ("not-a-hub", not_a_hub(hub, "text/html came in place of JSON"))


@pytest.mark.parametrize("place", ["{path}", "ftp://mirror/x"])
def test_redirects_that_lead_nowhere(place: str, hub: fake.Hub) -> None:
    code, words, _ = refused(hub, b"", status=None, redirect=place)
    assert (code, words) == (
        "not-a-hub",
        f"{hub.url} answers with redirects that lead nowhere, as no hub does; check HF_ENDPOINT.",
    )


def test_a_million_files_end_in_a_line(hub: fake.Hub) -> None:
    files = b",".join([b'{"rfilename":"a.gguf","size":1}'] * 1_000_000)
    code, words, seconds = refused(hub, b'{"sha":"' + COMMIT.encode() + b'","siblings":[' + files + b"]}")
    assert (code, words) == (
        "hostile",
        f"The list of files in {REPO} is longer than 8.4 MB; no more of one is read (enough for 20,000 files), so "
        "nothing was fetched.",
    )
    assert seconds < limit(2)


def test_an_answer_without_end_is_not_read_to_its_end(hub: fake.Hub) -> None:
    code, _, seconds = refused(hub, b" " * 50_000_000)
    assert code == "hostile"
    assert seconds < limit(2)
    assert hub.sent("api/*") < 30_000_000


def test_a_token_stays_with_its_hub(hub: fake.Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_good")
    hub.repo(REPO).put("x.gguf", b"x")
    hub.misbehave("api/*", redirect=f"{hub.cdn_url}/elsewhere")
    with pytest.raises(HubError):
        Hub().repo(REPO)
    assert "authorization" in hub.seen("api/*")[0].headers
    assert "authorization" not in hub.seen("cdn*")[0].headers


def test_a_real_listing_of_many_files_is_read_quickly() -> None:
    files = [{**answer()["siblings"][0], "rfilename": f"x-{number}-Q4_0.gguf"} for number in range(20_000)]
    text = json.dumps(listing(*files))
    assert len(text) < LONGEST_ANSWER, "what is said of the bound is true"
    began = time.monotonic()
    assert len(read_repo(json.loads(text), REPO).files) == 20_000
    assert time.monotonic() - began < limit(2)
