"""Whether the whole of a model file is what it was when it answered, where that was known then."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

from app import paths
from app.replay.circumstances import other_file
from app.replay.steps import CHECKING, Step, Watch
from engine.files.whole_hash import WholeHash
from engine.protocol import ModelInfo


async def other_contents(model: ModelInfo, watch: Watch) -> str | None:
    """Why the file cannot answer now; None where it is the same, or nobody knew its hash. It is read whole only if it
    was touched since it was read last."""
    if model.sha256 is None:
        return None
    path = Path(model.path)
    now = await asyncio.to_thread(WholeHash, path, paths.engine_cache_dir())
    if now.value is None:
        watch(Step(CHECKING))
        blocks = now.read()
        while (done := await asyncio.to_thread(_further, blocks)) is not None:
            watch(Step(CHECKING, done, now.size))
    if now.value is None:
        return f"{path} cannot be read, or it changes while it is read."
    return None if now.value == model.sha256 else other_file(path, model.sha256, now.value)


def _further(blocks: Iterator[int]) -> int | None:
    """One block more; None at the end."""
    return next(blocks, None)
