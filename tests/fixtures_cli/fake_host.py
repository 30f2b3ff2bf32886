"""A stand-in for engine.host: speaks engine/protocol.py, holds no model. What it does is said in FAKE_HOST (JSON).

Keys: ``pieces`` (the deltas of the answer), ``pause`` (seconds between them), ``refuse_load`` / ``refuse`` (code and
message of a failure), ``die_after`` (pieces before ``die_by``, a signal number), ``deaf`` (a cancel goes unanswered),
``exit`` (exit code at once), ``notes`` and ``draft_refused`` (for the receipt), ``record`` (file that gets every
request).
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any

from engine.protocol import (
    REQUESTS,
    Cancel,
    Count,
    Counted,
    Describe,
    Described,
    Device,
    ErrorCode,
    Failed,
    Finished,
    Generate,
    Load,
    Loaded,
    Loading,
    ModelInfo,
    Outgrown,
    PairInfo,
    Progress,
    Ready,
    Receipt,
    TemplateInfo,
    TextDelta,
    encode,
)
from engine.stats import Stats

PLAY: dict[str, Any] = json.loads(os.environ.get("FAKE_HOST", "{}"))
TEMPLATE = TemplateInfo(name="model", sha256="0" * 64)


def say(event: Any) -> None:
    sys.stdout.buffer.write(encode(event))
    sys.stdout.buffer.flush()


def model(path: str) -> ModelInfo:
    return ModelInfo(
        path=path, name="Fake", architecture="llama", size_bytes=1, fingerprint="f", layers=1, gpu_layers=0,
        context_trained=8192, vocabulary=10,
    )  # fmt: skip


def load(request: Load) -> None:
    if refusal := PLAY.get("refuse_load"):
        say(Failed(id=request.id, code=ErrorCode(refusal[0]), message=refusal[1]))
        return
    say(Loading(id=request.id, what="target", fraction=0.5))
    target = model(request.settings.target.path)
    say(
        Loaded(
            id=request.id,
            pair=PairInfo(
                target=target, draft=None, draft_refused=PLAY.get("draft_refused"), template=TEMPLATE, context=8192,
                threads=2, backend="CPU", badge="exact settings, untested", load_seconds=0.1,
            ),
        )
    )  # fmt: skip


def generate(request: Generate, cancelled: threading.Event) -> None:
    if refusal := PLAY.get("refuse"):
        say(Failed(id=request.id, code=ErrorCode(refusal[0]), message=refusal[1]))
        return
    if outgrown := PLAY.get("outgrown"):
        refused = Failed(id=request.id, code=ErrorCode.PROMPT_TOO_LARGE, message="It does not fit.")
        say(refused.model_copy(update={"outgrown": Outgrown(**outgrown)}))
        return
    done: list[str] = []
    for number, piece in enumerate(PLAY.get("pieces", ["Hello", " there", "."])):
        if PLAY.get("die_after") == number:
            os.kill(os.getpid(), PLAY.get("die_by", 9))
            time.sleep(30)  # the signal may reach another thread first
        say(TextDelta(id=request.id, text=piece, token_ids=(number,), sources="t"))
        done.append(piece)
        say(Progress(id=request.id, stats=stats(len(done)), drafter="lookup"))
        if cancelled.wait(PLAY.get("pause", 0)):
            break
    reason = "cancelled" if cancelled.is_set() else PLAY.get("finish_reason", "stop")
    seed = request.settings.seed
    say(
        Finished(
            id=request.id, finish_reason=reason, text="".join(done), token_ids=tuple(range(len(done))),
            sources="t" * len(done), stats=stats(len(done)),
            receipt=Receipt(
                created="2026-01-01T00:00:00Z", target=model("fake.gguf"), draft=None,
                draft_refused=PLAY.get("draft_refused"), template=TEMPLATE, prompt_ids=(1,),
                settings=request.settings.model_copy(update={"messages": (), "answer_so_far": None}),
                seed=7 if seed is None else seed,
                drafter="lookup", draft_max=4, mode="exact settings, untested", backend="CPU", threads=2, context=8192,
                prefill_chunk=512, versions={}, notes=tuple(PLAY.get("notes", ())),
            ),
        )
    )  # fmt: skip


def stats(tokens: int) -> Stats:
    return Stats(
        prompt_tokens=5, output_tokens=tokens, target_passes=tokens, drafted=2, accepted=1, rejected=1, acceptance=0.5,
        tokens_per_pass=1.0, decode_tokens_per_second=42.13, time_to_first_token=0.42, total_seconds=1.0,
    )  # fmt: skip


def count(request: Count) -> None:
    said = [message.content for message in request.messages] if request.text is None else [request.text]
    say(Counted(id=request.id, tokens=sum(len(words.split()) for words in said), context=8192))


def describe(request: Describe) -> None:
    say(
        Described(
            id=request.id,
            versions={"llama-cpp-python": "0.3.36"},
            system_info="CPU : AVX2 = 1",
            devices=(Device(name="CPU", description="A processor", kind="cpu", memory_total=8 << 30, memory_free=1),),
            gpu_offload=False,
            threads=2,
            cores="2 usable cores",
            environment={"GGML_CPU_TILED_MM": "0"},
            exact_settings={"type_v": "bf16"},
        )
    )


def main() -> None:
    if "exit" in PLAY:
        print(PLAY.get("last_words", "no engine today"), file=sys.stderr)
        sys.exit(PLAY["exit"])
    say(Ready(pid=os.getpid(), versions={}))
    cancelled = threading.Event()
    for line in sys.stdin.buffer:
        if record := PLAY.get("record"):
            with open(record, "ab") as file:
                file.write(line)
        request = REQUESTS.validate_json(line)
        if isinstance(request, Load):
            if PLAY.get("slow_load"):
                threading.Thread(target=slow_load, args=(request, cancelled), daemon=True).start()
            else:
                load(request)
        elif isinstance(request, Describe):
            describe(request)
        elif isinstance(request, Count):
            count(request)
        elif isinstance(request, Generate):
            cancelled = threading.Event()  # a cancel means the request that runs, not the next one
            threading.Thread(target=generate, args=(request, cancelled), daemon=True).start()
        elif isinstance(request, Cancel) and not PLAY.get("deaf"):
            cancelled.set()


def slow_load(request: Load, cancelled: threading.Event) -> None:
    say(Loading(id=request.id, what="target", fraction=0.1))
    if cancelled.wait(PLAY["slow_load"]):
        say(Failed(id=request.id, code=ErrorCode.CANCELLED, message="Stopped while loading."))
    else:
        load(request)


if __name__ == "__main__":
    main()
