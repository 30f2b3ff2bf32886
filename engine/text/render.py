"""The process that renders chat templates: ``python -P -m engine.text.render``.

A template comes with a downloaded file, and inside jinja2's sandbox it can still compute powers without end or build
strings of gigabytes. Here that costs this process its life and nobody else: it has a memory limit, the parent gives
it a time limit, and its own watchdog ends it when the parent is gone. One JSON request a line comes in, one JSON
reply a line goes out; end of input ends the process.

Request: ``template``, ``messages``, ``bos``, ``eos``, ``now`` (ISO 8601, local), ``variables`` (further names
and their values), ``watchdog`` (seconds).
Reply: ``text``, or ``error`` (a kind, see :class:`engine.text.sandbox.TemplateProblem`), ``message``, ``line``,
``detail``.
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import json
import re
import sys
import traceback
from collections.abc import Callable
from datetime import datetime
from typing import Any

import jinja2
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension, loopcontrols
from jinja2.nodes import CallBlock, Node
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

MEMORY_LIMIT = 1 << 30
"""Bytes of address space this process may use, where the platform can limit it."""

MAX_CHARACTERS = 16 * 1024 * 1024

_MISSING_NAME = re.compile(r"^'([^' ]+)' is undefined|^No (?:filter|test) named '([^']+)'")


class Raised(jinja2.TemplateError):
    """The template itself called ``raise_exception``."""


class GenerationTag(Extension):
    """``{% generation %}``: marks the model's own words for training; in a chat it prints what it holds."""

    tags = {"generation"}  # noqa: RUF012  (jinja2 declares it as an instance attribute)

    def parse(self, parser: Parser) -> Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return CallBlock(self.call_method("_print"), [], [], body).set_lineno(line)

    def _print(self, caller: Callable[[], str]) -> str:
        return caller()


def environment() -> ImmutableSandboxedEnvironment:
    """What transformers gives a chat template: the same whitespace rules, tags and helpers."""
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[GenerationTag, loopcontrols])
    env.filters["tojson"] = _tojson
    env.globals["raise_exception"] = _raise
    return env


def _tojson(
    value: object,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """jinja2's own filter escapes for HTML, which would put ``\\u003c`` into prompts."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _raise(message: object) -> None:
    raise Raised(str(message))


ENVIRONMENT = environment()


@functools.lru_cache(maxsize=4)
def compiled(template: str) -> jinja2.Template:
    """The parsed template; a large one takes some ten milliseconds."""
    return ENVIRONMENT.from_string(template)


def render(request: dict[str, Any]) -> dict[str, Any]:
    """Answer one request. Never raises: every failure is a reply."""
    try:
        text = compiled(request["template"]).render(
            **request["variables"],
            messages=request["messages"],
            bos_token=request["bos"],
            eos_token=request["eos"],
            add_generation_prompt=True,
            tools=None,
            documents=None,
            strftime_now=datetime.fromisoformat(request["now"]).strftime,
        )
        if len(text) > MAX_CHARACTERS:
            return {"error": "too_long", "message": "", "line": None, "detail": ""}
        return {"text": text}
    except MemoryError:
        return {"error": "memory", "message": "", "line": None, "detail": ""}
    except Exception as error:
        return _failure(error)


def _failure(error: Exception) -> dict[str, Any]:
    message = str(error) or type(error).__name__
    line = getattr(error, "lineno", None) or _line(error)
    missing = _MISSING_NAME.match(message) if isinstance(error, jinja2.TemplateError) else None
    if isinstance(error, Raised):
        kind = "raised"
    elif missing is not None:
        kind, message = "missing", missing[1] or missing[2]
    elif isinstance(error, SecurityError):
        kind = "unsafe"
    elif isinstance(error, jinja2.TemplateSyntaxError):
        kind, message = "syntax", error.message or message
    else:
        kind = "runtime"
    return {"error": kind, "message": message, "line": line, "detail": traceback.format_exc(limit=-3)[-4000:]}


def _line(error: Exception) -> int | None:
    """The line of the template that was being rendered; jinja2 rewrites tracebacks to say it."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<template>"]
    return lines[-1] if lines else None


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limits; the time limit holds
        return
    for name, limit in (("RLIMIT_AS", MEMORY_LIMIT), ("RLIMIT_CORE", 0)):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(getattr(resource, name), (limit, limit))


def main() -> None:
    """Serve until the input ends."""
    _limit_memory()
    replies = sys.stdout.buffer
    replies.write(b'{"ready": true}\n')
    replies.flush()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        # A C thread that needs no GIL: it fires even while one huge power is computed and nobody is left to kill us.
        faulthandler.dump_traceback_later(request["watchdog"], exit=True)
        reply = json.dumps(render(request)).encode()
        replies.write(reply + b"\n")
        replies.flush()
        faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    main()
