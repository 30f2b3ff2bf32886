"""A model of which only a part is here: it is said that it is not whole, wherever it is asked for, and how to go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.library.lookup import find_model, find_pair_files
from app.library.origins import Origin, note_damage, write_origin
from app.library.records import ShelfError
from app.library.resolve import CannotUseError, ModelNotFoundError
from app.library.shelf import Shelf
from app.library.transfer.sidecar import PART, SIDECAR, Sidecar, beside
from tests.fixtures.homes import ONE_TARGET, SHARED_DRAFT, Home

LOOSE = "some/Tiny-GGUF/Tiny-Q4_K_M.gguf"


def begin(home: Home, name: str, done: int = 3000, size: int = 5000) -> Path:
    """A download of which some bytes are here."""
    path = home.models / name
    home.put(f"{name}{PART}", bytes(done))
    Sidecar("http://hub/x", size, None).write(beside(path, SIDECAR))
    return path


@pytest.fixture
def loose(home: Home) -> Path:
    return begin(home, LOOSE)


def words_about(path: Path) -> str:
    return (
        f"Tiny-Q4_K_M.gguf is not whole: 3 of 5 kB are here ({path}.part); "
        f"this continues it: slipstream models pull {LOOSE}."
    )


NAMES = ("Tiny-Q4_K_M", "tiny-q4_k_m.GGUF", "Tiny", "some/Tiny-GGUF", "some/Tiny-GGUF:Q4_K_M", LOOSE)


def test_no_model_is_taken_from_it_under_any_name(home: Home, loose: Path, shelf: Shelf) -> None:
    for name in (*NAMES, str(loose)):
        with pytest.raises(CannotUseError) as error:
            find_model(name)
        assert str(error.value) == words_about(loose), name
        with pytest.raises(ShelfError) as refused:
            shelf.find(name)
        assert str(refused.value) == words_about(loose), name


def test_as_a_draft_that_need_not_be_there_it_is_a_note(home: Home, loose: Path) -> None:
    whole = home.put("whole.gguf", home.files[ONE_TARGET])
    for name in (*NAMES, str(loose)):
        files = find_pair_files("whole", name, draft_must_be_there=False)
        assert files.target == whole
        assert files.notes == (f"{words_about(loose)} Lookup proposes instead.",), name


def test_a_draft_that_is_left_out_has_its_reason_for_the_receipt(home: Home, loose: Path) -> None:
    home.put("whole.gguf", home.files[ONE_TARGET])
    home.studio("cut.gguf", home.files[ONE_TARGET][:-1000])
    home.put("set-00002-of-00003.gguf", home.files[ONE_TARGET])
    reasons = {
        "nosuch": "no model is named nosuch",
        "cut": "cut.gguf is incomplete: the header promises ",
        "Tiny-Q4_K_M": words_about(loose).removesuffix("."),
        str(home.models / "none.gguf"): f"There is no file {home.models / 'none.gguf'}",
        str(home.models / "set-00002-of-00003.gguf"): "set-00002-of-00003.gguf is one of 3 parts of a model, and ",
    }
    for name, reason in reasons.items():
        found = find_pair_files("whole", name, draft_must_be_there=False)
        assert found.draft is None
        assert (found.draft_refused or "").startswith(reason), name
        assert not (found.draft_refused or "").endswith("."), name
    assert find_pair_files("whole", None).draft_refused is None


def test_a_pairs_own_draft_that_is_damaged_was_refused_and_one_that_is_not_here_was_not(home: Home) -> None:
    home.put(ONE_TARGET)
    assert find_pair_files("one", None).draft_refused is None
    draft = home.put(SHARED_DRAFT)
    size, changed = draft.stat().st_size, draft.stat().st_mtime_ns
    write_origin(draft, Origin("o/r", "c" * 40, draft.name, size, sha256="0" * 64))
    note_damage(draft, damaged=True)
    assert draft.stat().st_mtime_ns == changed
    assert (find_pair_files("one", None).draft_refused or "").startswith(f"{draft} is damaged: ")


def test_a_draft_that_another_tool_has_not_whole(home: Home) -> None:
    home.put("whole.gguf", home.files[ONE_TARGET])
    home.studio("cut.gguf", home.files[ONE_TARGET][:-1000])
    (note,) = find_pair_files("whole", "cut", draft_must_be_there=False).notes
    assert note.startswith("cut.gguf is incomplete: the header promises ")
    assert note.endswith(
        "; finish its download where it began (LM Studio), or fetch it again. Lookup proposes instead."
    )


def test_a_pair_whose_target_is_partly_here(home: Home, shelf: Shelf) -> None:
    path = begin(home, ONE_TARGET)
    size = len(home.files[ONE_TARGET])
    words = f"one-Q8_0.gguf is not whole: 3 of {size / 1000:.0f} kB are here"
    go_on = "this continues it: slipstream models pull one."
    with pytest.raises(ModelNotFoundError) as error:
        find_model("one")
    assert str(error.value) == f"{words}; {go_on}"
    assert shelf.unfinished("one") == [f"{words}; {go_on}"]
    with pytest.raises(ShelfError) as refused:
        shelf.check("one")
    assert str(refused.value) == f"{words}; {go_on}"
    with pytest.raises(CannotUseError, match=f"one-Q8_0.gguf is not whole: .*{path.name}.part.*pull {ONE_TARGET}"):
        find_model("one-Q8_0")


def test_what_is_not_here_at_all_is_still_said_so(home: Home, loose: Path) -> None:
    with pytest.raises(ModelNotFoundError, match="No model is named nowhere; known here: "):
        find_model("nowhere")
    with pytest.raises(ModelNotFoundError, match="other/Repo is not on this machine yet; this gets it: "):
        find_model("other/Repo")
