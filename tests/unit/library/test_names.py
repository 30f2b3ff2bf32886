"""What a person may write for a model of the hub."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.library.hub_errors import HubError
from app.library.names import FileWish, PairWish, RepoWish, Wish, parse_wish

REPO = "Qwen/Qwen3-4B-GGUF"
HUB = f"https://huggingface.co/{REPO}"


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("qwen3-4b", PairWish("qwen3-4b")),
        ("  Qwen3-4B with 0.6B ", PairWish("Qwen3-4B with 0.6B")),
        (REPO, RepoWish(REPO)),
        (f"{REPO}:Q8_0", RepoWish(REPO, "Q8_0")),
        (f"{REPO}:UD-Q4_K_XL", RepoWish(REPO, "UD-Q4_K_XL")),
        (f"{REPO}/x.gguf", FileWish(REPO, "x.gguf")),
        (f"{REPO}/BF16/x-00001-of-00002.gguf", FileWish(REPO, "BF16/x-00001-of-00002.gguf")),
        (HUB, RepoWish(REPO)),
        (f"{HUB}/", RepoWish(REPO)),
        (f"http://hf.co/{REPO}", RepoWish(REPO)),
        (f"hf.co/{REPO}:Q8_0", RepoWish(REPO, "Q8_0")),
        (f"huggingface.co/{REPO}", RepoWish(REPO)),
        (f"hf://{REPO}/x.gguf", FileWish(REPO, "x.gguf")),
        (f"{HUB}?library=gguf#how", RepoWish(REPO)),
        (f"{HUB}/tree/main", RepoWish(REPO)),
        (f"{HUB}/tree/v1.0", RepoWish(REPO, revision="v1.0")),
        (f"{HUB}/tree/refs%2Fpr%2F2", RepoWish(REPO, revision="refs/pr/2")),
        (f"{HUB}/blob/main/x.gguf", FileWish(REPO, "x.gguf")),
        (f"{HUB}/resolve/main/sub/x.gguf?download=true", FileWish(REPO, "sub/x.gguf")),
        (f"{HUB}/resolve/{'0a' * 20}/x%20y.gguf", FileWish(REPO, "x y.gguf", "0a" * 20)),
        (f"http://mirror.local:8080/hub/{REPO}/blob/main/x.gguf", FileWish(REPO, "x.gguf")),
    ],
)
def test_what_is_understood(text: str, wish: Wish) -> None:
    assert parse_wish(text, endpoint="http://mirror.local:8080/hub") == wish


FORMS = "a model is a name of the catalogue, OWNER/REPO, OWNER/REPO:QUANT or OWNER/REPO/FILE.gguf."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (" ", f"Nothing was named; {FORMS}"),
        ("../../evil", f"../../evil is a path on this disk, not a model of the hub; {FORMS}"),
        ("/tmp/x.gguf", f"/tmp/x.gguf is a path on this disk, not a model of the hub; {FORMS}"),
        ("~/x.gguf", f"~/x.gguf is a path on this disk, not a model of the hub; {FORMS}"),
        ("C:/x.gguf", f"C:/x.gguf is a path on this disk, not a model of the hub; {FORMS}"),
        ("a\\b", f"a\\b is a path on this disk, not a model of the hub; {FORMS}"),
        ("a/../../b", f"a/../../b names no repository: it is not OWNER/NAME; {FORMS}"),
        ("x.gguf", "x.gguf is only a file's name; a file of the hub is OWNER/REPO/FILE.gguf."),
        ("a/x.gguf", "a/x.gguf names a file without its repository; write OWNER/REPO/FILE.gguf."),
        ("qwen3:Q8_0", "qwen3:Q8_0 has no owner; a quantization is asked for as OWNER/REPO:QUANT."),
        ("a/b:", "a/b: has no quantization after the colon; a quantization looks like Q4_K_M."),
        ("a/b:Q4;rm", "a/b:Q4;rm has no quantization after the colon; a quantization looks like Q4_K_M."),
        (
            "a/b/x.gguf:Q4_0",
            "a/b/x.gguf:Q4_0 names a file and a quantization; the file says it all: leave out what follows the :.",
        ),
        ("a/b/x.safetensors", "a/b/x.safetensors is no GGUF file; only files that end in .gguf can be run."),
        ("a/b/../../x.gguf", f"a/b/../../x.gguf is not fetched: it leads out of its folder; {FORMS}"),
        ("a/b/con.gguf", f"a/b/con.gguf is not fetched: Windows keeps that name for a device; {FORMS}"),
        ("https://example.org/a/b", f"https://example.org/a/b is not an address of the hub; {FORMS}"),
        ("file:///a/b", f"file:///a/b is not an address of the hub; {FORMS}"),
        ("https://huggingface.co", f"https://huggingface.co names no repository: it is not OWNER/NAME; {FORMS}"),
        (
            "https://huggingface.co/datasets/a/b",
            f"https://huggingface.co/datasets/a/b is not the address of a model; {FORMS}",
        ),
        (
            f"{HUB}/resolve/main/..%2F..%2Fx.gguf",
            f"{HUB}/resolve/main/..%2F..%2Fx.gguf is not fetched: it leads out of its folder; {FORMS}",
        ),
        (f"{HUB}/resolve/main/x%1b.gguf", f"{HUB}/resolve/main/x%1b.gguf has control codes in it; {FORMS}"),
        (
            f"{HUB}/tree/a%20b",
            f"{HUB}/tree/a%20b names no revision that can be; open the file on the hub and copy its address.",
        ),
        ("https://[::1/a/b", f"https://[::1/a/b is no valid address; {FORMS}"),
        ("a\x1b]52;c;x\x07/b", f"a␛]52;c;x␇/b has control codes in it; {FORMS}"),
        ("a/b\u202ec", f"a/b\ufffdc has control codes in it; {FORMS}"),
    ],
)
def test_what_is_refused_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(HubError) as refused:
        parse_wish(text)
    assert (str(refused.value), refused.value.code) == (words, "wish")


def test_a_password_is_not_repeated() -> None:
    with pytest.raises(HubError, match="with a user name or password in it is not taken") as refused:
        parse_wish("https://me:hf_secret@huggingface.co/a/b")
    assert "hf_secret" not in str(refused.value)


def test_an_endless_name_is_shortened() -> None:
    with pytest.raises(HubError) as refused:
        parse_wish("a/" + "b" * 100_000)
    assert str(refused.value).startswith("a/bbb")
    assert len(str(refused.value)) < 250


@given(st.text(max_size=60) | st.text(alphabet="ab./:\\%~-h ", max_size=30))
def test_anything_ends_in_a_wish_or_a_sentence(text: str) -> None:
    outcome: Wish | HubError
    try:
        outcome = parse_wish(text)
    except HubError as refused:
        outcome = refused
    assert isinstance(outcome, PairWish) or str(outcome).isprintable()
    assert isinstance(outcome, PairWish | HubError) or ".." not in outcome.repo.split("/")
