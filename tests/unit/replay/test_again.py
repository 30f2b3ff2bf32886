"""Kept answers, made again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from app.chats.store import ChatStore
from app.replay.again import CannotReplay, make_again, wanted_pair
from app.replay.kept import KeptAnswer, kept_answer
from app.replay.shown import details
from engine.files.fingerprint import fingerprint
from engine.protocol import Difference, PairInfo, Replayed
from tests.app.tui.fake_client import pair
from tests.unit.compare.engines import PaperEngine
from tests.unit.replay.answers import VERSIONS, changed, kept


def test_its_request_has_what_was_found_out_on_the_way(store: ChatStore, model: Path) -> None:
    request = kept(store, model, stop=("###",)).request()
    assert (request.prompt_ids, request.seed, request.stop, request.messages) == ((1, 2, 3), 7, ("###",), ())


def test_the_pair_is_the_one_that_answered(store: ChatStore, model: Path) -> None:
    load = wanted_pair(kept(store, model))
    assert (load.target.path, load.context, load.threads, load.mode) == (str(model), 8192, 2, "exact")


def test_a_file_that_was_changed_or_is_gone_is_refused(store: ChatStore, model: Path) -> None:
    answer = kept(store, model)
    model.write_bytes(model.read_bytes() + b"x")
    with pytest.raises(CannotReplay, match=r"is another file than the one that answered \([0-9a-f]{12} then, "):
        wanted_pair(answer)
    model.unlink()
    with pytest.raises(CannotReplay, match=r"tiny\.gguf is not there any more"):
        wanted_pair(answer)


def test_by_its_passes_every_token_is_compared(store: ChatStore, model: Path) -> None:
    answer = kept(store, model, passes="2 1*3", mode="fast")
    engine = PaperEngine(replies=[Replayed(id=0, compared=3)])
    outcome = asyncio.run(make_again(engine, answer, "passes", VERSIONS))
    assert outcome.identical
    assert outcome.words == "Identical: 3 tokens made again by the passes it was made by."
    wanted = engine.replayed[0]
    assert (wanted.prompt_ids, wanted.token_ids, wanted.passes, wanted.seed) == ((1, 2, 3), (5, 6, 7), "2 1*3", 7)


def test_anew_it_is_asked_for_with_an_empty_history(store: ChatStore, model: Path) -> None:
    answer = kept(store, model)
    engine = PaperEngine(ids=lambda settings: (5, 6, 7))
    outcome = asyncio.run(make_again(engine, answer, "off", VERSIONS))
    assert outcome.words == "Identical: 3 tokens made again with speculation off."
    asked = engine.asked[0]
    assert (asked.prompt_ids, asked.fresh, asked.seed, asked.max_tokens) == ((1, 2, 3), True, 7, 3)


def test_the_first_difference_and_its_likely_cause_are_named(store: ChatStore, model: Path) -> None:
    answer = kept(store, model, mode="exact settings, untested")
    engine = PaperEngine(ids=lambda settings: (5, 9, 7))
    outcome = asyncio.run(make_again(engine, answer, "auto", {"slipstream": "2"}))
    assert (outcome.place, outcome.identical) == (1, False)
    assert outcome.words == (
        "Different from token 2 of 3 on, made again with speculation auto. "
        "slipstream was 1 then and is 2 now; that is the likely cause."
    )


def test_anew_too_the_model_gives_the_two_tokens_their_probabilities(store: ChatStore, model: Path) -> None:
    answer = kept(store, model)
    watched = Replayed(id=0, compared=2, watched={6: 0.25, 9: 0.5})
    engine = PaperEngine(ids=lambda settings: (5, 9, 7), replies=[watched])
    outcome = asyncio.run(make_again(engine, answer, "auto", VERSIONS))
    assert (engine.replayed[0].token_ids, engine.replayed[0].watch) == ((5, 6), (9,))
    line = details(answer, outcome)[0]
    assert ", 25.0 % by the model; now " in line
    assert line.endswith(", 50.0 %")


def test_a_changed_prompt_is_noticed_and_named(store: ChatStore, model: Path) -> None:
    """A token of what the model was shown was planted in the record: the answer comes out as another, and why is
    said."""
    answer = kept(store, model, mode="exact settings, untested")
    changed(store, "UPDATE figures SET receipt = json_set(receipt, '$.prompt_ids[1]', 9)")
    assert store.file is not None
    found = kept_answer(store.file, answer.id)
    assert found is not None
    engine = PaperEngine(ids=lambda settings: (5, 8, 7) if settings.prompt_ids == (1, 9, 3) else (5, 6, 7))
    outcome = asyncio.run(make_again(engine, found, "off", VERSIONS))
    assert outcome.words == (
        "Different from token 2 of 3 on, made again with speculation off. "
        "The record of this answer was changed after it was made; that is the likely cause."
    )


def test_a_difference_without_a_cause_is_not_explained_away(store: ChatStore, model: Path) -> None:
    answer = kept(store, model, mode="exact settings, untested", passes="2 1*3")
    differs = Difference(index=0, expected=5, chosen=6, expected_probability=0.5, chosen_probability=0.4, width=1)
    engine = PaperEngine(replies=[Replayed(id=0, compared=3, difference=differs)])
    outcome = asyncio.run(make_again(engine, answer, "passes", VERSIONS))
    assert outcome.words == (
        "Different from token 1 of 3 on, made again by the passes it was made by. Nothing that the record tells of is "
        "otherwise now. Of a model file that is its size and its first and last MiB; the middle is not compared: "
        "slipstream models verify reads whole the files that Slipstream fetched. If the file is good, the answer's "
        "record or this engine is wrong."
    )


@pytest.mark.parametrize(("then", "now", "told"), [("a" * 12, "b" * 12, True), ("", "b" * 12, False)])
def test_another_build_is_told_also_where_the_tokens_are_the_same(
    store: ChatStore, model: Path, then: str, now: str, told: bool
) -> None:
    answer = kept(store, model, mode="exact settings, untested", build=then)
    engine = PaperEngine(ids=lambda settings: (5, 6, 7))
    engine.pair = pair().model_copy(update={"target": answer.receipt.target, "build": now})
    outcome = asyncio.run(make_again(engine, answer, "off", VERSIONS))
    assert outcome.identical
    words = ["It was made by another build of llama.cpp (aaaaaaaaaaaa then, bbbbbbbbbbbb now)."] if told else []
    assert details(answer, outcome) == words


def test_where_the_passes_are_not_known_nothing_else_is_claimed(store: ChatStore, model: Path) -> None:
    """An answer that was cut off in fast mode: only its end would have told its passes."""
    answer = kept(store, model, mode="fast", passes="")
    engine = PaperEngine(replies=[Replayed(id=0, compared=3)])
    engine.pair = fast_pair(answer)
    outcome = asyncio.run(make_again(engine, answer, "passes", VERSIONS))
    assert outcome.words == "Identical: 3 tokens made again plainly, a token a pass."
    differs = Difference(index=1, expected=6, chosen=9, expected_probability=0.4, chosen_probability=0.5, width=1)
    engine.replies.append(Replayed(id=0, compared=3, difference=differs))
    outcome = asyncio.run(make_again(engine, answer, "passes", VERSIONS))
    assert outcome.words == (
        "Different from token 2 of 3 on, made again plainly, a token a pass. By which passes it was made is not known, "
        "since it was cut off before its end; in fast mode those of another width may round otherwise, so this "
        "difference proves nothing."
    )


@pytest.mark.parametrize("gone", [True, False])
def test_a_draft_that_is_another_file_or_gone_is_never_said_to_have_proposed(
    store: ChatStore, model: Path, tmp_path: Path, gone: bool
) -> None:
    path = tmp_path / "draft.gguf"
    path.write_bytes(b"GGUF, or so it says")
    draft = pair().target.model_copy(update={"path": str(path), "fingerprint": fingerprint(path)})
    answer = kept(store, model, draft=draft)
    same = PaperEngine(ids=lambda settings: (5, 6, 7))
    outcome = asyncio.run(make_again(same, answer, "draft", VERSIONS))
    assert outcome.words == "Identical: 3 tokens made again with speculation draft."
    if gone:
        path.unlink()
        trouble = f"{path} is not there any more."
    else:
        path.write_bytes(b"another file")
        trouble = f"{path} is another file than the one that answered"
    engine = PaperEngine(ids=lambda settings: (5, 6, 7))
    with pytest.raises(CannotReplay, match="The answer cannot be made again with its draft model: ") as refused:
        asyncio.run(make_again(engine, answer, "draft", VERSIONS))
    assert trouble in str(refused.value)
    outcome = asyncio.run(make_again(PaperEngine(ids=lambda settings: (5, 6, 7)), answer, "auto", VERSIONS))
    assert outcome.words.startswith(
        "Identical: 3 tokens made again with speculation auto, by lookup alone since the draft model of then could "
        f"not propose ({trouble.rstrip('.')}"
    )
    for manner in ("off", "lookup"):
        outcome = asyncio.run(make_again(PaperEngine(ids=lambda settings: (5, 6, 7)), answer, manner, VERSIONS))  # type: ignore[arg-type]
        assert outcome.words == f"Identical: 3 tokens made again with speculation {manner}."


def test_a_draft_that_the_engine_refuses_is_not_said_to_have_proposed(
    store: ChatStore, model: Path, tmp_path: Path
) -> None:
    path = tmp_path / "draft.gguf"
    path.write_bytes(b"GGUF, or so it says")
    draft = pair().target.model_copy(update={"path": str(path), "fingerprint": fingerprint(path)})
    answer = kept(store, model, draft=draft)
    engine = PaperEngine(ids=lambda settings: (5, 6, 7), refused="vocabulary differs")
    with pytest.raises(CannotReplay, match="with its draft model: it was refused: vocabulary differs"):
        asyncio.run(make_again(engine, answer, "draft", VERSIONS))
    engine.pair = None
    outcome = asyncio.run(make_again(engine, answer, "auto", VERSIONS))
    assert "since the draft model of then could not propose (it was refused: vocabulary differs)" in outcome.words


def test_an_answer_without_a_draft_is_not_made_again_with_one(store: ChatStore, model: Path) -> None:
    with pytest.raises(CannotReplay, match="made without a draft model, so none can make it again"):
        asyncio.run(make_again(PaperEngine(), kept(store, model), "draft", VERSIONS))


def fast_pair(answer: KeptAnswer) -> PairInfo:
    return pair().model_copy(update={"target": answer.receipt.target, "badge": "fast"})


def test_both_tokens_are_named_where_it_differs(store: ChatStore, model: Path) -> None:
    answer = kept(store, model, mode="exact settings, untested")
    outcome = asyncio.run(make_again(PaperEngine(ids=lambda settings: (5, 9, 7)), answer, "auto", VERSIONS))
    (line,) = details(answer, outcome)
    assert line.endswith("(token 9)")
    assert line.startswith("then ")
    shorter = asyncio.run(make_again(PaperEngine(ids=lambda settings: (5, 6)), answer, "auto", VERSIONS))
    assert details(answer, shorter)[0].endswith("; now nothing more")


def test_what_is_loaded_already_is_not_loaded_again(store: ChatStore, model: Path) -> None:
    answer = kept(store, model, mode="exact settings, untested")
    engine = PaperEngine()
    held = pair().model_copy(update={"target": answer.receipt.target})
    for changes, loads in (({}, 0), ({"context": 1024}, 1), ({"threads": 9}, 1), ({"badge": "fast"}, 1)):
        engine.pair, engine.loaded = held.model_copy(update=changes), []
        asyncio.run(make_again(engine, answer, "off", VERSIONS))
        assert len(engine.loaded) == loads, changes
