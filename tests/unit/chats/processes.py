"""Other instances of the program for the tests: a Python process that has the store open as ``store``."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]

_PREPARE = """
import sys
from pathlib import Path
from app.chats.store import open_chats

def tell(notice):
    print("notice:", notice.text, flush=True)

def wait():
    sys.stdin.readline()

def say(*words):
    print(*words, flush=True)

store = open_chats(Path(sys.argv[1]), tell)
"""


@contextlib.contextmanager
def another_instance(file: Path, script: str) -> Iterator[subprocess.Popen[str]]:
    """Runs ``script`` (it has ``store``, ``say`` and ``wait``); killed with signal 9 at the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", _PREPARE + script, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def hear(process: subprocess.Popen[str]) -> str:
    """The next line the process says."""
    assert process.stdout is not None
    return process.stdout.readline().rstrip("\n")
