"""``slipstream models check``: does a pair work here, and does the catalogue still hold?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from app.commands import client
from app.commands.errors import FAILED, CommandError, say
from app.commands.models.common import open_shelf, show, table
from app.library.gpus import own_memory
from app.library.records import Check
from engine.files.limits import wrong_context
from engine.protocol import Device, Failed

ENGINE_PATIENCE: Final = 10.0
"""Seconds the engine has to say which GPUs there are."""


def run_check(target: str | None, draft: str | None, *, context: int | None, as_json: bool, catalogue: bool) -> int:
    """Exit code 0: it works; 1: it does not."""
    if catalogue and target is None:
        return _check_catalogue(as_json)
    if catalogue or target is None:
        raise CommandError("Name a target (slipstream models check TARGET [DRAFT]), or give --catalogue alone.")
    if wrong := wrong_context(context):
        raise CommandError(wrong)
    shelf = open_shelf()
    shelf.find(target)  # before an engine is started for nothing
    if (gpus := _gpus()) is None:
        say("The engine did not say which GPUs there are; main memory alone is counted.")
    else:
        shelf.see_gpus(gpus)
    check = shelf.check(target, draft, context)
    show(_as_json(check) if as_json else "\n".join(_lines(check)))
    return 0 if check.usable else FAILED


def _gpus() -> Sequence[Device] | None:
    """The GPUs that models can go to; None where the engine does not answer."""
    try:
        described = client.describe_engine(ENGINE_PATIENCE)
    except TimeoutError:
        return None
    if isinstance(described, Failed):
        return None
    return own_memory(described.devices) if described.gpu_offload else ()


def _check_catalogue(as_json: bool) -> int:
    checks = []
    for check in open_shelf().check_catalogue():
        checks.append(check)
        if not as_json:
            mark = "ok  " if check.ok else "FAIL"
            show(f"{mark}  {check.pair:<18}  {check.role:<6}  {check.origin}: {check.words}")
    if as_json:
        rows = [
            {"pair": one.pair, "role": one.role, "origin": one.origin, "ok": one.ok, "words": one.words}
            for one in checks
        ]
        show(json.dumps({"files": rows}, indent=2, ensure_ascii=False))
    return FAILED if any(not check.ok for check in checks) else 0


def _lines(check: Check) -> list[str]:
    lines = table([(fact.label, fact.text) for fact in check.facts])
    return [*lines, "", check.words]


def _as_json(check: Check) -> str:
    facts = [{"label": fact.label, "text": fact.text, "warning": fact.tone == "warn"} for fact in check.facts]
    return json.dumps({"usable": check.usable, "words": check.words, "facts": facts}, indent=2, ensure_ascii=False)
