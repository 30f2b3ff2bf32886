"""GBNF, llama.cpp's grammar notation (grammars/README.md there): text to checked rules, or one sentence why not."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from engine.grammar.rules import (
    LAST_CODE_POINT,
    Alternates,
    Chars,
    Element,
    Grammar,
    GrammarError,
    Ranges,
    Ref,
    Token,
    endless_rule,
)

MAX_TEXT = 1 << 20
MAX_ELEMENTS = 50_000
"""Limits of a grammar: characters, and elements after repetitions are written out. A person's has a few hundred."""

_SPACE = re.compile(r"(?:[ \t]|#[^\r\n]*)*")
_SPACE_AND_LINES = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*")
_NAME = re.compile(r"[a-zA-Z0-9-]+")
_COUNTS = re.compile(r"\{[ \t]*(\d{1,9})[ \t]*(?:(,)[ \t]*(\d{1,9})?[ \t]*)?\}")
_TOKEN = re.compile(r"(!?)(<(?:\[(\d{1,9})\]|[^<>\r\n]{1,200})>)")
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_ESCAPES = {"t": "\t", "r": "\r", "n": "\n", "\\": "\\", '"': '"', "[": "[", "]": "]", "-": "-"}


def parse_gbnf(text: str, token_id: Callable[[str], int | None] = lambda text: None) -> Grammar:
    """Read a grammar whose start is the rule ``root``.

    ``token_id``: the id of a token by its text, None when that is not one token. Raises GrammarError.
    """
    if len(text) > MAX_TEXT:
        raise GrammarError(f"The grammar is too large: {len(text):,} characters, {MAX_TEXT:,} are allowed.")
    reader = _Reader(text, token_id)
    reader.read()
    names = {index: name for name, index in reader.names.items()}
    rules: list[Alternates] = []
    for index, rule in enumerate(reader.rules):
        if rule is None:
            raise GrammarError(f"The grammar uses a rule named {names[index]} and does not define it.")
        rules.append(rule)
    if "root" not in reader.names:
        raise GrammarError("The grammar has no rule named root, which is where an answer starts.")
    endless = endless_rule(rules)
    if endless is not None:
        name = names.get(endless, "an unnamed group")
        raise GrammarError(f"The grammar's rule {name} begins with itself (left recursion); put what repeats last.")
    return Grammar(rules, reader.names["root"])


@dataclass(slots=True)
class _Open:
    """A rule or a group that is being read; ``item``: where the element begins that a repetition would repeat."""

    rule: int
    alternates: Alternates
    item: int | None = None


