"""The draft of a whole pair stands in its pair's row, and stays a model of its own all the same."""

from __future__ import annotations

from app.library.records import State
from app.library.shelf import Shelf
from app.tui.model_choice import uses
from tests.fixtures.homes import ONE_TARGET, OTHER_TARGET, SHARED_DRAFT, Home
from tests.unit.library.shelves import entry

DRAFT = "draft-Q8_0"


def test_a_draft_that_answers_keeps_its_row_when_its_pair_becomes_whole(home: Home, shelf: Shelf) -> None:
    draft = str(home.put(SHARED_DRAFT))
    alone = shelf.listing((draft, ""))
    assert uses(alone, draft, "") == {DRAFT: "in use"}
    home.put(ONE_TARGET)
    home.studio("mine.gguf", home.files[OTHER_TARGET])
    for again in (shelf, Shelf()):  # also after a restart
        listing = again.listing((draft, ""))
        assert entry(again, "one").state is State.READY
        row = listing.find(DRAFT)
        assert row is not None
        assert (row.target, row.place) == (draft, "on this disk")
        assert uses(listing, draft, "") == {DRAFT: "in use"}
        assert listing.folded == ()
        places = [one.place for one in listing.entries]
        assert len(list(dict.fromkeys(places))) == sum(a != b for a, b in zip(places, [None, *places], strict=False))


def test_a_draft_that_does_not_answer_is_there_for_who_asks_for_it(home: Home, shelf: Shelf) -> None:
    target, draft = str(home.put(ONE_TARGET)), str(home.put(SHARED_DRAFT))
    for used in (("", ""), (target, draft), (target, "")):
        listing = shelf.listing(used)
        assert listing.find(DRAFT) is None, "one row for the pair"
        assert [(one.key, one.target, one.state) for one in listing.folded] == [(DRAFT, draft, State.READY)]
    assert any(fact.label == "about" for fact in shelf.details(DRAFT))
    home.put(OTHER_TARGET)
    assert len(shelf.listing().folded) == 1, "it is the draft of two, and one model"
