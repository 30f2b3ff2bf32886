"""``slipstream speeds``: how fast models really were on this machine, and where one has become slower."""

from __future__ import annotations

import json

from app import paths
from app.clean import clean
from app.commands.errors import say
from app.commands.stdout import print_text
from app.history.groups import History
from app.history.report import as_json, as_text


def show_speeds(*, as_object: bool) -> int:
    """Returns the exit code, 0."""
    history = History.read(paths.chats_file())
    if history.left_out:
        say(history.left_out)
    if as_object:
        print_text(json.dumps(as_json(history), indent=2, ensure_ascii=False))
    else:
        print_text("\n".join(clean(line) for line in as_text(history)))
    return 0
