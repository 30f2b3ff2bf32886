"""What happens when a cache does not fit the GPU."""

from __future__ import annotations

import ctypes
import time
from pathlib import Path
from typing import Any

from engine.llama import backend
from tests.bench.gpu_steps.engine import InProcess
from tests.bench.gpu_steps.setup import Findings, Setup


def memory(setup: Setup) -> Findings:
    """What ``--gpu-layers auto`` does when the context is absurd: the GPU is filled with ballast first, so that the
    part that then goes to the main memory is a few gigabytes on any GPU."""
    weights, gpus = setup.big.stat().st_size, backend.gpus()
    ballast: Ballast | None = None
    room = weights * 2
    if gpus and not setup.cpu:
        ballast = Ballast.leaving(room)
        yield {"free before": gpus[0].memory_free, "free with ballast": backend.gpus()[0].memory_free}
    else:
        yield {"no GPU": "nothing can run out; the notes of a large context are shown"}
    try:
        attempts: list[dict[str, Any]] = []
        for share in (1.0, 4.0):
            cache = int(share * room)
            tokens = cache // setup.shape.kv_bytes if ballast else 2 * setup.shape.context
            available = _available_memory()
            if ballast and available is not None and 2 * cache > available:
                attempts.append({"context": tokens, "left out": "the main memory could not take its share"})
            else:
                attempts.append(
                    {"context": tokens, "cache bytes": tokens * setup.shape.kv_bytes, **_load(setup, tokens)}
                )
            yield {"attempts": attempts}
            if not ballast:
                break
    finally:
        if ballast:
            ballast.close()


def _load(setup: Setup, tokens: int) -> dict[str, Any]:
    engine, started = InProcess(setup.threads), time.monotonic()
    try:
        loaded = engine.load(setup.big, 0 if setup.cpu else "auto", tokens)
        took = time.monotonic() - started
        answer = engine.ask("Name a river.", tokens=8)
    except RuntimeError as error:
        return {"error": str(error), "seconds": time.monotonic() - started}
    finally:
        engine.session.unload()
    return {
        "layers": loaded.pair.target.layers,
        "offloaded": loaded.pair.target.gpu_layers,
        "notes": list(loaded.pair.notes),
        "load seconds": took,
        "answer": answer.finish_reason,
        "tokens per second": answer.stats.decode_tokens_per_second,
    }


def _available_memory(meminfo: Path = Path("/proc/meminfo")) -> int | None:
    try:
        lines = meminfo.read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        return None


class Ballast:
    """Memory of a device, taken by one plain allocation through ggml, so that little is left."""

    def __init__(self, device: int, size: int) -> None:
        self._lib = lib = ctypes.CDLL(backend.library()._lib._name)
        pointer, length = ctypes.c_void_p, ctypes.c_size_t
        for name, takes, gives in (
            ("ggml_backend_dev_get", [length], pointer),
            ("ggml_backend_dev_buffer_type", [pointer], pointer),
            ("ggml_backend_buft_alloc_buffer", [pointer, length], pointer),
            ("ggml_backend_buffer_free", [pointer], None),
        ):
            function = getattr(lib, name)
            function.argtypes, function.restype = takes, gives
        kind = lib.ggml_backend_dev_buffer_type(lib.ggml_backend_dev_get(device))
        self._buffer = lib.ggml_backend_buft_alloc_buffer(kind, size)
        if not self._buffer:
            raise RuntimeError(f"the ballast of {size:,} bytes could not be taken")

    @classmethod
    def leaving(cls, room: int) -> Ballast | None:
        """On the first GPU; None where no more than ``room`` is free anyhow."""
        found = [(index, device) for index, device in enumerate(backend.devices()) if device.kind in ("gpu", "igpu")]
        index, device = found[0]
        return cls(index, device.memory_free - room) if device.memory_free > room else None

    def close(self) -> None:
        """Give it back."""
        if self._buffer:
            self._lib.ggml_backend_buffer_free(self._buffer)
            self._buffer = None
