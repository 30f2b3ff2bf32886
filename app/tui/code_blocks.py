"""The code blocks of an answer as they were said. What a widget draws has been cleaned; what is copied has not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from app.clean import clean

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


def original_code(text: str, drawn: Sequence[str], number: int, parser: Callable[[], MarkdownIt] | None) -> str:
    """The code of block ``number`` (from 0) of ``drawn``, which are all code blocks of ``text`` as they are drawn.

    It is looked for by content: the text may hold blocks that are not drawn (folded thoughts). Where it is not found
    (what was cleaned away made it a block of its own), it is what is drawn. ``parser``: the one that made the blocks.
    """
    wanted = drawn[number]
    tokens = (parser or _usual_parser)().disable(["inline", "linkify"]).parse(text)
    said = [token.content.rstrip() for token in tokens if token.type in ("fence", "code_block")]
    same = [code for code in said if clean(code) == wanted]
    earlier = sum(code == wanted for code in drawn[:number])
    return same[min(earlier, len(same) - 1)] if same else wanted


def _usual_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("gfm-like")
