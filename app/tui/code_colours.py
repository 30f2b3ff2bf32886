"""How code looks. Apart from the theme, because Pygments is not needed for the first paint."""

from __future__ import annotations

from pygments.token import Token
from textual.highlight import HighlightTheme


class CodeColours(HighlightTheme):
    """Code in the three weights of text and the accent: structure stands out, nothing shouts."""

    STYLES = {  # noqa: RUF012
        Token.Comment: "$faint italic",
        Token.Error: "$foreground",
        Token.Generic.Deleted: "$error",
        Token.Generic.Inserted: "$accent",
        Token.Generic.Heading: "bold",
        Token.Generic.Emph: "italic",
        Token.Generic.Strong: "bold",
        Token.Keyword: "$code-keyword",
        Token.Keyword.Constant: "$warning",
        Token.Keyword.Type: "$code-keyword",
        Token.Literal: "$warning",
        Token.Literal.String: "$warning",
        Token.Literal.String.Doc: "$muted italic",
        Token.Literal.Number: "$warning",
        Token.Name: "$foreground",
        Token.Name.Attribute: "$foreground",
        Token.Name.Builtin: "$accent",
        Token.Name.Class: "$foreground bold",
        Token.Name.Constant: "$warning",
        Token.Name.Decorator: "$muted",
        Token.Name.Function: "$foreground bold",
        Token.Name.Tag: "$accent",
        Token.Number: "$warning",
        Token.Operator: "$muted",
        Token.Operator.Word: "$code-keyword",
        Token.Punctuation: "$muted",
        Token.String: "$warning",
        Token.Whitespace: "",
    }
