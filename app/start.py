"""The console script's first step: a Ctrl+C while Python is still importing ends without a traceback."""

from __future__ import annotations

import os


def main() -> None:
    """Import the commands and run them."""
    try:
        from app.cli import main as run

        run()
    except KeyboardInterrupt:
        os._exit(130)  # half-imported modules have nothing to clean up


if __name__ == "__main__":
    main()
