"""Files that are deleted, moved or replaced while they are loaded, or just before: the engine goes on, in words."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engine import pair as pairs
from engine.files.fingerprint import fingerprint
from engine.llama.model import LoadCancelled
from engine.profile import Profile, ProfileStore
from engine.protocol import ErrorCode, Failed, Loaded, SelfTest, SelfTested
from engine.session import Session
from tests.engine.conftest import Driver
from tests.engine.on_paper import LETTERS, Scripted


@pytest.fixture
def driver(tmp_path: Path) -> Iterator[Driver]:
    """A driver whose engine keeps what it learns, as the real one does."""
    driver = Driver()
    driver.session = Session(ProfileStore(tmp_path / "kept"))
    yield driver
    driver.session.unload()


@pytest.fixture
def files(scripted: Scripted, tmp_path: Path) -> tuple[Path, Path]:
    """A target and a draft that a test may do away with."""
    target, draft = tmp_path / "target.gguf", tmp_path / "draft.gguf"
    shutil.copy(scripted(LETTERS).path, target)
    shutil.copy(scripted(LETTERS, altered_every=4).path, draft)
    return target, draft


def delete(path: Path) -> None:
    path.unlink()


def move(path: Path) -> None:
    path.rename(path.with_name("elsewhere.gguf"))


def replace(path: Path) -> None:
    other = path.with_name("other.gguf")
    other.write_bytes(b"something else")
    other.replace(path)


def test_the_mark_of_a_model_is_that_of_its_file(driver: Driver, files: tuple[Path, Path]) -> None:
    info = driver.load(*files, context=128)
    assert info.target.size_bytes == files[0].stat().st_size
    assert info.target.fingerprint == fingerprint(files[0])


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("change", [delete, move, replace])
def test_a_loaded_pair_goes_on_whatever_becomes_of_its_files(
    driver: Driver, files: tuple[Path, Path], which: int, change: Callable[[Path], None]
) -> None:
    loaded = driver.load(*files, context=128)
    before = driver.ask("hello", speculation="draft")
    change(files[which])
    assert driver.session.pair is not None
    driver.session.pair._info = None  # as the self-test leaves it: the pair is described anew
    after = driver.ask("hello", speculation="draft")
    assert after.text == before.text
    assert after.stats.drafters["draft"].accepted
    assert after.receipt is not None
    assert (after.receipt.target, after.receipt.draft) == (loaded.target, loaded.draft), "what was loaded"


def test_what_was_learned_is_kept_under_the_file_that_was_loaded(
    driver: Driver, files: tuple[Path, Path], tmp_path: Path
) -> None:
    loaded = driver.load(*files, context=128)
    for path in files:
        replace(path)
    driver.session.self_test(SelfTest(id=9), driver.events.append)
    assert isinstance(driver.events[-1], SelfTested)
    driver.ask("hello", speculation="draft")
    assert loaded.draft is not None
    kept = [Profile.model_validate_json(file.read_bytes()) for file in (tmp_path / "kept").glob("*.json")]
    (pacing,) = [profile for profile in kept if profile.selftest is None]
    assert (pacing.target, pacing.draft) == (loaded.target.fingerprint, loaded.draft.fingerprint)
    assert driver.session.pair is not None
    assert loaded.target.fingerprint in driver.session.pair._selftest_key()


def test_the_same_load_again_keeps_a_pair_whose_files_are_gone(driver: Driver, files: tuple[Path, Path]) -> None:
    loaded = driver.load(*files, context=128)
    for path in files:
        path.unlink()
    again = driver.load(*files, context=128)
    assert (again.target, again.draft) == (loaded.target, loaded.draft)
    assert driver.ask("hello", speculation="draft").stats.drafters["draft"].accepted


def test_another_draft_is_taken_though_the_targets_file_is_gone(driver: Driver, files: tuple[Path, Path]) -> None:
    driver.load(files[0], context=128)
    files[0].unlink()
    pair = driver.load(*files, context=128)
    assert pair.draft_refused is None
    assert driver.ask("hello", speculation="draft").stats.drafters["draft"].accepted


def test_a_draft_that_was_replaced_is_loaded_anew(driver: Driver, scripted: Scripted, files: tuple[Path, Path]) -> None:
    driver.load(*files, context=128)
    assert driver.ask("hello", speculation="draft").stats.rejected > 0
    shutil.copy(scripted(LETTERS).path, files[1].with_name("better.gguf"))
    files[1].with_name("better.gguf").replace(files[1])
    pair = driver.load(*files, context=128)
    assert pair.draft is not None
    assert pair.draft.fingerprint == fingerprint(files[1])
    assert driver.ask("hello", speculation="draft").stats.rejected == 0


def test_a_draft_that_is_gone_is_refused_and_the_target_answers(driver: Driver, files: tuple[Path, Path]) -> None:
    driver.load(files[0], context=128)
    files[1].unlink()
    pair = driver.load(*files, context=128)
    assert pair.draft_refused == f"There is no file {files[1]}"
    answer = driver.ask("hello", speculation="draft")
    assert answer.receipt is not None
    assert any(f"draft refused: There is no file {files[1]}" in note for note in answer.receipt.notes)


def test_a_draft_that_was_refused_before_the_engine_is_named_in_the_receipt(
    driver: Driver, files: tuple[Path, Path]
) -> None:
    driver.load(files[0], context=128)
    assert driver.load(files[0], context=128, draft_refused="no model is named nosuch").draft_refused is not None
    answer = driver.ask("hello", speculation="draft")
    assert answer.receipt is not None
    assert answer.receipt.draft_refused == "no model is named nosuch"
    assert "draft refused: no model is named nosuch; lookup is used" in answer.receipt.notes
    assert driver.load(files[0], context=128).draft_refused is None


def vanishing(monkeypatch: pytest.MonkeyPatch, gone: Path) -> None:
    """Let the file go between the look at its header and the loading of its weights."""
    load = pairs.open_model

    def open_model(wish: Any, *arguments: Any, **options: Any) -> Any:
        if wish.path == gone:
            gone.unlink()
        return load(wish, *arguments, **options)

    monkeypatch.setattr(pairs, "open_model", open_model)


def test_a_draft_that_goes_while_it_is_loaded_is_refused(
    driver: Driver, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    vanishing(monkeypatch, files[1])
    pair = driver.load(*files, context=128)
    assert pair.draft_refused == f"There is no file {files[1]}"
    assert driver.ask("hello", speculation="draft").text == "".join(LETTERS)


def test_a_target_that_goes_while_it_is_loaded_is_one_sentence(
    driver: Driver, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    vanishing(monkeypatch, files[0])
    failed = driver.try_load(*files, context=128)
    assert isinstance(failed, Failed)
    assert failed.code is ErrorCode.LOAD_FAILED
    assert failed.message == f"There is no file {files[0]}."


def test_another_target_that_is_gone_leaves_the_loaded_one(driver: Driver, files: tuple[Path, Path]) -> None:
    driver.load(files[0], context=128)
    files[1].unlink()
    failed = driver.try_load(files[1], context=128)
    assert isinstance(failed, Failed)
    assert failed.code is ErrorCode.NO_SUCH_FILE
    assert failed.message == f"There is no file {files[1]}."
    assert driver.ask("hello").text == "".join(LETTERS)


@pytest.mark.parametrize("as_draft", [False, True])
def test_a_path_that_no_file_system_takes_is_no_file(driver: Driver, files: tuple[Path, Path], as_draft: bool) -> None:
    said = (
        driver.try_load(files[0], "no\0where", context=128) if as_draft else driver.try_load("no\0where", context=128)
    )
    if as_draft:
        assert isinstance(said, Loaded)
        assert said.pair.draft_refused == "There is no file 'no\\x00where'"
    else:
        assert isinstance(said, Failed)
        assert said.code is ErrorCode.NO_SUCH_FILE


def test_a_target_is_freed_where_its_draft_was_given_up(
    driver: Driver, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cancel while the draft loads: nobody holds the pair yet, so it must give the target's memory back itself."""
    closed: list[pairs.Pair] = []
    monkeypatch.setattr(pairs.Pair, "close", lambda pair: closed.append(pair))

    def cancelled(*arguments: Any) -> None:
        raise LoadCancelled

    monkeypatch.setattr(pairs.Pair, "_set_draft", cancelled)
    failed = driver.try_load(*files, context=128)
    assert isinstance(failed, Failed)
    assert failed.code is ErrorCode.CANCELLED
    assert len(closed) == 1
    monkeypatch.undo()
    closed[0].close()


def test_the_whole_of_a_small_file_is_hashed_when_it_is_loaded(driver: Driver, files: tuple[Path, Path]) -> None:
    info = driver.load(*files, context=128)
    assert info.target.sha256 == hashlib.sha256(files[0].read_bytes()).hexdigest()
    answer = driver.ask("hello", max_tokens=4)
    assert answer.receipt is not None
    assert answer.receipt.target.sha256 == info.target.sha256


def test_the_whole_of_a_large_file_is_hashed_in_idle_time(
    driver: Driver, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.files.whole_hash.SOON", 10)
    assert driver.load(*files, context=128).target.sha256 is None
    assert driver.session.idle_work() is None, "the first answer waits for nothing"
    driver.ask("hello", max_tokens=4)
    work = driver.session.idle_work()
    assert work is not None
    assert [*work][-1] is True
    pair = driver.session.pair
    assert pair is not None
    assert pair.info().target.sha256 == hashlib.sha256(files[0].read_bytes()).hexdigest()
    assert driver.session.idle_work() is None
