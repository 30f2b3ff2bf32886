"""Typer's classes as all our commands use them."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup


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
