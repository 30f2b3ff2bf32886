"""The engine process: requests in on stdin, events out on a private copy of stdout, one JSON line each.

Three threads: a reader, so that a cancel is heard while the main thread decodes; the main thread, which owns every
call into llama.cpp; a writer, so that a slow reader at the other end never holds up decoding. File descriptors 1 and
2 belong to the log: native code may print what it likes. Run as ``python -P -m engine.host`` (``-P``: a user's folder
named ``engine`` must not be imported).
"""

from __future__ import annotations

import faulthandler
import gc
import os
import sys
import threading
import traceback
from collections.abc import Generator

from engine.desk import Desk
from engine.llama import backend
from engine.llama.context import DecodeAborted
from engine.machine import ENGINE_DEFAULTS, usable_cores
from engine.pipes import Writer, read_requests
from engine.profile import ProfileStore
from engine.protocol import Count, Described, ErrorCode, Failed, Generate, Load, PairChanged, Ready, Replay, SelfTest
from engine.session import Session
from engine.text.sandbox import RenderInterrupted

IDLE_AFTER = 1.0
"""Seconds without a request before the engine does something of its own."""


def serve(desk: Desk, writer: Writer) -> None:
    """The main thread: one request after the other until end of file."""
    session: Session | None = None
    trouble = ""
    try:
        session = Session(ProfileStore())
        desk.abort = session.abort
    except (ImportError, OSError, RuntimeError, FileNotFoundError) as error:
        traceback.print_exc()
        trouble = f"llama.cpp could not be loaded: {error}. Build llama-cpp-python again (make clean, make chat)."
    while True:
        if session is not None and (work := session.idle_work()) is not None and desk.quiet_for(IDLE_AFTER):
            work_while_idle(work, session, desk, writer)
        if (waiting := desk.requests.get()) is None:
            break
        arrived, request = waiting
        if not desk.begin(request.id):
            writer.emit(Failed(id=request.id, code=ErrorCode.CANCELLED, message="Stopped before it began."))
            continue
        try:
            if session is None:
                writer.emit(Failed(id=request.id, code=ErrorCode.LOAD_FAILED, message=trouble))
            elif isinstance(request, Load):
                gc.unfreeze()
                session.load(request, writer.emit)
                gc.collect()
                gc.freeze()  # no answer waits until Python has looked through all that a pair is made of
            elif isinstance(request, Generate):
                session.generate(request, writer.emit, arrived=arrived)
            elif isinstance(request, SelfTest):
                session.self_test(request, writer.emit)
            elif isinstance(request, Replay):
                session.replay(request, writer.emit)
            elif isinstance(request, Count):
                session.count(request, writer.emit)
            else:
                writer.emit(describe(request.id))
        except Exception as error:  # whatever it was, the next request must find a working engine
            traceback.print_exc()
            writer.emit(
                Failed(
                    id=request.id,
                    code=ErrorCode.INTERNAL,
                    message=f"The engine met an error it did not expect ({type(error).__name__}). What arrived so far "
                    "is kept; the details are in the engine's log.",
                    detail=str(error),
                )
            )
        finally:
            desk.end()
    if session is not None:
        session.unload()


def work_while_idle(work: Generator[bool, None, None], session: Session, desk: Desk, writer: Writer) -> None:
    """Do what the session has to do in the background until a request comes in; what it cuts short starts anew."""
    if not desk.may_idle():
        return
    try:
        for changed in work:
            if changed and session.pair is not None:
                writer.emit(PairChanged(pair=session.pair.info()))
            if not desk.may_idle():
                break
    except (DecodeAborted, RenderInterrupted):
        pass
    except Exception:  # nobody asked for it, so nobody need hear of it
        traceback.print_exc()
        session.give_up_idle_work()
    finally:
        work.close()
        desk.idle_done()


def describe(request_id: int) -> Described:
    """Build, devices, threads and exact settings."""
    threads, cores = usable_cores()
    return Described(
        id=request_id,
        versions=backend.versions(),
        system_info=backend.system_info().strip(),
        devices=backend.devices(),
        gpu_offload=backend.supports_gpu_offload(),
        threads=threads,
        cores=cores,
        environment={name: os.environ.get(name, "") for name in (*ENGINE_DEFAULTS, "OMP_WAIT_POLICY")},
        exact_settings={
            "flash attention": "on",
            "K cache": "F16",
            "V cache": "BF16",
            "extra buffer types": "off",
            "GGML_CPU_TILED_MM": os.environ.get("GGML_CPU_TILED_MM", ""),
        },
    )


def main() -> None:
    """Take over the file descriptors, start the threads, serve."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    faulthandler.enable(file=2)
    writer = Writer(out)
    writer.emit(Ready(pid=os.getpid(), versions=backend.versions()))
    desk = Desk()
    reader = threading.Thread(target=read_requests, args=(sys.stdin.buffer, desk, writer), name="reader", daemon=True)
    reader.start()
    serve(desk, writer)
    writer.close()


if __name__ == "__main__":
    main()
