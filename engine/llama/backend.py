"""The native library itself: loading it quietly, its log, its devices, its version."""

from __future__ import annotations

import collections
import ctypes
import functools
import hashlib
import importlib.metadata
import os
import re
import sys
from typing import Any, Literal

from engine.machine import engine_environment
from engine.protocol import Device

LOG_LINES_KEPT = 60
LOADING_FAILED = "error loading model: "
_DEBUG, _ERROR, _CONTINUED = 1, 4, 5
"""``enum ggml_log_level`` (ggml.h); the numbers in the binding's own logger are those of an older library."""

_recent: collections.deque[str] = collections.deque(maxlen=LOG_LINES_KEPT)
_errors: collections.deque[str] = collections.deque(maxlen=LOG_LINES_KEPT)
_callbacks: list[Any] = []  # ctypes callbacks must outlive the library, or it calls freed memory


@functools.cache
def library() -> Any:
    """The low-level binding, loaded and initialised once, with its log going to our stderr.

    Raises ImportError or RuntimeError when the shared library cannot be loaded.
    """
    for name, value in engine_environment().items():
        os.environ.setdefault(name, value)
    import llama_cpp.llama_cpp as L

    callback = L.llama_log_callback(_log)
    _callbacks.append(callback)
    L.llama_log_set(callback, ctypes.c_void_p(0))
    L.llama_backend_init()
    return L


def _log(level: int, text: bytes, _user_data: ctypes.c_void_p) -> None:
    """Called from native code, sometimes from its threads: never raises."""
    try:
        if level == _DEBUG:
            return
        line = text.decode("utf-8", "replace")
        if level == _CONTINUED and _recent:
            _recent[-1] += line
        else:
            _recent.append(line)
        if level == _ERROR:
            _errors.append(line)
        sys.stderr.write(line)
    except Exception:  # an exception must not travel into C
        return


def recent_log(lines: int = 6) -> str:
    """The last lines the library logged, for the details of an error; dots of progress left out."""
    kept = [line.strip() for line in _recent if line.strip(" .\n")]
    return "\n".join(kept[-lines:])


def last_error() -> str:
    """What the library gave as the reason of a failure, one short line without the names of its functions; empty when
    it gave none. The words may come from the file: they are data."""
    reasons = [line.rsplit(LOADING_FAILED, 1)[1] for line in _errors if LOADING_FAILED in line]
    reasons += [re.sub(r"^\w+: ", "", line) for line in _errors if LOADING_FAILED not in line]
    printable = "".join(c if c.isprintable() else " " for c in next((r for r in reasons if r.strip()), ""))
    return " ".join(printable.split())[:200].rstrip(".")


def forget_log() -> None:
    """Start a new chapter, so that an error shows only lines that belong to it."""
    _recent.clear()
    _errors.clear()


@functools.cache
def versions() -> dict[str, str]:
    """Versions of everything that can change an answer."""
    return {
        "slipstream": _version("slipstream-chat"),
        "llama-cpp-python": _version("llama-cpp-python"),
        "python": sys.version.split()[0],
        "numpy": _version("numpy"),
    }


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed as a package"


def system_info() -> str:
    """The instruction sets and options of this build, llama.cpp's own words."""
    return str(library().llama_print_system_info().decode("utf-8", "replace"))


@functools.cache
def build_mark() -> str:
    """Tells one build of llama.cpp from another: a hash of its instruction sets and options."""
    return hashlib.sha256(system_info().encode()).hexdigest()[:12]


@functools.cache
def logits_address() -> Any:
    """llama_get_logits as a function that returns the address as a number, not as a pointer object."""
    function = library()._lib["llama_get_logits"]  # a function object of its own, with its own types
    function.argtypes, function.restype = [ctypes.c_void_p], ctypes.c_void_p
    return function


def supports_gpu_offload() -> bool:
    return bool(library().llama_supports_gpu_offload())


_KINDS: dict[int, Literal["cpu", "gpu", "igpu", "accelerator"]] = {0: "cpu", 1: "gpu", 2: "igpu", 3: "accelerator"}


def devices() -> tuple[Device, ...]:
    """Every device ggml found, through ggml-backend.h (llama-cpp-python does not bind it, the library exports it)."""
    lib = ctypes.CDLL(library()._lib._name)  # a second handle: its own restype settings
    get = lib.ggml_backend_dev_get
    get.argtypes, get.restype = [ctypes.c_size_t], ctypes.c_void_p
    lib.ggml_backend_dev_count.restype = ctypes.c_size_t
    for name in ("ggml_backend_dev_name", "ggml_backend_dev_description"):
        function = getattr(lib, name)
        function.argtypes, function.restype = [ctypes.c_void_p], ctypes.c_char_p
    lib.ggml_backend_dev_type.argtypes = [ctypes.c_void_p]
    lib.ggml_backend_dev_memory.argtypes = [
        ctypes.c_void_p,
        ctypes.POINTER(ctypes.c_size_t),
        ctypes.POINTER(ctypes.c_size_t),
    ]
    found = []
    for index in range(lib.ggml_backend_dev_count()):
        handle = get(index)
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        lib.ggml_backend_dev_memory(handle, ctypes.byref(free), ctypes.byref(total))
        found.append(
            Device(
                name=lib.ggml_backend_dev_name(handle).decode("utf-8", "replace"),
                description=lib.ggml_backend_dev_description(handle).decode("utf-8", "replace").strip(),
                kind=_KINDS.get(lib.ggml_backend_dev_type(handle), "accelerator"),
                memory_total=total.value,
                memory_free=free.value,
            )
        )
    return tuple(found)


def gpus() -> tuple[Device, ...]:
    """The devices layers can be offloaded to; empty when the build has no GPU backend or finds no GPU."""
    if not supports_gpu_offload():
        return ()
    return tuple(device for device in devices() if device.kind in ("gpu", "igpu"))


class AbortFlag:
    """A flag that native code reads without the GIL: set from any thread, it makes a running llama_decode return 2.

    The callback is libc's ``strlen`` on a two-byte buffer: empty string -> 0 -> go on; one byte -> 1 -> abort. A
    Python callback would be entered once for every graph node. CUDA ignores the callback, so callers also look at
    :attr:`is_set` between passes and prefill chunks.
    """

    def __init__(self) -> None:
        L = library()
        libc = ctypes.cdll.msvcrt if sys.platform == "win32" else ctypes.CDLL(None)
        self._buffer = ctypes.create_string_buffer(2)
        self.callback = ctypes.cast(libc.strlen, L.ggml_abort_callback)
        self.data = ctypes.cast(self._buffer, ctypes.c_void_p)

    def set(self) -> None:
        self._buffer[0] = b"\x01"

    def clear(self) -> None:
        self._buffer[0] = b"\x00"

    @property
    def is_set(self) -> bool:
        return self._buffer.raw[0] != 0
