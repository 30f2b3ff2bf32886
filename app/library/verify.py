"""Reading a file whole and comparing it with the hash that the hub announced when it was fetched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from app.library.local import LocalModel
from app.library.origins import note_damage, own_origin, read_origin
from app.library.records import Verified
from app.library.words import why_words
from engine.files.sizes import size_words

BLOCK = 1 << 20


def verify_model(model: LocalModel, watch: Callable[[str, int, int], None]) -> Iterator[Verified]:
    """Every part of ``model``. ``watch(name, done, total)`` is called for every MiB and may raise."""
    if model.fault is not None:
        changed = read_origin(model.path) is not None and own_origin(model.path) is None  # a pull leaves it alone
        way_out = model.instead or ("delete it and fetch it again" if changed else "fetch it again")
        yield Verified(str(model.path), False, f"{why_words(model.path.name, model.fault)}; {way_out}.")
        return
    for part in model.parts:
        yield verify_file(part, watch)


def verify_file(file: Path, watch: Callable[[str, int, int], None]) -> Verified:
    """One file: whole, different, or nothing to compare it with."""
    origin = read_origin(file)
    hasher = origin.hasher() if origin is not None else None
    if origin is None or hasher is None:
        words = f"{file.name}: its header fits its size; there is no hash to compare with, since Slipstream did not"
        return Verified(str(file), None, f"{words} fetch it.")
    try:
        size = file.stat().st_size
        if size != origin.size:
            words = f"{file.name} has {size:,} bytes instead of {origin.size:,}: it was changed or cut off. "
            return Verified(str(file), False, f"{words}Delete it and fetch it again.")
        done = 0
        with open(file, "rb", buffering=0) as opened:
            while block := opened.read(BLOCK):
                hasher.update(block)
                done += len(block)
                watch(file.name, done, size)
    except OSError as error:
        return Verified(str(file), False, f"{file.name} cannot be read: {(error.strerror or str(error)).lower()}.")
    found = hasher.hexdigest()
    note_damage(file, damaged=found != origin.expected)
    if found == origin.expected:
        return Verified(str(file), True, f"{file.name}: whole, {size_words(size)}, hash {found[:8]} as announced.")
    words = f"{file.name} is damaged: hash {found[:8]} instead of {(origin.expected or '')[:8]}."
    return Verified(str(file), False, f"{words} Delete it and fetch it again.")