class _Reader:
    """One pass over the text without recursion: groups in groups are kept on a list, however deep."""

    def __init__(self, text: str, token_id: Callable[[str], int | None]) -> None:
        self.text, self.position, self._token_id = text, 0, token_id
        self.names: dict[str, int] = {}
        self.rules: list[Alternates | None] = []
        self._elements = 0

    def read(self) -> None:
        """All rules."""
        self._skip(_SPACE_AND_LINES)
        while self.position < len(self.text):
            rule = self._rule_named(self._name())
            self._skip(_SPACE)
            if self._here(3) != "::=":
                raise self._mistake("a rule is its name, ::= and what it stands for")
            self.position += 3
            self._skip(_SPACE_AND_LINES)
            self._body(rule)
            self._skip(_SPACE_AND_LINES)

    # ------------------------------------------------------------------------------------------------------- basics

    def _mistake(self, words: str) -> GrammarError:
        line = self.text.count("\n", 0, self.position) + 1
        return GrammarError(f"The grammar has a mistake in line {line}: {words}.")

    def _skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self.text, self.position)
        assert found is not None  # both patterns match the empty text
        self.position = found.end()

    def _here(self, length: int = 1) -> str:
        return self.text[self.position : self.position + length]

    def _name(self) -> str:
        found = _NAME.match(self.text, self.position)
        if found is None:
            raise self._mistake(f"a rule's name was expected (letters, digits and -), not {self._here()!r}")
        self.position = found.end()
        return found.group()

    def _rule_named(self, name: str) -> int:
        if name not in self.names:
            self.names[name] = self._new_rule(None)
        return self.names[name]

    def _new_rule(self, alternates: Alternates | None) -> int:
        self._count(1 + sum(map(len, alternates or ())))
        self.rules.append(alternates)
        return len(self.rules) - 1

    def _count(self, more: int) -> None:
        """Called before anything is written out, so that a large number costs nothing."""
        self._elements += more
        if self._elements > MAX_ELEMENTS:
            raise GrammarError(
                f"The grammar is too large: with its repetitions written out it has over {MAX_ELEMENTS:,} elements."
            )

    # ------------------------------------------------------------------------------------------------------- bodies

    def _body(self, rule: int) -> None:
        """The alternates of a rule, down to the end of its line (inside brackets lines do not count)."""
        depth = [_Open(rule, [[]])]
        while True:
            inner, mark = depth[-1], self._here()
            if mark == "(":
                self.position += 1
                depth.append(_Open(self._new_rule(None), [[]]))
                self._skip(_SPACE_AND_LINES)
                continue
            if mark == "|":
                self.position += 1
                inner.alternates.append([])
                inner.item = None
                self._skip(_SPACE_AND_LINES)
                continue
            if mark and mark in "*+?{":
                self._repeat(inner)
            else:
                if mark == ")" and len(depth) > 1:
                    self.position += 1
                    closed = depth.pop()
                    self.rules[closed.rule] = closed.alternates
                    inner = depth[-1]
                    elements: list[Element] = [Ref(closed.rule)]
                elif mark in ("", "\r", "\n", ")"):
                    break
                else:
                    elements = self._item(mark)
                self._count(len(elements))
                sequence = inner.alternates[-1]
                inner.item = len(sequence) if elements else None
                sequence += elements
            self._skip(_SPACE_AND_LINES if len(depth) > 1 else _SPACE)
        if len(depth) > 1:
            raise self._mistake("a ( is not closed")
        if mark == ")":
            raise self._mistake("a ) closes nothing")
        self.rules[rule] = depth[0].alternates

    def _item(self, mark: str) -> list[Element]:
        if mark == '"':
            return self._literal()
        if mark == "[":
            return [self._class()]
        if mark in "<!":
            return [self._token()]
        if mark == ".":
            self.position += 1
            return [Chars(((0, LAST_CODE_POINT),))]
        if _NAME.match(mark):
            return [Ref(self._rule_named(self._name()))]
        raise self._mistake(f"{mark!r} cannot stand here")

    def _char(self) -> int:
        """One character of a literal or a class, escapes resolved."""
        mark = self._here()
        if not mark:
            raise self._mistake('a " or [ is not closed')
        self.position += 1
        if mark != "\\":
            return ord(mark)
        escape = self._here()
        self.position += 1
        if escape in _ESCAPES:
            return ord(_ESCAPES[escape])
        length = _HEX_DIGITS.get(escape)
        if length is None:
            raise self._mistake(f"the escape \\{escape} is not known")
        digits = self._here(length)
        if not re.fullmatch(f"[0-9a-fA-F]{{{length}}}", digits):
            raise self._mistake(f"\\{escape} needs {length} hexadecimal digits")
        self.position += length
        return int(digits, 16)

    def _literal(self) -> list[Element]:
        self.position += 1
        found: list[Element] = []
        while self._here() != '"':
            code = self._char()
            found.append(Chars(((code, code),)))
        self.position += 1
        return found

    def _class(self) -> Chars:
        self.position += 1
        negated = self._here() == "^"
        self.position += negated
        ranges: list[tuple[int, int]] = []
        while self._here() != "]":
            first = last = self._char()
            if self._here() == "-" and self._here(2) != "-]":
                self.position += 1
                last = self._char()
            ranges.append((first, last))
        self.position += 1
        if not ranges:
            raise self._mistake("a class of characters [] is empty")
        ranges = sorted((first, last) for first, last in ranges if first <= last)
        return Chars(_complement(ranges) if negated else tuple(ranges))

    def _token(self) -> Token:
        found = _TOKEN.match(self.text, self.position)
        if found is None:
            raise self._mistake("a token is written <[id]> or <text>")
        negated, text, number = found.groups()
        token = self._token_id(text) if number is None else int(number)
        if token is None:
            raise self._mistake(f"{text} is not one token of this model")
        self.position = found.end()
        return Token(token, bool(negated))

    # -------------------------------------------------------------------------------------------------- repetitions

    def _repeat(self, inner: _Open) -> None:
        """Write a repetition out as llama.cpp does: x{2,4} is x x (x (x)?)?, x* is a rule y of "x y" or nothing."""
        least, most = self._counts()
        if inner.item is None:
            raise self._mistake("a repetition (* + ? {}) needs something in front of it")
        if most is not None and most < least:
            raise self._mistake(f"{{{least},{most}}} asks for at least {least} and at most {most}")
        sequence = inner.alternates[-1]
        item = sequence[inner.item :]
        optional = 1 if most is None else most - least
        self._count(len(item) * (least + optional) + optional)
        del sequence[inner.item :]
        sequence += item * least
        if most is None:
            again = self._new_rule(None)
            self.rules[again] = [[*item, Ref(again)], []]
            sequence.append(Ref(again))
        elif optional:
            following: list[Element] = []
            for _ in range(optional):
                following = [Ref(self._new_rule([[*item, *following], []]))]
            sequence += following
        # What was repeated is one item now: in x+ * the star repeats all of x+.

    def _counts(self) -> tuple[int, int | None]:
        mark = self._here()
        simple: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        if mark in simple:
            self.position += 1
            return simple[mark]
        found = _COUNTS.match(self.text, self.position)
        if found is None:
            raise self._mistake("a repetition is written {2}, {2,} or {2,4}")
        self.position = found.end()
        least, comma, most = found.groups()
        return int(least), (int(most) if most else None) if comma else int(least)


def _complement(ranges: list[tuple[int, int]]) -> Ranges:
    """All code points outside ``ranges``, which are sorted."""
    rest, start = [], 0
    for first, last in ranges:
        if first > start:
            rest.append((start, first - 1))
        start = max(start, last + 1)
    if start <= LAST_CODE_POINT:
        rest.append((start, LAST_CODE_POINT))
    return tuple(rest)
