"""Following a grammar character by character: an automaton whose states are made when they are first reached.

A state is a set of stacks, as in llama.cpp: what may come next, and what is left to do behind it. Stacks share their
tails and states are kept once, so inside a string, say, all characters lead back to the same object, and a step is one
look into a table.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.grammar.rules import Chars, Element, Grammar, Ref, Token

MAX_WAYS = 5_000
"""Most ways in which one position may be read. Beyond it a character counts as not allowed, whoever asks: grammars
with several readings that nest can double their number with every character."""

MAX_KEPT = 50_000
"""States kept for reuse before the tables are begun anew."""

_Pending = tuple[int, "_Rest | None"]
"""A place in the grammar, and what is left to do behind its rule."""


class _Rest:
    """What is left to do behind a rule: a place, and the rest behind that one's rule. Compared by identity."""

    __slots__ = ("behind", "place")

    def __init__(self, place: int, behind: _Rest | None) -> None:
        self.place, self.behind = place, behind


class State:
    """One state. ``complete``: the text so far is a whole answer. Immutable, but for its table of steps."""

    __slots__ = ("_automaton", "complete", "heads", "steps")

    def __init__(self, automaton: Automaton, heads: frozenset[_Pending], complete: bool) -> None:
        self._automaton, self.heads, self.complete = automaton, heads, complete
        self.steps: dict[str, State | None] = {}

    def after(self, character: str) -> State | None:
        """The state behind one more character; None: the grammar does not allow it here."""
        try:
            return self.steps[character]
        except KeyError:
            found = self.steps[character] = self._automaton.step(self, ord(character))
            return found

    def after_token(self, token: int, *, text: bool) -> State | None:
        """The same for a token that the grammar names as such. ``text``: it shows whole characters; only such a one
        is "any token but <...>"."""
        return self._automaton.step_token(self, token, text)

    def joined(self, other: State | None) -> State:
        """Both readings at once."""
        return self if other is None else self._automaton.join(self, other)

    def allows_between(self, low: int, high: int) -> bool:
        """Whether some character of this range of code points may come next."""
        return any(
            first <= high and low <= last
            for place, _ in self.heads
            if isinstance(element := self._automaton.elements[place], Chars)
            for first, last in element.ranges
        )


class Automaton:
    """The states of one grammar. Not shared between choosers: which states exist is part of the work that
    :attr:`work` counts."""

    def __init__(self, grammar: Grammar) -> None:
        self.elements: list[Element | None] = []  # None: the end of an alternate
        self._starts: list[list[int]] = []
        for rule in grammar.rules:
            starts = []
            for alternate in rule:
                starts.append(len(self.elements))
                self.elements += [*alternate, None]
            self._starts.append(starts)
        self.work = 0
        """Readings followed so far: a measure of time that does not depend on the machine."""
        self._rests: dict[tuple[int, int], _Rest] = {}
        self._states: dict[tuple[frozenset[_Pending], bool], State] = {}
        self.start = self._close((start, None) for start in self._starts[grammar.root])

    def step(self, state: State, code: int) -> State | None:
        """The state behind a character."""
        elements = self.elements
        return self._close(
            (place + 1, rest)
            for place, rest in state.heads
            if isinstance(element := elements[place], Chars)
            and any(first <= code <= last for first, last in element.ranges)
        )

    def step_token(self, state: State, token: int, text: bool) -> State | None:
        """The state behind a token that is named."""
        elements = self.elements
        return self._close(
            (place + 1, rest)
            for place, rest in state.heads
            if isinstance(element := elements[place], Token)
            and (text and element.id != token if element.negated else element.id == token)
        )

    def join(self, one: State, other: State) -> State:
        """The union of two states."""
        return self._state(one.heads | other.heads, one.complete or other.complete)

    def _close(self, places: Iterable[_Pending]) -> State | None:
        """Follow references and ends until every reading waits for a character or token. None: no reading is left,
        or too many are. Ends, since no rule begins with itself and has more to do behind it (rules.endless_rule)."""
        todo = list(places)
        seen: set[_Pending] = set()
        heads: set[_Pending] = set()
        complete = False
        while todo:
            reading = todo.pop()
            if reading in seen:
                continue
            seen.add(reading)
            if len(seen) > MAX_WAYS:
                self.work += len(seen)
                return None
            place, rest = reading
            element = self.elements[place]
            if element is None:
                if rest is None:
                    complete = True
                else:
                    todo.append((rest.place, rest.behind))
            elif isinstance(element, Ref):
                # A reference in last place needs no place to return to: repetitions do not grow the stack.
                inner = rest if self.elements[place + 1] is None else self._rest(place + 1, rest)
                todo += [(start, inner) for start in self._starts[element.rule]]
            else:
                heads.add(reading)
        self.work += len(seen)
        return self._state(frozenset(heads), complete) if heads or complete else None

    def _rest(self, place: int, behind: _Rest | None) -> _Rest:
        key = (place, id(behind))  # the table keeps ``behind`` alive, so its id stays its own
        found = self._rests.get(key)
        if found is None:
            found = self._rests[key] = _Rest(place, behind)
        return found

    def _state(self, heads: frozenset[_Pending], complete: bool) -> State:
        if len(self._states) > MAX_KEPT:  # states in use live on; only equal ones are no longer recognised
            self._states.clear()
            self._rests.clear()
        key = (heads, complete)
        found = self._states.get(key)
        if found is None:
            found = self._states[key] = State(self, heads, complete)
        return found
