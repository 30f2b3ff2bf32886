"""What is measured on a GPU, step by step. Each step runs in a process of its own (:mod:`tests.bench.gpu` starts it)
and yields its findings piece by piece, so that what was found before a crash or the end of its time is kept."""

from __future__ import annotations

import ctypes
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.llama import backend
from engine.llama.backend import AbortFlag
from engine.llama.context import EXACT, F16, FAST, CacheSettings, Context, ContextError, Logits
from engine.llama.model import ALL_LAYERS, Model
from engine.machine import usable_cores
from engine.protocol import (
    Event,
    Failed,
    Finished,
    Generate,
    GenerateSettings,
    GpuLayers,
    Load,
    Loaded,
    LoadSettings,
    Message,
    ModelFile,
    Prefilling,
    Sampling,
    SpeculationMode,
    TextDelta,
)
from engine.selftest import LENGTHS, NEEDED, WIDEST, self_test
from engine.session import Session
from tests.bench.deepen import weight_bytes
from tests.bench.figures import fork
from tests.bench.machine import describe
from tests.bench.pairs import PairMissing, requantized, smol, smol_q2_k
from tests.bench.synthetic import BIG, SMALL, TINY, Shape, WeightType, write_synthetic
from tests.bench.work import COPY_EDIT, Prompt, load_work, many
from tests.bench.worker_engine import FILLER, EngineWorker

ROOT = Path(__file__).resolve().parents[2]
Findings = Iterator[dict[str, Any]]

Q4_0 = 2  # enum llama_ftype
FLASH_OFF = 0
VARIANTS: dict[str, CacheSettings] = {
    "fast": FAST,
    "flash attention off": CacheSettings(FLASH_OFF, F16, F16),
    "exact": EXACT,
}
"""Ways to compute, the safest first: a back end may end the process over settings it does not know."""

TEMPERATURES = (0.0, 0.7)
DRAFTING: tuple[SpeculationMode, ...] = ("lookup", "draft", "auto")


@dataclass(frozen=True, slots=True)
class Setup:
    """Where the models are and how they are run. ``tiny``: everything small, to try the script itself."""

    work: Path
    tiny: bool = False
    cpu: bool = False
    weights: WeightType = "q8_0"

    @property
    def layers(self) -> GpuLayers:
        """What the engine is asked for."""
        return 0 if self.cpu else "all"

    @property
    def threads(self) -> int:
        """One for a tiny model: several would only wait for each other."""
        return 1 if self.tiny else usable_cores()[0]

    @property
    def shape(self) -> Shape:
        return TINY if self.tiny else BIG

    @property
    def big(self) -> Path:
        """The synthetic target."""
        return self.work / f"synthetic-{'tiny' if self.tiny else '3b'}-{self.weights}.gguf"

    @property
    def starter(self) -> Path:
        """The starter model; where it is not installed (and for ``tiny``) a random model stands in for it."""
        if not self.tiny:
            try:
                return smol()
            except PairMissing:
                pass
        return self.work / f"stand-in-{'tiny' if self.tiny else 'small'}.gguf"

    @property
    def starter_draft(self) -> Path:
        """The starter in a coarser weight type: a draft that is right about half the time."""
        name = "smollm2-135m-q2_k.gguf" if self.real else f"{self.starter.stem}-q4_0.gguf"
        return self.work / name

    @property
    def real(self) -> bool:
        """Whether the starter is the real one."""
        return self.starter.parent != self.work


