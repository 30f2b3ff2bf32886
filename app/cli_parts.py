"""Typer's classes as all our commands use them, and how a command takes options that others have, too."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from typer.core import TyperCommand, TyperGroup

Run = TypeVar("Run", bound=Callable[..., None])


class Command(TyperCommand):
    """Its help does not put ``<bool>`` behind ``--help``."""

    def get_help_option(self, ctx: Any) -> Any:
        return _bare(super().get_help_option(ctx))


class Commands(TyperGroup):
    """As :class:`Command`."""

    def get_help_option(self, ctx: Any) -> Any:
        return _bare(super().get_help_option(ctx))


def _bare(option: Any) -> Any:
    if option is not None:
        option.metavar = ""
    return option


def takes(*groups: Mapping[str, Any]) -> Callable[[Run], Run]:
    """The options of ``groups`` behind a command's own: names and types, None where one was not given. They come in its
    ``**options``."""

    def with_groups(command: Run) -> Run:
        own = inspect.signature(command, eval_str=True)
        kept = [one for one in own.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        more = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
            for group in groups
            for name, kind in group.items()
        ]
        command.__signature__ = own.replace(parameters=[*kept, *more])  # type: ignore[attr-defined]
        return command

    return with_groups
