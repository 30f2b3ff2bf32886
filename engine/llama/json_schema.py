"""JSON schema to GBNF by llama-cpp-python's converter, which trusts its input: here it is checked first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from llama_cpp.llama_grammar import DOT, PRIMITIVE_RULES, SchemaConverter

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
        converter.resolve(schema, parts)
        converter.visit(schema, "")
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


def _pointed_at(schema: Any, ref: str) -> Any:
    """What a JSON pointer into the schema leads to."""
    if not ref.startswith("#"):
        raise GrammarError(f"The JSON schema refers to {ref[:80]}, which is outside of it; put it under $defs.")
    for step in ref.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(schema, list) and step.isdecimal() and int(step) < len(schema):
            schema = schema[int(step)]
        elif isinstance(schema, dict) and step in schema:
            schema = schema[step]
        else:
            raise GrammarError(f"The JSON schema refers to {ref[:80]}, which is not in it.")
    return schema


_ESCAPED_IN_JSON = r'"\\\x00-\x1F'
"""What a JSON string holds only escaped, as the inside of a GBNF class."""

_CLASSES = {"d": "0-9", "w": "a-zA-Z0-9_", "s": " "}
"""A JSON string holds no white space but spaces without an escape."""


def _plain(pattern: str) -> str:
    """The pattern without the escapes that the converter hands on and GBNF does not know (\\d \\w \\s \\. and others),
    its negated classes narrowed to what a JSON string may hold unescaped."""
    out, i, in_class = "", 0, False
    while i < len(pattern):
        mark, following = pattern[i], pattern[i + 1 : i + 2]
        if mark == "\\" and following:
            i += 1
            known = _CLASSES.get(following)
            if known is None and not following.isalnum() and following not in '\\"[](){}|*+?-':
                known = f"\\x{ord(following):02X}" if ord(following) < 256 else following
            escape = mark + following
            out += escape if known is None else known if in_class else f"[{known}]"
        else:
            if mark == "[" and following == "^" and not in_class:
                mark, i = f"[^{_ESCAPED_IN_JSON}", i + 1
            in_class = mark.startswith("[") or (in_class and mark != "]")
            out += mark
        i += 1
    return out


class _Converter(SchemaConverter):  # type: ignore[misc]  # llama_cpp has no types
    """The package's converter, made to write JSON only: its strings could hold line breaks and, in patterns, quotes,
    and the backslashes of its constants would be read as GBNF's. References are ours: it misses some and names two
    definitions alike."""

    def resolve(self, schema: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        """Find what every ``$ref`` in the schema's ``parts`` stands for."""
        self._names: dict[str, str] = {}
        for part in parts:
            ref = part.get("$ref")
            if ref is not None:
                self._refs[ref] = _pointed_at(schema, ref)

    def _resolve_ref(self, ref: str) -> str:
        name = self._names.get(ref)
        if name is None:
            name = self._names[ref] = f"ref--{len(self._names)}"
            rule = self.visit(self._refs[ref], name)
            if rule != name:
                self._rules[name] = rule
        return name

    def _add_rule(self, name: str, rule: str) -> str:
        if rule == PRIMITIVE_RULES["char"].content:
            rule = rule.replace(r'[^"\\]', f"[^{_ESCAPED_IN_JSON}]", 1)
        elif rule == DOT:
            rule = f"[^{_ESCAPED_IN_JSON}]"
        return str(super()._add_rule(name, rule))

    def _visit_pattern(self, pattern: str, name: str) -> Any:
        return super()._visit_pattern(_plain(pattern), name)

    def _format_literal(self, literal: str) -> str:
        """``literal``: a constant or a property's name as JSON text."""
        text = json.dumps(json.loads(literal), ensure_ascii=False)
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
