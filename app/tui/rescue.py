"""What the store could not save when the chat ends: a copy of it somewhere else, or a reason to stay."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.chats.export_file import ExportError
from app.tui.exporting import export

if TYPE_CHECKING:
    from app.chats.store import ChatStore
    from app.tui.exporting import Form

log = logging.getLogger(__name__)

FORMS: Final[tuple[Form, ...]] = ("markdown", "all")
"""To read, and everything there is."""
MOST_NAMED: Final = 4
NO_COPY: Final = "No copy could be written anywhere else either."
UNKNOWN: Final = "Not saved: something that was said, and the disk does not answer."
EMPTIED: Final = "That is the folder for temporary files, so move them soon."


def last_words(store: ChatStore, system: str) -> str:
    """After the store was closed, where :meth:`ChatStore.lost` has something to say: that, and where it is instead."""
    lost = store.lost() or ""
    try:
        copies = _copy(store, system)
    except Exception as error:
        log.exception("no copy of what was not saved")
        return f"{lost} {NO_COPY}" if isinstance(error, ExportError) else lost
    return f"{lost} {_where(copies)}"


def why_stay(store: ChatStore, system: str) -> str | None:
    """What would be lost if the chat ended now; None when all is saved, or :func:`last_words` will have a copy."""
    lost = None if store.save_again() else store.lost()
    if lost is None:
        return None
    try:
        copies = _copy(store, system)
    except ExportError:
        return f"{lost} {NO_COPY}"
    _remove(copies)  # the answer that is being made is not in it yet
    return None


def _copy(store: ChatStore, system: str) -> list[Path]:
    """New files with every chat that has unsaved messages: all of them, or ExportError and none."""
    written: list[Path] = []
    try:
        for chat in store.unsaved_chats():
            for form in FORMS:
                written.append(export(store, chat, form, system, _folders(store)))
    except BaseException:
        _remove(written)
        raise
    return written


def _folders(store: ChatStore) -> Sequence[Path]:
    """Beside the store as long as that is possible, and on other disks, as far as there are any."""
    found = [] if store.file is None else [store.file.parent / "exports"]
    for folder in (Path.home, tempfile.gettempdir):
        try:
            found.append(Path(folder()))
        except (OSError, RuntimeError):  # there is none
            continue
    return found


def _where(copies: Sequence[Path]) -> str:
    named = [str(file) for file in copies[:MOST_NAMED]]
    if len(copies) > MOST_NAMED:
        named.append(f"{len(copies) - MOST_NAMED} more files there")
    emptied = f" {EMPTIED}" if any(file.parent == Path(tempfile.gettempdir()) for file in copies) else ""
    return f"A copy of the whole chat is in {' and '.join(named)}.{emptied}"


def _remove(files: Sequence[Path]) -> None:
    for file in files:
        try:
            file.unlink(missing_ok=True)
        except OSError:
            log.warning("a copy that is not needed stays: %s", file)
