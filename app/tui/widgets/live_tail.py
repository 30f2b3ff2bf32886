"""What of a growing answer is parsed again with the next piece: its last block, and what that piece may still change.

Blocks before it are settled. The definitions of links among them are kept, so that what refers to one is known as a
link; a definition that comes behind its links is told of.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

NESTED_RULE: Final = "nested_hr"
"""The kind of token of a rule within another block."""
_LABEL: Final = re.compile(r"\[([^\[\]]{1,999})\]")
_HEAD_LINES: Final = {"table_open": 2}
"""Lines that make a block what it is, where that is not the first one alone."""

Definitions = dict[str, dict[str, Any]]


def parser() -> MarkdownIt:
    """GitHub's Markdown without HTML: tags are text, Textual would leave them out."""
    made = MarkdownIt("gfm-like", {"html": False})
    made.core.ruler.push(NESTED_RULE, _tell_nested_rules)
    return made


def _tell_nested_rules(state: StateCore) -> None:
    """Textual 8.2.8 draws a rule within a list or a quote above it; a kind that it does not know it asks for."""
    for token in state.tokens:
        if token.type == "hr" and token.level:
            token.type = NESTED_RULE


@cache
def _only_parser() -> MarkdownIt:
    """To make one takes longer than to parse a paragraph. Not for other threads: the search for links keeps a state."""
    return parser()


class LiveTail:
    """The end of an answer, from a place on that moves."""

    def __init__(self) -> None:
        self.settled = 0
        """Blocks that are not parsed any more."""
        self._at = 0
        """Characters that are not."""
        self._text = ""
        self._known: Definitions = {}
        self._found: Definitions = {}
        """Those of the characters that are parsed again, by lines of them."""
        self._labels: frozenset[str] = frozenset()

    def parse(self, source: str) -> tuple[list[Token], int]:
        """The tokens of the end of ``source``, which is the answer so far, and how many lines are before it."""
        self._text = source[self._at :]
        definitions: Definitions = dict(self._known)
        tokens = _only_parser().parse(self._text, {"references": definitions})
        self._found = {label: each for label, each in definitions.items() if label not in self._known}
        before = source.count("\n", 0, self._at)
        self._settle(tokens)
        return tokens, before

    def restart(self) -> None:
        """All is parsed again."""
        self.settled = self._at = 0
        self._known, self._found = {}, {}

    def redefines(self, source: str) -> bool:
        """Whether what is defined now is another thing than at the last call, and ``source`` refers to it: blocks that
        have settled look otherwise then."""
        labels = frozenset(self._known) | frozenset(self._found)
        changed, self._labels = labels ^ self._labels, labels
        if not changed:
            return False
        said = [normalizeReference(match[1]) for match in _LABEL.finditer(source)]
        return any(said.count(label) > 1 for label in changed)  # one is the definition itself

    def _settle(self, tokens: Sequence[Token]) -> None:
        """All blocks but the last one; and but the one before it, where the last one may still become a part of that:
        ``***`` in the middle of a text is a rule until it becomes ``***bold***``."""
        blocks = [token for token in tokens if token.level == 0 and token.map is not None]
        if not blocks:
            return
        count = len(blocks) - 1
        at = _begin(blocks[-1])
        lines = self._text.split("\n")
        whole = len(lines) - 1 - at >= _HEAD_LINES.get(blocks[-1].type, 1)
        if count and lines[at - 1].strip() and not whole:
            count -= 1
            at = _begin(blocks[count])
        # what stands below a definition may become its title
        at = next((each["map"][0] for each in self._found.values() if each["map"][1] == at), at)
        self.settled += count
        self.skip(at)

    def skip(self, lines: int) -> None:
        """So many more lines are not parsed any more."""
        self._known |= {label: each for label, each in self._found.items() if each["map"][1] <= lines}
        self._found = {
            label: {**each, "map": [line - lines for line in each["map"]]}
            for label, each in self._found.items()
            if label not in self._known
        }
        rest = self._text.split("\n", lines)[lines]
        self._at += len(self._text) - len(rest)
        self._text = rest

    @property
    def lines(self) -> list[str]:
        """What is parsed again, as it was at the last time."""
        return self._text.split("\n")


def _begin(token: Token) -> int:
    return token.map[0] if token.map is not None else 0
