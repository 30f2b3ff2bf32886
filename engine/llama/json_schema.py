"""JSON schema to GBNF by llama-cpp-python's converter, which trusts its input: here it is checked first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from llama_cpp.llama_grammar import SchemaConverter

from engine.grammar.rules import GrammarError

MAX_TEXT = 64 * 1024
MAX_COUNT = 500
"""Most repetitions that a schema may ask for (maxItems, maxLength, {n} in a pattern): they are written out."""

MAX_PROPERTIES = 200
"""Most properties of one object: optional ones need a rule for every order in which they can be left out."""

_COUNTS = ("minItems", "maxItems", "minLength", "maxLength")
_IGNORED = frozenset(
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf uniqueItems contains minProperties maxProperties "
    "patternProperties propertyNames dependentRequired dependentSchemas not if then else".split()
)
"""Keywords that the converter takes no notice of."""


def schema_to_gbnf(text: str) -> tuple[str, tuple[str, ...]]:
    """The grammar of the JSON texts that fit a schema, and the keywords that it could not take into account.

    Raises GrammarError with one sentence for a schema that is not JSON, not a schema, or more than can be handled.
    """
    if len(text) > MAX_TEXT:
        raise GrammarError(f"The JSON schema is too large: {len(text):,} characters, {MAX_TEXT:,} are allowed.")
    try:
        schema = json.loads(text)
        if not isinstance(schema, dict):
            raise GrammarError("The JSON schema is not an object: a schema is written as {...}.")
        parts = list(_parts(schema))
        for part in parts:
            _check(part)
        converter = _Converter(prop_order={}, allow_fetch=False, dotall=False, raw_pattern=False)
        converter.visit(converter.resolve_refs(schema, "schema"), "")
        return converter.format_grammar(), tuple(sorted({key for part in parts for key in part if key in _IGNORED}))
    except GrammarError:
        raise
    except json.JSONDecodeError as error:
        raise GrammarError(
            f"The JSON schema is not JSON: {error.msg} (line {error.lineno}, column {error.colno})."
        ) from error
    except RecursionError as error:
        raise GrammarError("The JSON schema is nested too deeply.") from error
    except (AssertionError, ValueError) as error:  # the converter's own words
        raise GrammarError(f"The JSON schema cannot be used: {_short(error)}.") from error
    except (TypeError, AttributeError, KeyError, IndexError) as error:
        raise GrammarError("The JSON schema cannot be used: a keyword has a value of the wrong kind.") from error


def _short(error: Exception) -> str:
    words = str(error).split("\n")[0].rstrip(".")
    return words if len(words) <= 160 else words[:157] + "..."


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Every object in the schema, itself included; constants are not looked into."""
    todo = [schema]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            yield part
            todo += [value for key, value in part.items() if key not in ("const", "enum", "default", "examples")]
        elif isinstance(part, list):
            todo += part


def _check(part: dict[str, Any]) -> None:
    for key in _COUNTS:
        count = part.get(key)
        if isinstance(count, int) and not 0 <= count <= MAX_COUNT:
            raise GrammarError(f"The JSON schema's {key} of {count:,} is out of range (0 to {MAX_COUNT}).")
    for key in ("properties", "required", "allOf", "anyOf", "oneOf"):
        value = part.get(key)
        if isinstance(value, dict | list) and len(value) > MAX_PROPERTIES:
            raise GrammarError(f"The JSON schema has {len(value):,} {key} in one place; {MAX_PROPERTIES} are allowed.")
    pattern = part.get("pattern")
    if isinstance(pattern, str):
        _check_pattern(pattern)


def _check_pattern(pattern: str) -> None:
    """Refuse what the converter would loop on for ever (a ] or } that closes nothing) or blow up (a large {n})."""
    i = 0
    while i < len(pattern):
        mark = pattern[i]
        if mark == "\\":
            i += 2
            continue
        if mark in "]}":
            raise GrammarError(f"The JSON schema's pattern {pattern} has a {mark} that closes nothing.")
        closing = {"[": "]", "{": "}"}.get(mark)
        if closing:
            end = _end_of(pattern, i, closing)
            counts = pattern[i + 1 : end].split(",") if mark == "{" else []
            if any(count.strip().isdigit() and int(count) > MAX_COUNT for count in counts):
                raise GrammarError(f"The JSON schema's pattern {pattern} repeats more than {MAX_COUNT} times.")
            i = end
        i += 1


def _end_of(pattern: str, start: int, closing: str) -> int:
    i = start + 1
    while i < len(pattern) and pattern[i] != closing:
        i += 2 if pattern[i] == "\\" and closing == "]" else 1
    if i >= len(pattern):
        raise GrammarError(f"The JSON schema's pattern {pattern} has a {pattern[start]} that is never closed.")
    return i


class _Converter(SchemaConverter):  # type: ignore[misc]  # llama_cpp has no types
    """The package's converter, with its literals escaped: a constant's backslashes would be read as GBNF escapes."""

    def _format_literal(self, literal: str) -> str:
        """``literal``: a constant or a property's name as JSON text."""
        text = json.dumps(json.loads(literal), ensure_ascii=False)
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