def models(setup: Setup) -> Findings:
    """Write the model files."""
    started = time.monotonic()
    if not setup.real and not setup.starter.exists():
        write_synthetic(setup.starter, TINY if setup.tiny else SMALL, seed=2)
    yield {"starter": setup.starter.name, "starter is real": setup.real}
    if setup.real:
        smol_q2_k(setup.work)
    else:
        requantized(setup.starter, setup.starter_draft, Q4_0, lambda text: None)
    yield {"starter's draft": setup.starter_draft.name}
    if not setup.big.exists():
        source = setup.starter if setup.real else None
        write_synthetic(setup.big, setup.shape, weights=setup.weights, tokenizer=source, seed=1)
    yield {
        "synthetic": setup.big.name,
        "bytes": setup.big.stat().st_size,
        "weights": setup.weights,
        "shape": f"{setup.shape.blocks} layers x {setup.shape.width}, feed-forward {setup.shape.feed_forward}, "
        f"{setup.shape.heads} heads ({setup.shape.kv_heads} for K and V)",
        "seconds": round(time.monotonic() - started, 1),
    }


def facts(setup: Setup) -> Findings:
    """What machine and what build this is, in the words of the engine."""
    described = [device.model_dump() for device in backend.devices()]
    yield {"devices": described, "gpu offload": backend.supports_gpu_offload(), "machine": describe()}
    yield {"versions": backend.versions(), "system info": backend.system_info().strip()}
    if not setup.cpu and not backend.gpus():
        raise RuntimeError("this build of llama-cpp-python finds no GPU: what follows runs on the CPU")


# ------------------------------------------------------------------------------------------------- bit by bit


