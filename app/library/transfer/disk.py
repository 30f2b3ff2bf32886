"""The disk: is there room, and what its errors mean."""

from __future__ import annotations

import errno
import os
import shutil
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from app.library.transfer.errors import Code, TransferError
from app.library.transfer.existing import kept_of, size_of
from app.library.transfer.wanted import Wanted
from app.library.transfer.words import kept, sentence
from app.links import no_folder_words
from engine.files.sizes import size_words, two_sizes

_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
_NO_PLACE = {errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.EINVAL, errno.ELOOP}


def free_bytes(folder: Path) -> int | None:
    """Free on the disk of a folder that may not be there yet."""
    try:
        return shutil.disk_usage(_existing(folder)).free
    except OSError:
        return None


def check_room(files: Iterable[Wanted]) -> None:
    """Refuse, before a byte is asked for, what cannot fit."""
    needs: dict[int, list[tuple[Wanted, int]]] = defaultdict(list)
    for wanted in files:
        missing = wanted.size - kept_of(wanted.path)
        if missing > 0 and size_of(wanted.path) != wanted.size:
            try:
                needs[_existing(wanted.path.parent).stat().st_dev].append((wanted, missing))
            except OSError:
                continue  # told in better words when the file is opened
    for on_one_disk in needs.values():
        needed = sum(missing for _, missing in on_one_disk)
        first = on_one_disk[0][0]
        free = free_bytes(first.path.parent)
        if free is not None and needed > free:
            what = first.name if len(on_one_disk) == 1 else f"{len(on_one_disk)} files"
            needs_words, free_words = two_sizes(needed, free)
            said = f"{what}: {needs_words} more are needed in {first.path.parent}, and {free_words} are free"
            todo = f"free at least {size_words(needed - free)} and start it again"
            raise TransferError("disk_full", sentence(said, "nothing was changed", todo), first.path)


def explain(error: OSError, wanted: Wanted) -> TransferError:
    """An error of the disk in words, with what is there and what is missing."""
    path, folder = wanted.path, wanted.path.parent
    done = kept_of(path)
    stays = kept(done, wanted.size)
    code: Code = "disk"
    number = error.errno
    missing = wanted.size - done
    more = f"{size_words(missing)} more are" if missing > 0 else "a little more is"
    if number == errno.ENOSPC:
        code = "disk_full"
        free = free_bytes(folder)
        free_words = "" if free is None else f", {size_words(free)} are free"
        happened = f"the disk is full: {more} needed in {folder}{free_words}"
        todo = "make room and start it again to continue"
    elif number == errno.EDQUOT:  # what is free on the disk is none of ours then
        code = "disk_full"
        happened = f"your quota on the disk is used up: {more} needed in {folder}"
        todo = "delete files of yours there, or have the quota raised, and start it again to continue"
    elif number == errno.EFBIG:
        code = "too_large"
        happened = f"{folder} takes no file of {size_words(wanted.size)}"
        todo = "choose a folder on another disk (FAT32 ends at 4 GB), or raise the limit on file sizes"
    elif number in _FORBIDDEN:
        code = "no_permission"
        read_only = " (it is read-only)" if number == errno.EROFS else ""
        happened = f"no permission to read or write in {folder}{read_only}"
        todo = "choose another folder, or change its permissions"
    elif number in _NO_PLACE:
        code = "bad_path"
        happened = f"there can be no file at {_named(error, path)} ({_reason(error, path)})"
        todo = "move away what is there, or choose another folder"
    else:
        happened, todo = f"the disk refused ({_reason(error, path)})", "start it again once the disk works"
    return TransferError(code, sentence(f"{wanted.name}: {happened}", stays, todo), path)


def _named(error: OSError, path: Path) -> str:
    return os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else str(path)


def _reason(error: OSError, path: Path) -> str:
    if error.errno == errno.EEXIST:  # in the place of the folder
        return no_folder_words(error, path.parent)
    return (error.strerror or type(error).__name__).lower()


def _existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    folder = folder.absolute()
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder
