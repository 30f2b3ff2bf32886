"""The catalogue: model pairs that can be asked for by name, read from models.toml and checked."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from app.library.data import shipped
from app.library.layout import wrong_repo
from engine.files.limits import LEAST_CONTEXT, MOST_CONTEXT

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Role = Literal["target", "draft"]
Link = Annotated[str, StringConstraints(pattern=r"^https://")]


def _is_repo(repo: str) -> str:
    if why := wrong_repo(repo):
        raise ValueError(f"{repo} is no repository of the hub: {why}")
    return repo


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ModelSource(_Entry):
    """One model file and where it can be had."""

    file: Text
    """Its path in the repository, or a pattern such as ``*Q4_K_M*.gguf``; any part stands for all of a split model."""
    quant: Text
    """The quantization as people write it: Q4_K_M."""
    size: int | None = Field(None, gt=0)
    """Bytes as last seen, for a list that is shown without asking the hub; a plan takes the hub's word."""
    repo: Annotated[str, AfterValidator(_is_repo)] | None = None
    """Hub repository, owner/name."""
    revision: Text | None = None
    """A branch, tag or commit of the repository; not set: the newest."""
    package: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+$")] | None = None
    """Python package that carries the file, by its name in the package registry."""
    licence: Text | None = None
    """Its own licence, where it is not the pair's."""
    licence_url: Link | None = None

    @model_validator(mode="after")
    def _comes_from_somewhere(self) -> ModelSource:
        if self.repo is None and self.package is None:
            raise ValueError(f"{self.file}: neither repo nor package says where it can be had")
        if (self.licence is None) != (self.licence_url is None):
            raise ValueError(f"{self.file}: licence and licence_url come together")
        return self

    def is_called(self, file: str) -> bool:
        """Whether a file of this name, or of this path in a repository, is the one."""
        path, pattern = file.casefold(), self.file.casefold()
        name = path.rpartition("/")[2]
        return pattern in (path, name) or fnmatchcase(path, pattern) or fnmatchcase(name, pattern)

    @property
    def module(self) -> str | None:
        """The package's import name."""
        return self.package.replace("-", "_") if self.package else None


class Pair(_Entry):
    """A target and what drafts for it."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]*$")]
    """What ``--model`` takes."""
    title: Text
    """What people read."""
    target: ModelSource
    """The model that answers."""
    draft: ModelSource | Literal["lookup"]
    """A smaller model of the same vocabulary, or prompt lookup, which needs no file."""
    licence: Text
    licence_url: Link
    gated: bool
    """Whether the licence must be accepted on the hub before the file can be fetched."""
    memory: float = Field(gt=0)
    """GB that weights and caches take at ``context``."""
    context: int = Field(ge=LEAST_CONTEXT, le=MOST_CONTEXT)
    """Context window to start with, in tokens."""
    for_whom: Text
    """One sentence: what this pair is good for, and what not."""

    @property
    def sources(self) -> tuple[tuple[Role, ModelSource], ...]:
        """Each file of the pair with its part in it."""
        target: tuple[Role, ModelSource] = ("target", self.target)
        return (target,) if self.draft == "lookup" else (target, ("draft", self.draft))

    def licence_of(self, source: ModelSource) -> tuple[str, str]:
        """Name and address of the licence that ``source`` is under."""
        if source.licence is None or source.licence_url is None:
            return self.licence, self.licence_url
        return source.licence, source.licence_url


class Catalog(_Entry):
    """All pairs; the first one is the starter, which works with no hub and no account."""

    pair: tuple[Pair, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_are_unique(self) -> Catalog:
        names = [pair.name for pair in self.pair]
        if twice := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"two pairs are named {', '.join(sorted(twice))}")
        return self

    @property
    def starter(self) -> Pair:
        """The pair that is used when nothing was chosen."""
        return self.pair[0]

    def find(self, name: str) -> Pair | None:
        """The pair of this name, in any spelling of upper and lower case."""
        wanted = name.casefold()
        named = next((pair for pair in self.pair if pair.name == wanted), None)
        return named or next((pair for pair in self.pair if pair.title.casefold() == wanted), None)


@lru_cache(maxsize=1)
def catalog() -> Catalog:
    """The catalogue this program was shipped with."""
    return parse(shipped("models.toml").read_text(encoding="utf-8"))


def parse(text: str) -> Catalog:
    """A catalogue from the text of a models.toml."""
    return Catalog.model_validate(tomllib.loads(text))
