"""A grammar's rules once they are read, and the checks that keep its reading finite."""

from __future__ import annotations

from dataclasses import dataclass

LAST_CODE_POINT = 0x10FFFF

Ranges = tuple[tuple[int, int], ...]
"""Inclusive ranges of code points, sorted."""


class GrammarError(ValueError):
    """The grammar cannot be used; ``str()`` is one sentence for people."""


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of a class."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Token:
    """One whole token by id (``<[7]>``, ``<|think|>``); ``negated``: any token but this one."""

    id: int
    negated: bool


@dataclass(frozen=True, slots=True)
class Ref:
    """Another rule, by its index."""

    rule: int


Element = Chars | Token | Ref
Alternates = list[list[Element]]


@dataclass(frozen=True, slots=True)
class Grammar:
    """Checked rules: every reference is defined, and no rule begins with itself for ever."""

    rules: list[Alternates]
    root: int

    @property
    def names_tokens(self) -> bool:
        """Whether some element is a token rather than text."""
        return any(isinstance(e, Token) for rule in self.rules for alternate in rule for e in alternate)


def nullable_rules(rules: list[Alternates]) -> list[bool]:
    """Which rules can stand for the empty text (a fixed point: llama.cpp looks one level deep and misses some)."""
    nullable = [False] * len(rules)
    users: list[set[int]] = [set() for _ in rules]
    for rule, alternates in enumerate(rules):
        for alternate in alternates:
            for element in alternate:
                if isinstance(element, Ref):
                    users[element.rule].add(rule)
    todo = list(range(len(rules)))
    while todo:
        rule = todo.pop()
        if not nullable[rule] and any(
            all(isinstance(e, Ref) and nullable[e.rule] for e in alternate) for alternate in rules[rule]
        ):
            nullable[rule] = True
            todo += users[rule]
    return nullable


def endless_rule(rules: list[Alternates]) -> int | None:
    """A rule that, before any character is read, leads back to itself with something left to do behind it: left
    recursion, which would be followed for ever. A rule that only leads back to itself at its very end is harmless."""
    nullable = nullable_rules(rules)
    edges: list[list[tuple[int, bool]]] = [[] for _ in rules]  # rule -> (rule it may begin with, more lies behind)
    for rule, alternates in enumerate(rules):
        for alternate in alternates:
            for i, element in enumerate(alternate):
                if not isinstance(element, Ref):
                    break
                edges[rule].append((element.rule, i + 1 < len(alternate)))
                if not nullable[element.rule]:
                    break
    group = _cycles([[to for to, _ in out] for out in edges])
    for rule, out in enumerate(edges):
        if any(more and group[to] == group[rule] for to, more in out):
            return rule
    return None


def _cycles(edges: list[list[int]]) -> list[int]:
    """Node -> number of its strongly connected component (Kosaraju's algorithm, without recursion)."""
    order: list[int] = []
    seen = [False] * len(edges)
    for root in range(len(edges)):
        if seen[root]:
            continue
        seen[root] = True
        path = [(root, iter(edges[root]))]
        while path:
            node, rest = path[-1]
            following = next((to for to in rest if not seen[to]), None)
            if following is None:
                order.append(node)
                path.pop()
            else:
                seen[following] = True
                path.append((following, iter(edges[following])))
    back: list[list[int]] = [[] for _ in edges]
    for node, out in enumerate(edges):
        for to in out:
            back[to].append(node)
    group = [-1] * len(edges)
    for root in reversed(order):
        todo = [root] if group[root] < 0 else []
        while todo:
            node = todo.pop()
            if group[node] < 0:
                group[node] = root
                todo += back[node]
    return group
