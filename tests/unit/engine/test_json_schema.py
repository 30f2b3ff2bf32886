"""JSON schemas: what they allow is JSON that fits, and what cannot be used is one sentence."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from engine.grammar.gbnf import parse_gbnf
from engine.grammar.rules import GrammarError
from engine.grammar.states import Automaton
from engine.llama.json_schema import schema_to_gbnf


def allows(schema: dict[str, Any], text: str) -> bool:
    grammar, _ = schema_to_gbnf(json.dumps(schema))
    state = Automaton(parse_gbnf(grammar)).start
    for character in text:
        if state is None:
            return False
        state = state.after(character)
    return state is not None and state.complete


PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "tags": {"items": {"enum": ["a", "é\\"]}}},
    "required": ["name", "age"],
}


@pytest.mark.parametrize(
    ("schema", "yes", "no"),
    [
        (PERSON, ['{"name": "J\\n", "age": 3}', '{"name":"","age":-10,"tags":["a","é\\\\"]}'], ['{"name": "J"}', "{}"]),
        ({"type": "string"}, ['"a\\u00e9é"'], ['"a\nb"', '"\t"', "a", '"\\q"']),
        ({"const": {"a": 'b"\\\t'}}, ['{"a": "b\\"\\\\\\t"}'], ["{}"]),
        ({"type": "string", "pattern": r"^\d+\.\w{2,3}$"}, ['"12.ab"', '"1.abc"'], ['"a.ab"', '"1xab"', '"1.a"']),
        ({"type": "string", "pattern": "^a.[^b]$"}, ['"axc"'], ['"a"c"', '"ax""', '"axb"']),
        ({"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 2}, ["[true]"], ["[]", "[true,"]),
        ({"type": ["string", "null"]}, ["null", '""'], ["1"]),
        ({"$ref": "#/$defs/t", "$defs": {"t": {"properties": {"t": {"$ref": "#/$defs/t"}}}}}, ['{"t": {}}'], ["[]"]),
        ({"properties": {"my_child": {"$ref": "#"}}}, ['{"my_child": {"my_child": {}}}'], ['{"my_child": 1}']),
        ({"items": {"$ref": "#/$defs/string"}, "$defs": {"string": {"type": "integer"}}}, ["[1]"], ['["a"]']),
        ({}, ['{"a": [1, {"b": null}]}'], ["[]"]),
    ],
)
def test_what_a_schema_allows(schema: dict[str, Any], yes: list[str], no: list[str]) -> None:
    assert [text for text in yes if not allows(schema, text)] == []
    assert [text for text in no if allows(schema, text)] == []
    for text in yes:
        json.loads(text)


BAD = {
    "": "not JSON",
    '{"type": }': "not JSON.*line 1, column 10",
    "[]": "not an object",
    "true": "not an object",
    '{"type": "wat"}': "wat",
    '{"properties": 3}': "value of the wrong kind",
    '{"$ref": "https://example.org/x"}': "outside of it",
    '{"$ref": "#/no"}': "#/no, which is not in it",
    '{"type": "string", "pattern": "abc"}': "Pattern must start with",
    '{"type": "string", "pattern": "^a]$"}': "a ] that closes nothing",  # the converter loops on it for ever
    '{"type": "string", "pattern": "^a}$"}': "a } that closes nothing",
    '{"type": "string", "pattern": "^[a$"}': "never closed",
    '{"type": "string", "pattern": "^a{100000}$"}': "more than 500 times",
    '{"type": "array", "items": {"type": "null"}, "maxItems": 1000000000}': "maxItems of 1,000,000,000",
    '{"type": "string", "minLength": 1000000000}': "minLength",
    '{"items":' * 3000 + "{}" + "}" * 3000: "nested too deeply",
    json.dumps({"properties": {f"p{i}": {} for i in range(1000)}}): "1,000 properties",
    '{"const": "' + "a" * 70_000 + '"}': "too large",
}


@pytest.mark.parametrize("schema", BAD, ids=[schema[:40] for schema in BAD])
def test_a_bad_schema_is_one_sentence(schema: str) -> None:
    with pytest.raises(GrammarError, match=BAD[schema]) as caught:
        parse_gbnf(schema_to_gbnf(schema)[0])
    assert re.fullmatch(r"The JSON schema[^\n]*\.", str(caught.value))
    assert len(str(caught.value)) < 250


def test_keywords_that_cannot_be_enforced_are_named() -> None:
    schema = {"properties": {"n": {"type": "integer", "minimum": 3, "title": "N"}}, "not": {}}
    assert schema_to_gbnf(json.dumps(schema))[1] == ("minimum", "not")
    assert schema_to_gbnf('{"const": {"minimum": 3}}')[1] == ()
