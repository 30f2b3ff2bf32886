"""A widget that was mounted is told of once.

Textual 8.2.8 lays the screen out anew when a mount has been awaited, and again when the parent comes round to awaiting
it, too: by then the first layout is mostly done, and one new item of a list costs three.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from textual.widget import AwaitMount

_await: Final = AwaitMount.__await__


def await_mounts_once() -> None:
    """For all mounts of this process; a second call changes nothing."""
    AwaitMount.__await__ = _await_once  # type: ignore[method-assign]


def _await_once(self: AwaitMount) -> Generator[None, None, None]:
    yield from _await(self)
    self._widgets = ()
