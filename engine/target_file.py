"""The file of a target or a draft before it is opened: what makes it the same one, and what keeps a broken one away."""

from __future__ import annotations

from pathlib import Path

from engine.files.header import Header, HeaderError, read_header
from engine.protocol import ErrorCode, LoadSettings


class PairError(Exception):
    """The target cannot be had. ``str()`` is the sentence for people."""

    def __init__(self, code: ErrorCode, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.code, self.detail = code, detail


def target_key(settings: LoadSettings) -> tuple[object, ...]:
    """What makes two settings the same loaded target: the file as it is now, and how it was opened."""
    path = Path(settings.target.path)
    try:
        status = path.stat()
        file: tuple[object, ...] = (path.resolve(), status.st_size, status.st_mtime_ns)
    except OSError:
        file = (path,)
    return (*file, settings.target.gpu_layers, settings.context, settings.threads, settings.mode)


def checked_header(path: str) -> Header:
    """The file's header, after the checks that keep broken files away from native code. Raises PairError."""
    codes = {"not_gguf": ErrorCode.NOT_GGUF, "truncated": ErrorCode.TRUNCATED_GGUF}
    try:
        return read_header(Path(path))
    except FileNotFoundError as error:
        raise PairError(ErrorCode.NO_SUCH_FILE, f"There is no file {path}.") from error
    except HeaderError as error:
        raise PairError(codes.get(error.code, ErrorCode.LOAD_FAILED), error.message) from error
    except OSError as error:
        raise PairError(ErrorCode.LOAD_FAILED, f"{path} cannot be read: {error.strerror or error}.") from error
