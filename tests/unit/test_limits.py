"""What a value may be is told in words, whole, and by the records that check it."""

from __future__ import annotations

import math
from typing import Any

import pytest
from pydantic import ValidationError

from app.limits import limits_words, wanted
from app.settings import Settings
from engine.protocol import GenerateSettings, Sampling


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("temperature", "0 to 10"),
        ("top_p", "above 0, up to 1"),
        ("top_k", "a whole number, 0 to 2,147,483,647"),
        ("repeat_penalty", "0.01 to 100"),
        ("seed", "a whole number, 0 to 2^63-1"),
        ("threads", "a whole number from 1 up"),
        ("gpu_layers", "a whole number from 0 up"),
        ("model", ""),
    ],
)
def test_the_bounds_of_a_field_in_words(field: str, words: str) -> None:
    assert limits_words(Settings.model_fields[field]) == words


NUMBERS = [
    (record, name)
    for record in (Sampling, GenerateSettings)
    for name, field in record.model_fields.items()
    if field.annotation in (int, float, int | None)
]


@pytest.mark.parametrize(("record", "name"), NUMBERS, ids=[name for _, name in NUMBERS])
def test_whatever_is_wrong_with_a_number_both_its_bounds_are_told(record: Any, name: str) -> None:
    field = record.model_fields[name]
    said = set()
    for value in (math.nan, math.inf, -math.inf, "much", -(10**30), 10**30):
        with pytest.raises(ValidationError) as caught:
            record.model_validate({"messages": (), name: value} if record is GenerateSettings else {name: value})
        said.add(wanted(caught.value.errors(), field))
    assert said == {limits_words(field)}
