"""The two ends of the engine's pipes, each in a thread of its own: a writer of events and a reader of requests."""

from __future__ import annotations

import json
import os
import queue
import threading
from typing import BinaryIO

from pydantic import BaseModel, ValidationError

from engine.desk import Desk
from engine.protocol import MAX_LINE_BYTES, REQUESTS, Cancel, ErrorCode, Failed, encode

LEAVE_WITHIN = 0.8
"""Seconds between end of file on stdin and the end of the process, whatever native code is doing."""


class Writer:
    """Writes events from a queue in a thread of its own. When the other end is gone there is nothing left to do."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._queue: queue.SimpleQueue[BaseModel | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def emit(self, event: BaseModel) -> None:
        self._queue.put(event)

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join(LEAVE_WITHIN)

    def _run(self) -> None:
        try:
            while (event := self._queue.get()) is not None:
                self._out.write(encode(event))
                if self._queue.empty():
                    self._out.flush()
            self._out.flush()
        except OSError:
            os._exit(0)


def read_requests(source: BinaryIO, desk: Desk, writer: Writer) -> None:
    """The reader thread. Ends at end of file, which ends the process."""
    try:
        while line := source.readline(MAX_LINE_BYTES + 1):
            try:
                request = REQUESTS.validate_json(line)
            except ValidationError as error:
                writer.emit(Failed(id=_id_of(line), code=ErrorCode.BAD_REQUEST, message=_first_words(error)))
                continue
            if isinstance(request, Cancel):
                desk.cancel(request.target)
            else:
                desk.put(request)
    finally:
        watchdog = threading.Timer(LEAVE_WITHIN, os._exit, (0,))
        watchdog.daemon = True
        watchdog.start()
        desk.leave()


def _id_of(line: bytes) -> int:
    """The id of a request that does not validate, so that its sender is not left waiting."""
    try:
        request_id = json.loads(line)["id"]
        return request_id if isinstance(request_id, int) else 0
    except (ValueError, KeyError, TypeError, RecursionError):
        return 0


def _first_words(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    return f"The request is not valid: {'.'.join(map(str, first['loc']))}: {first['msg']}."
