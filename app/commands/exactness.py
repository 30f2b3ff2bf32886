"""``slipstream doctor --self-test``: how exact the chosen model is on this machine, and what that costs."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from app.commands import client
from app.commands.errors import CommandError
from app.commands.options import effective_settings, load_request
from app.compare.neighbours import BUSY
from engine.protocol import ErrorCode, Failed, Loaded, PairInfo, SelfTested, SelfTestResult


def examine_exactness(model: str | None, problems: list[str]) -> dict[str, Any]:
    """Load the model, test it and say what was found; what went wrong is added to ``problems``."""
    try:
        load = load_request(effective_settings({"model": model}).settings)
    except CommandError as error:
        problems.append(str(error))
        return {"error": str(error)}

    async def test() -> tuple[PairInfo | None, SelfTested | Failed]:
        engine = client.make_client()
        engine.wanted = load
        pair = None
        try:
            async with contextlib.aclosing(engine.load(load)) as events:
                async for event in events:
                    if isinstance(event, Failed):
                        return None, event
                    if isinstance(event, Loaded):
                        pair = event.pair
            return pair, await engine.self_test()
        finally:
            await engine.close()

    pair, answer = asyncio.run(test())
    if isinstance(answer, Failed):
        if answer.code is not ErrorCode.BAD_REQUEST:  # nothing is wrong with a model that has nothing to compare
            problems.append(answer.message)
        return {"error": answer.message}
    assert pair is not None
    return {
        "model": pair.target.name,
        "backend": pair.backend,
        "layers": pair.target.layers,
        "gpu_layers": pair.target.gpu_layers,
        "exact": answer.result.exact,
        "words": answer.result.words,
        **answer.result.model_dump(mode="json"),
    }


def exactness_words(found: dict[str, Any]) -> list[str]:
    """The finding for people, a line each."""
    if "error" in found:
        return [f"  {found['error']}"]
    result = SelfTestResult.model_validate({name: found[name] for name in SelfTestResult.model_fields if name in found})
    verdict = "exact" if result.exact else "fast only"
    widths = "  ".join(f"{width}: {ratio:.2f}" for width, ratio in sorted(result.ratios.items()))
    return [
        f"  {found['model']}: {verdict}; {result.words}",
        f"  {found['backend']}, {found['gpu_layers']} of {found['layers']} layers on a GPU",
        f"  cost of exactness: a token {result.plain_seconds / result.fast_plain_seconds:.2f}x the time of fast mode, "
        f"reading {result.prefill_tokens_per_second / result.fast_prefill_tokens_per_second:.2f}x its speed",
        f"  time of a pass by width, in plain passes of {result.plain_seconds * 1000:.1f} ms: {widths}",
        *_fewer_threads(result),
        *_beside_others(result),
    ]


def _fewer_threads(result: SelfTestResult) -> list[str]:
    if not (result.exact and result.threads):
        return []
    return [
        f"  the same with {' or '.join(map(str, result.threads))} threads, so beside busy programs fewer can be used"
    ]


def _beside_others(result: SelfTestResult) -> list[str]:
    if result.other_cores is None or result.other_cores < BUSY:
        return []
    return [f"  other programs kept {result.other_cores:.1f} cores busy meanwhile, so these times may be off"]
