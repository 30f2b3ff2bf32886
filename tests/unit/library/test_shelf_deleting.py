"""What the shelf deletes, and what it reads again: its own files, never those of others."""

from __future__ import annotations

from pathlib import Path

from app.library.records import Phase, State
from app.library.shelf import Shelf
from tests.fixtures.homes import ONE_TARGET, OTHER_TARGET, SHARED_DRAFT, Home
from tests.fixtures.hub import Hub
from tests.unit.library.shelves import entry, pull


def test_deleting_frees_our_files_and_keeps_what_another_pair_needs(home: Home, hub: Hub, shelf: Shelf) -> None:
    assert pull(shelf, "one").phase is Phase.DONE
    assert pull(shelf, "other").phase is Phase.DONE
    assert len(hub.seen("cdn/org/draft-GGUF/*", "GET")) == 1, "the draft they share was fetched once"
    removal = shelf.removal("one")
    assert [Path(file).name for file in removal.files] == ["one-Q8_0.gguf"]
    assert removal.kept == ("draft-Q8_0.gguf stays: Other with draft needs it, too.",)
    assert shelf.remove(removal) == removal.freed == len(home.files[ONE_TARGET])
    assert (home.models / SHARED_DRAFT).exists()
    assert not (home.models / "org/one-GGUF").exists()
    assert entry(shelf, "other").state is State.READY
    both = shelf.removal("other")
    assert len(both.files) == 2
    shelf.remove(both)
    assert home.names() == []


def test_a_link_out_of_our_folder_is_never_followed_by_a_deletion(home: Home, hub: Hub, shelf: Shelf) -> None:
    assert pull(shelf, "one").phase is Phase.DONE
    elsewhere = home.user / "elsewhere.gguf"
    (home.models / ONE_TARGET).rename(elsewhere)
    (home.models / ONE_TARGET).symlink_to(elsewhere)
    removal = shelf.removal("one")
    assert [Path(file).name for file in removal.files] == ["draft-Q8_0.gguf"]
    shelf.remove(removal)
    assert elsewhere.exists()


def test_an_unfinished_download_can_be_thrown_away_later(home: Home, hub: Hub, shelf: Shelf) -> None:
    hub.repo("some/Model-GGUF").put("Model-Q4_K_M.gguf", home.files[ONE_TARGET])
    hub.misbehave("cdn/*", throttle=20_000)
    offer = shelf.plan("some/Model-GGUF")
    shelf.start(offer)
    hub.wait_sent(10_000, "cdn/*")
    shelf.close()
    fresh = Shelf()
    begun = entry(fresh, "some/Model-GGUF/Model-Q4_K_M.gguf")
    assert begun.state is State.PARTLY
    assert begun.fetchable
    assert any("has not ended" in fact.text for fact in fresh.details(begun.key))
    for name in ("Model-Q4_K_M", "some/Model-GGUF", "some/Model-GGUF:Q4_K_M"):
        assert fresh.removal(name).files == fresh.removal(begun.key).files, name
    fresh.remove(fresh.removal(begun.key))
    assert home.names() == []


def test_verify_reads_what_was_fetched_again(home: Home, hub: Hub, shelf: Shelf) -> None:
    assert pull(shelf, "one").phase is Phase.DONE
    home.put("mine.gguf", home.files[OTHER_TARGET])
    steps: list[tuple[str, int, int]] = []
    found = {Path(one.path).name: one for one in shelf.verify(None, lambda *step: steps.append(step))}
    assert [found[name].whole for name in ("one-Q8_0.gguf", "draft-Q8_0.gguf", "mine.gguf")] == [True, True, None]
    assert steps
    assert "as announced" in found["one-Q8_0.gguf"].words
    assert "no hash to compare with" in found["mine.gguf"].words
    data = bytearray(home.files[ONE_TARGET])
    data[-1] ^= 1
    (home.models / ONE_TARGET).write_bytes(data)
    damaged = next(iter(shelf.verify("one", lambda *step: None)))
    assert damaged.whole is False
    assert "is damaged" in damaged.words
    assert "Delete it and fetch it again" in damaged.words
