"""What git takes for the files of a folder: those it knows and new ones, without what ``.gitignore`` names."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import threading
from pathlib import Path
from typing import Final

SECONDS: Final = 2.0
"""Git is waited for that long; a repository that takes longer is walked."""
MOST_BYTES: Final = 8 * 1024 * 1024
"""Of its answer so much is read."""

# A repository may name a program that watches its files: looking for names must not start it.
_COMMAND: Final = (
    *("--no-optional-locks", "-c", "core.fsmonitor=false"),
    *("ls-files", "--cached", "--others", "--exclude-standard", "-z"),
)


def git_files(folder: Path, most: int) -> list[str] | None:
    """Paths of files below ``folder``, nearest first, at most so many of them; hidden ones are left out. None where
    there is no repository, no git, or no answer in time. Blocking."""
    said = _ask(folder)
    if said is None:
        return None
    names = {os.fsdecode(name) for name in said.split(b"\0")[:-1]}
    found: list[str] = []
    for path in sorted(names, key=lambda path: (path.count("/"), path)):
        if len(found) >= most:
            break
        if not _is_hidden(path) and _is_file(folder / path):
            found.append(path)
    return found


def _ask(folder: Path) -> bytes | None:
    """Git's answer, each name ended by a zero byte; None when it has none."""
    git = shutil.which("git")
    if git is None:
        return None
    try:
        process = subprocess.Popen(
            [git, *_COMMAND],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None
    with process:
        late = threading.Timer(SECONDS, process.kill)
        late.start()
        try:
            assert process.stdout is not None
            said = process.stdout.read(MOST_BYTES)
            if len(said) == MOST_BYTES:
                process.kill()
                return said[: said.rfind(b"\0") + 1]
            return said if process.wait() == 0 else None
        finally:
            late.cancel()


def _is_hidden(path: str) -> bool:
    return path.startswith(".") or "/." in path


def _is_file(path: Path) -> bool:
    """Git also names files that were deleted, and the folders of other repositories."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False
