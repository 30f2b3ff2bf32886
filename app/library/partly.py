"""Models of which only a part is here: by which names they are known, and what is said to who wants to use one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from app.library.choice import SplitName, quant_of, split_name
from app.library.naming import model_name
from app.library.origins import own_origin
from app.library.transfer.leftovers import Unfinished, find_unfinished
from app.library.transfer.sidecar import PART, beside
from app.library.words import of_words


@dataclass(frozen=True, slots=True)
class Begun:
    """A model that was being fetched."""

    name: str
    """``OWNER/REPO/FILE.gguf``, as it is asked for again."""
    parts: tuple[Unfinished, ...]

    @property
    def here(self) -> int:
        return sum(part.done for part in self.parts)

    @property
    def size(self) -> int | None:
        """Of the parts that have begun; None where one does not say, or where there are more parts than these."""
        sizes = [part.size for part in self.parts if part.size is not None]
        count = split_name(self.parts[0].path.name).count
        return sum(sizes) if len(sizes) == len(self.parts) and count in (0, len(self.parts)) else None

    @property
    def anew(self) -> bool:
        """Whether all its files are here already, from before: it is an update, or nobody needs it any more."""
        first, name = self.parts[0].path, split_name(self.parts[0].path.name)
        numbers = range(1, name.count + 1)
        files = [first.with_name(f"{name.stem}-{number:05}-of-{name.count:05}.gguf") for number in numbers]
        return all(file.is_file() for file in (*files, *(part.path for part in self.parts)))

    @property
    def again(self) -> bool:
        """Whether it is :attr:`anew` of the very version that is here, so that nobody needs it."""
        origins = [(own_origin(part.path), part.expected) for part in self.parts]
        same = all(origin is not None and wanted and origin.expected == wanted for origin, wanted in origins)
        return self.anew and same

    @property
    def called(self) -> str:
        """What there is to call it beside the file that is here; empty where it is all there is of it."""
        return ("second download" if self.again else "newer download") if self.anew else ""

    @property
    def words(self) -> str:
        """That it is not whole, where it is, and how to go on."""
        file = self.name.rpartition("/")[2]
        at = ", ".join(str(beside(part.path, PART)) for part in self.parts)
        go_on = "start its download again to continue"
        if self.name.count("/") >= 2:
            go_on = f"this continues it: slipstream models pull {self.name}"
        here = f"{of_words(self.here, self.size)} are here ({at})"
        if self.anew:
            gives_up = f"this gives it up: slipstream models rm {self.name}"
            if self.again:
                return f"{file} is here, whole; of a second download of the same version {here}; {gives_up}"
            return f"{file} is here and stays as it is; of a newer download of it {here}; {go_on}; {gives_up}"
        return f"{file} is not whole: {here}; {go_on}"

    def is_called(self, wanted: str) -> bool:
        """Whether ``wanted`` may mean it: its name on the hub, its file's name, or where it would be."""
        path = Path(wanted).expanduser().absolute()
        if any(path in (part.path, beside(part.path, PART)) for part in self.parts):
            return True
        segments = self.name.split("/")
        spellings = {self.name, segments[-1], segments[-1].removesuffix(".gguf"), model_name(Path(self.name))}
        if len(segments) > 2:
            repo = "/".join(segments[:2])
            spellings |= {repo, f"{repo}:{quant_of(segments[-1]) or ''}"}
        return wanted.casefold() in {spelling.casefold() for spelling in spellings}


def all_begun(models_dir: Path) -> list[Begun]:
    """Every download below ``models_dir`` that has not ended."""
    return list(together(find_unfinished(models_dir), models_dir))


def together(unfinished: Iterable[Unfinished], models_dir: Path) -> Iterator[Begun]:
    """The downloads, the parts of a split model together."""
    sets: dict[SplitName, list[Unfinished]] = {}
    for one in unfinished:
        name = split_name(one.path.relative_to(models_dir).as_posix())
        sets.setdefault(SplitName(name.stem, 0, name.count), []).append(one)
    for name, parts in sets.items():
        first = f"{name.stem}-00001-of-{name.count:05}.gguf" if name.count else f"{name.stem}.gguf"
        yield Begun(first, tuple(parts))
