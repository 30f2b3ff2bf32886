"""Why two answers differ: "rounding" is said only when each comes out again by its own passes."""

from __future__ import annotations

import asyncio
from pathlib import Path

from app.compare.causes import Cause, explain
from app.compare.runs import Run
from app.compare.ways import Way
from engine.files.pieces import Pieces
from engine.protocol import Difference, ErrorCode, Failed, Replayed
from tests.app.tui.fake_client import model, receipt
from tests.fixtures.random_models import write_random
from tests.unit.compare.engines import PaperEngine


def run(*ids: int, passes: str) -> Run:
    kept = receipt().model_copy(update={"passes": passes})
    return Run(Way("off"), 0, token_ids=ids, receipt=kept, finish_reason="stop")


def why(engine: PaperEngine, one: Run, other: Run, place: int) -> Cause:
    return asyncio.run(explain(engine, one, other, place))


def test_rounding_is_said_when_both_come_out_again() -> None:
    engine = PaperEngine(
        replies=[
            Replayed(id=0, compared=2, watched={8: 0.41, 9: 0.40}),
            Replayed(id=0, compared=2, watched={8: 0.40, 9: 0.41}),
        ]
    )
    found = why(engine, run(5, 8, 1, passes="2 1*3"), run(5, 9, 2, passes="2 3"), 1)
    assert found.rounding is True
    assert found.probabilities == ((0.41, 0.40), (0.40, 0.41))
    words = "The answers differ from token 2 on, token 8 in off and token 9 in off, by rounding:"
    assert found.words.startswith(words)
    assert "The model gives the two 41.0 % and 40.0 %." in found.words
    assert [wanted.token_ids for wanted in engine.replayed] == [(5, 8), (5, 9)]
    assert [wanted.passes for wanted in engine.replayed] == ["2 1*3", "2 3"]
    assert [wanted.watch for wanted in engine.replayed] == [(9,), (8,)]


def test_both_tokens_are_spelled_where_the_file_is_there(tmp_path: Path) -> None:
    file = write_random(tmp_path / "tiny.gguf")
    pieces = Pieces(file)
    engine = PaperEngine(replies=[Replayed(id=0, compared=1, watched={40: 0.5, 41: 0.4}), Replayed(id=0, compared=1)])
    one, other = run(40, passes="2"), run(41, passes="2")
    assert one.receipt is not None
    one.receipt = one.receipt.model_copy(update={"target": model(str(file))})
    found = why(engine, one, other, 0)
    assert found.texts == (pieces.text([40]), pieces.text([41]))
    first, second = map(repr, found.texts)
    assert f"from token 1 on, {first} (token 40) in off and {second} (token 41) in off, by rounding:" in found.words
    assert "The model gives the two 50.0 % and 40.0 %." in found.words


def test_anything_else_is_not_called_rounding() -> None:
    differs = Difference(index=1, expected=9, chosen=8, expected_probability=0.1, chosen_probability=0.6, width=1)
    engine = PaperEngine(
        replies=[
            Replayed(id=0, compared=2, watched={8: 0.6, 9: 0.1}),
            Replayed(id=0, compared=2, difference=differs, watched={8: 0.6, 9: 0.1}),
        ]
    )
    found = why(engine, run(5, 8, passes=""), run(5, 9, passes=""), 1)
    assert found.rounding is False
    assert "and not only by rounding" in found.words


def test_a_shorter_answer_and_a_missing_receipt_are_told_as_they_are() -> None:
    engine = PaperEngine(replies=[Failed(id=0, code=ErrorCode.BAD_REQUEST, message="no")] * 2)
    found = why(engine, run(5, passes=""), run(5, 9, passes=""), 1)
    assert (found.rounding, found.words) == (None, "One answer ends where the other goes on, at token 2.")
    found = why(engine, run(5, 8, passes=""), run(5, 9, passes=""), 1)
    assert found.rounding is None
    assert found.words.endswith("Their receipts do not allow to make them again.")
