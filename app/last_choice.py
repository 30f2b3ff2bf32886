"""What was chosen last in the terminal interface, for the next start: the pair, who may propose, and the colours.

A small file of the program's own: settings.toml is the user's and is only read. Options of the command line and what
settings.toml sets stand above it. It is a help, never a must: one that is missing, damaged or cannot be written is as
good as none.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from engine.files.kept import read_kept
from engine.files.whole import write_whole
from engine.protocol import ContextSize, SpeculationMode

log = logging.getLogger(__name__)

_MOST_BYTES: Final = 65_536


class LastChoice(BaseModel):
    """Paths are those that the engine was given; empty: nothing was chosen."""

    model_config = ConfigDict(frozen=True)

    target: str = ""
    draft: str = ""
    """Empty: prompt lookup."""
    context: ContextSize | None = None
    """Tokens of context that the catalogue starts the pair with."""
    speculation: SpeculationMode | None = None
    theme: str = ""
    """The colours, by their name; empty: nothing was chosen."""
    said_gone: str = ""
    """The file of which was said that it is gone: once is enough. When it is there again, it is used again."""


def still_there(last: LastChoice) -> tuple[LastChoice, str]:
    """The choice without what is gone, and the file that is; empty: all of it is there."""
    if last.target and not Path(last.target).is_file():
        return last.model_copy(update={"target": "", "draft": "", "context": None}), last.target
    if last.draft and not Path(last.draft).is_file():
        return last.model_copy(update={"draft": ""}), last.draft
    return last, ""


class Memory:
    """The choice in ``file``. Two instances of the program may keep theirs: the later one counts."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def read(self) -> LastChoice:
        """What was kept, or nothing."""
        try:
            return LastChoice.model_validate_json(read_kept(self._file, _MOST_BYTES, links=True))
        except FileNotFoundError:
            return LastChoice()
        except (OSError, ValidationError) as error:
            log.warning("the last choice is not used: %s", error)
            return LastChoice()

    def keep_pair(self, target: str, draft: str, context: int | None) -> None:
        """This pair was loaded because somebody chose it."""
        self._change(target=target, draft=draft, context=context, said_gone="")

    def keep_draft(self, target: str, draft: str) -> None:
        """This draft was loaded for the target that answered already; it goes on with its context."""
        before = self.read()
        self.keep_pair(target, draft, before.context if before.target == target else None)

    def keep_speculation(self, mode: SpeculationMode) -> None:
        """This mode was chosen."""
        self._change(speculation=mode)

    def keep_theme(self, name: str) -> None:
        """These colours were chosen."""
        self._change(theme=name)

    def keep_said_gone(self, file: str) -> None:
        """It was said that this file is gone."""
        self._change(said_gone=file)

    def _change(self, **what: Any) -> None:
        """Whole or not at all. A folder that cannot be written costs only the memory of it."""
        before = self.read()
        after = before.model_copy(update=what)
        if after == before:
            return
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(self._file, after.model_dump_json(indent=1).encode())
        except (OSError, ValueError) as error:  # ValueError: a path that is no UTF-8
            log.warning("the last choice was not kept: %s", error)