def selftest(setup: Setup, path: Path) -> Findings:
    """Which pass widths round alike, by the engine's own test and pass by pass, for every way to compute."""
    model = Model(path, gpu_layers=0 if setup.cpu else ALL_LAYERS)
    try:
        yield {"model": path.name, "layers": model.layers, "offloaded": model.gpu_layers}
        vocabulary = model.vocabulary
        text = " ".join(f"{number} river" for number in range(NEEDED))
        tokens = [t for t in vocabulary.tokenize(text, parse_special=False) if not vocabulary.is_end(t)][:NEEDED]

        def make(settings: CacheSettings) -> Context:
            size = -(-NEEDED // 256) * 256
            return Context(model, size=size, threads=setup.threads, settings=settings, abort=AbortFlag())

        for name, settings in VARIANTS.items():
            try:
                yield {name: _variant(make, tokens, settings)}
            except ContextError as error:
                yield {name: {"error": str(error), "detail": error.detail}}
    finally:
        model.close()


def _variant(
    make: Callable[[CacheSettings], Context], tokens: Sequence[int], settings: CacheSettings
) -> dict[str, Any]:
    found = next(result for result in self_test(make, tokens, settings) if result is not None)
    context = make(settings)
    try:
        rounding = {str(length): _rounding(context, tokens, length) for length in LENGTHS}
    finally:
        context.close()
    return {"words": found.words, "self-test": found.model_dump(exclude={"ratios"}), "rounding": rounding}


def _rounding(context: Context, tokens: Sequence[int], length: int) -> dict[str, Any]:
    """How passes of each width differ from single ones behind ``length`` tokens, and from themselves when repeated."""

    def behind(chunk: int) -> None:
        context.clear()
        while context.length < length:
            context.decode(tokens[context.length : length][:chunk], rows=0)

    def passes(width: int, count: int) -> Logits:
        context.truncate(length)
        parts = [tokens[length + at : length + at + width] for at in range(0, count, width)]
        return np.concatenate([context.decode(part).copy() for part in parts])

    behind(context.chunk)
    single = passes(1, WIDEST)
    differing: dict[str, dict[str, float | int]] = {}
    unstable = [] if _same(single, passes(1, WIDEST)) else [1]
    for width in range(2, WIDEST + 1):
        rows = passes(width, width)
        if not _same(rows, passes(width, width)):
            unstable.append(width)
        if not _same(rows, single[:width]):
            differing[str(width)] = {
                "largest difference": _largest(rows, single[:width]),
                "other arg max": int((rows.argmax(1) != single[:width].argmax(1)).sum()),
            }
    prefill = {}
    for chunk in (1, 64):  # against the whole text in chunks of context.chunk
        behind(chunk)
        prefill[str(chunk)] = _largest(passes(1, 1), single[:1])
    return {
        "agree": [width for width in range(2, WIDEST + 1) if str(width) not in differing],
        "differ": differing,
        "not repeatable": unstable,
        "prefill in other chunks, largest difference": prefill,
        "spread of the logits": float(single.std()),
        "finite": bool(np.isfinite(single).all()),
    }


def _same(left: Logits, right: Logits) -> bool:
    return bool(np.array_equal(left.view(np.uint32), right.view(np.uint32)))


def _largest(left: Logits, right: Logits) -> float:
    return float(np.abs(left - right).max())


# ------------------------------------------------------------------------------------------------- same answers


def identity(setup: Setup, target: Path, draft: Path, count: int, tokens: int) -> Findings:
    """Is the answer the plain one with every drafter, and plain decoding its own when repeated; and where not."""
    worker = EngineWorker()
    loaded = worker.load(str(target), str(draft), "auto", 8192, setup.threads, setup.layers)
    yield {"target": target.name, "draft": draft.name, **_kept(loaded, "badge", "backend", "gpu_layers", "notes")}
    prompts = ten(count)
    runs: list[SpeculationMode] = ["off", *DRAFTING]
    names = ["plain again", *DRAFTING]
    compared = dict.fromkeys(names, 0)
    forks: list[dict[str, Any]] = []
    rates: dict[str, list[float]] = {}
    accepted: dict[str, list[int]] = {}
    for prompt in prompts:
        for temperature in TEMPERATURES:
            ask: dict[str, Any] = {
                "text": prompt.text,
                "temperature": temperature,
                "seed": prompt.seed,
                "max_tokens": tokens,
            }
            plain = worker.generate(speculation="off", **ask)["tokens"]
            for name, mode in zip(names, runs, strict=True):
                got = worker.generate(speculation=mode, **ask)
                compared[name] += 1
                rates.setdefault(name, []).append(_rate(got))
                drafted = accepted.setdefault(name, [0, 0])
                drafted[0] += got["drafted"]
                drafted[1] += got["accepted"]
                place = fork(plain, got["tokens"])
                if place is not None:
                    forks.append({"mode": name, "prompt": prompt.id, "temperature": temperature, "token": place})
        yield {
            "compared": compared,
            "forks": {name: sum(one["mode"] == name for one in forks) for name in names},
            "where": forks,
            "tokens per second, median": {name: statistics.median(found) for name, found in rates.items()},
            "accepted of drafted": {name: f"{good}/{all_}" for name, (all_, good) in accepted.items() if all_},
        }
    worker.session.unload()


def ten(count: int) -> list[Prompt]:
    """``count`` prompts of as many categories, the last a text to copy, which lookup can draft."""
    work = load_work()
    return [*many(work, max(1, count - 1)), *work.choose([COPY_EDIT], 1)][:count]


def _rate(answer: dict[str, Any]) -> float:
    return len(answer["tokens"]) / answer["decode_seconds"] if answer["decode_seconds"] else 0.0


def _kept(record: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: record[key] for key in keys}


# ------------------------------------------------------------------------------------------------- what passes cost


def costs(setup: Setup) -> Findings:
    """V(1..16), D and the prefill rate of the synthetic target with the starter as its draft."""
    worker = EngineWorker()
    loaded = worker.load(str(setup.big), str(setup.starter), "fast", 8192, setup.threads, setup.layers)
    reads = weight_bytes(setup.big)
    yield {"weight bytes": reads, **_kept(loaded, "backend", "gpu_layers", "threads", "notes")}
    measured = []
    for behind in (16,) if setup.tiny else (64, 512, 4096):
        cost = worker.costs(behind, WIDEST, 2 if setup.tiny else 9)
        verify, draft = cost["verify"], cost["draft"]
        measured.append(
            {
                "behind": behind,
                "V": verify,
                "D": draft,
                "weights per second": reads / verify[0],
                # What a draft of k must bring, on average, to be as fast as plain decoding.
                "tokens a pass to break even": {
                    str(k): (verify[k] + k * draft) / verify[0] for k in (1, 2, 3, 4, 7, 15)
                },
            }
        )
        yield {"costs": measured}
    pair = worker.session.pair
    assert pair is not None
    context, length = pair.target.context, 512 if setup.tiny else 4096
    tokens = _filler(pair.target.model, length)
    rates = []
    for _ in range(3):
        rates.append(_prefill(context, tokens))
        yield {"prefill": rates}
    worker.session.unload()


def _prefill(context: Context, tokens: Sequence[int]) -> dict[str, float]:
    """Seconds to read a prompt: until the last call came back, and until the device had really done it."""
    context.clear()
    started = time.perf_counter()
    while context.length < len(tokens):
        context.decode(tokens[context.length :][: context.chunk], rows=0)
    returned = time.perf_counter() - started
    backend.library().llama_synchronize(context.handle)
    done = time.perf_counter() - started
    return {
        "tokens": len(tokens),
        "seconds as timed": returned,
        "seconds": done,
        "tokens per second": len(tokens) / done,
    }


def _filler(model: Model, length: int) -> list[int]:
    ids = model.vocabulary.tokenize(FILLER * 20, parse_special=False)
    return (ids * (1 + length // len(ids)))[:length]


# ------------------------------------------------------------------------------------------------- cancel


def cancel(setup: Setup) -> Findings:
    """How long a cancel takes while the prompt is read and while tokens come, and whether the next answer suffers."""
    engine = _Engine(setup.threads)
    window = 2048 if setup.tiny else 8192
    engine.load(setup.big, setup.layers, window)
    pair = engine.session.pair
    assert pair is not None
    long = pair.target.model.vocabulary.tokenize(FILLER, parse_special=False)
    prompt = FILLER * (window * 3 // 4 // len(long))
    before = engine.ask("Name a river.", tokens=16)
    chance = random.Random(1)
    for name in ("prefill", "decode"):
        late, times = 0, []
        for _ in range(5):
            text = f"{chance.random()} {prompt if name == 'prefill' else 'Tell me a story.'}"
            latency = engine.cancelled(text, in_prefill=name == "prefill", delay=chance.random() * 0.02)
            late += latency is None
            times += [] if latency is None else [latency]
            if times:
                yield {name: {"median": statistics.median(times), "worst": max(times), "times": times, "late": late}}
            else:
                yield {name: {"late": late}}
    engine.session.forget()
    after = engine.ask("Name a river.", tokens=16)
    yield {"the next answer is as before": before.token_ids == after.token_ids}
    engine.session.unload()


class _Engine:
    """A session asked in this process, with a cancel that comes from another thread."""

    def __init__(self, threads: int) -> None:
        self.session = Session()
        self._threads, self._id = threads, 0

    def load(self, path: Path, layers: GpuLayers, context: int) -> Loaded:
        """Raises RuntimeError with the engine's words."""
        target = ModelFile(path=str(path), gpu_layers=layers)
        settings = LoadSettings(target=target, context=context, threads=self._threads)
        last = self.run(lambda emit: self.session.load(Load(id=self._id, settings=settings), emit))
        if not isinstance(last, Loaded):
            raise RuntimeError(f"{last.message} {last.detail}" if isinstance(last, Failed) else str(last))
        return last

    def ask(self, text: str, *, tokens: int, watch: Callable[[Event], None] = lambda event: None) -> Finished:
        """A greedy plain answer."""
        settings = GenerateSettings(
            messages=(Message(role="user", content=text),),
            sampling=Sampling(temperature=0.0),
            seed=1,
            speculation="off",
            max_tokens=tokens,
        )
        last = self.run(lambda emit: self.session.generate(Generate(id=self._id, settings=settings), emit), watch)
        if not isinstance(last, Finished):
            raise RuntimeError(f"no answer: {last}")
        return last

    def run(
        self, do: Callable[[Callable[[Event], None]], None], watch: Callable[[Event], None] = lambda event: None
    ) -> Event:
        """The last event of a request."""
        last: list[Event] = []

        def emit(event: Event) -> None:
            last[:] = [event]
            watch(event)

        self._id += 1
        self.session.abort.clear()
        do(emit)
        return last[0]

    def cancelled(self, text: str, *, in_prefill: bool, delay: float) -> float | None:
        """Seconds from the cancel to the end of the answer; None when the answer ended by itself, or the prompt was
        read already. The cancel comes ``delay`` seconds after the second piece of the prompt or of the answer."""
        pieces, stamps = 0, []

        def strike() -> None:
            stamps.append(time.perf_counter())
            self.session.abort.set()

        timer = threading.Timer(delay, strike)

        def watch(event: Event) -> None:
            nonlocal pieces
            if isinstance(event, Prefilling if in_prefill else TextDelta):
                pieces += 1
                if pieces == 2:
                    timer.start()

        answer = self.ask(text, tokens=512, watch=watch)
        ended = time.perf_counter()
        timer.cancel()
        if answer.finish_reason != "cancelled" or (in_prefill and answer.token_ids):
            return None
        return ended - stamps[0]


# ------------------------------------------------------------------------------------------------- out of memory


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
    engine, started = _Engine(setup.threads), time.monotonic()
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


# ------------------------------------------------------------------------------------------------- the command


def ask(setup: Setup) -> Findings:
    """The program as a person runs it, without a screen."""
    home = setup.work / "home"
    shutil.rmtree(home, ignore_errors=True)
    command = [sys.executable, "-m", "app", "ask", "--json", "--seed", "7", "--max-tokens", "32"]
    command += [
        "--model",
        str(setup.big),
        "--draft",
        str(setup.starter),
        "--context",
        "2048",
        "--threads",
        str(setup.threads),
    ]
    for name in ("--gpu-layers", "--draft-gpu-layers"):
        command += [name, str(setup.layers)]
    started = time.monotonic()
    done = subprocess.run(
        [*command, "--", "Name three rivers."],
        cwd=ROOT,
        env={**os.environ, "SLIPSTREAM_HOME": str(home), "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        check=False,
    )
    seconds = time.monotonic() - started
    yield {"exit code": done.returncode, "seconds": seconds, "stderr": done.stderr.strip()[-600:]}
    if done.returncode:
        raise RuntimeError(f"slipstream ask ended with exit code {done.returncode}")
    answer = json.loads(done.stdout)
    receipt, stats = answer["receipt"], answer["stats"]
    yield {
        "backend": receipt["backend"],
        "offloaded": receipt["target"]["gpu_layers"],
        "mode": receipt["mode"],
        "notes": receipt["notes"],
        "tokens": len(answer["token_ids"]),
        "total seconds": stats["total_seconds"],
        "load seconds": stats["load_seconds"],
    }


def steps(setup: Setup) -> dict[str, tuple[float, Callable[[], Findings]]]:
    """Name -> (most seconds it may take, what it does), the most telling first."""
    count, tokens = (2, 12) if setup.tiny else (10, 64)
    few, short = (1, 8) if setup.tiny else (3, 48)
    return {
        "facts": (30, lambda: facts(setup)),
        "models": (90, lambda: models(setup)),
        "self-test of the starter": (40, lambda: selftest(setup, setup.starter)),
        "costs": (60, lambda: costs(setup)),
        "identity with the starter": (90, lambda: identity(setup, setup.starter, setup.starter_draft, count, tokens)),
        "self-test of the synthetic model": (60, lambda: selftest(setup, setup.big)),
        "cancel": (40, lambda: cancel(setup)),
        "slipstream ask": (60, lambda: ask(setup)),
        "out of memory": (60, lambda: memory(setup)),
        "identity with the synthetic model": (60, lambda: identity(setup, setup.big, setup.starter, few, short)),
    }
