"""``slipstream`` and ``slipstream chat``: the terminal interface with the options of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from app import paths
from app.commands import client
from app.commands.errors import CommandError
from app.commands.options import answer_request, effective_settings, pair_request, wanted_pair
from app.library.records import Library
from app.tui.run import run_chat


def open_chat(options: Mapping[str, Any]) -> int:
    """Returns the exit code. A model that was not asked for here but is missing does not keep the chats closed."""
    settings, complaints = effective_settings(options)
    try:
        load, notes = wanted_pair(settings)
    except CommandError as error:
        if options.get("model") or options.get("draft"):
            raise
        load, notes = None, (f"{error} ctrl+l shows the models there are.",)
    return run_chat(
        client.make_client(),
        load,
        chats_file=paths.chats_file(),
        log_path=paths.app_log(),
        defaults=answer_request(settings),
        system=settings.system,
        theme=settings.theme,
        complaints=(*complaints, *notes),
        library=open_shelf,
        pair_request=partial(pair_request, settings),
    )


def open_shelf() -> Library:
    """What the Models screen shows. Imported when it is opened: the chat's first paint can do without."""
    from app.library.shelf import Shelf

    return Shelf()
