"""What a value may be, in the words of every place that refuses one: options, ``settings.toml`` and the chat."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, get_args

from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

_BOUNDS: Final = ("ge", "gt", "le", "lt")
_WHOLE: Final = frozenset({"int_type", "int_parsing", "int_parsing_size", "int_from_float"})
_ANY: Final = frozenset({"float_type", "float_parsing", "finite_number"})
_OUTSIDE: Final = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "above"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "below"),
}
_OTHERS: Final = {
    "model_type": "a table",
    "dict_type": "a table",
    "tuple_type": "a list",
    "string_type": "a text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
}
"""Types of errors whose message speaks of Python."""


def wanted(errors: Iterable[ErrorDetails], info: FieldInfo | None = None) -> str:
    """What should stand where a value has these errors: ``0 to 10``, ``a whole number from 0 up or 'auto' or 'all'``.
    ``info``: the field, where it is known: then both bounds of a number are told, whichever was wrong."""
    limits = limits_words(info) if info is not None else ""
    return " or ".join(dict.fromkeys(_wanted(error, limits) for error in errors))


def limits_words(info: FieldInfo) -> str:
    """What numbers a field takes: ``0 to 10``, ``above 0, up to 1``, ``a whole number from 0 up``; empty for one that
    knows no bounds."""
    bounds, whole = _bounds(info)
    if not bounds:
        return ""
    low = f"{bounds['ge']:g}" if "ge" in bounds else f"above {bounds['gt']:g}"
    number = "a whole number" if whole else ""
    if not {"le", "lt"} & bounds.keys():
        return f"{number} from {low} up".strip()
    high = _high(bounds["le"]) if "le" in bounds else f"{_high(bounds['lt'])}-1"  # only whole numbers have that end
    words = f"{low}, up to {high}" if "gt" in bounds else f"{low} to {high}"
    return f"{number}, {words}" if number else words


def _high(most: float) -> str:
    if isinstance(most, int) and most >= 2**32 and most == 1 << (most.bit_length() - 1):
        return f"2^{most.bit_length() - 1}"  # nineteen digits say less
    return f"{most:,}" if most >= 10_000 else f"{most:g}"


def _wanted(error: ErrorDetails, limits: str) -> str:
    kind = error["type"]
    if kind in _WHOLE or kind in _ANY or kind in _OUTSIDE:
        if limits:
            return limits
        if kind in _OUTSIDE:
            name, words = _OUTSIDE[kind]
            return f"{words} {error['ctx'][name]:,}"
        return "a whole number" if kind in _WHOLE else "a number"
    return _OTHERS.get(kind) or error["msg"].removeprefix("Input should be ").removeprefix("Value error, ")


def _bounds(info: FieldInfo) -> tuple[dict[str, Any], bool]:
    """The bounds by pydantic's names, and whether the number is a whole one. They stand beside the field, or within one
    of the kinds that it may be of."""
    places: list[Any] = [info.annotation]
    bounds: dict[str, Any] = dict(_named(info.metadata))
    whole = info.annotation is not float
    while places:
        place = places.pop()
        for inner in getattr(place, "__metadata__", ()):
            bounds |= _named(getattr(inner, "metadata", (inner,)))
        places += [one for one in get_args(place) if not isinstance(one, str)]
        whole = whole and place is not float
    return bounds, whole


def _named(metadata: Iterable[object]) -> Mapping[str, Any]:
    return {name: getattr(one, name) for one in metadata for name in _BOUNDS if hasattr(one, name)}
