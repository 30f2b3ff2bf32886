"""The catalogue: model pairs that can be asked for by name, read from models.toml and checked."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from app.library.data import shipped

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ModelSource(_Entry):
    """One model file and where it can be had."""

    file: Text
    """Its name; with ``repo`` a pattern may be given, and the first part stands for a split file."""
    quant: Text
    """The quantization as people write it: Q4_K_M."""
    size: int | None = Field(None, gt=0)
    """Bytes, where known beforehand."""
    repo: Annotated[str, StringConstraints(pattern=r"^[\w.-]+/[\w.-]+$")] | None = None
    """Hub repository, owner/name."""
    package: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+$")] | None = None
    """Python package that carries the file, by its name in the package registry."""

    @model_validator(mode="after")
    def _comes_from_somewhere(self) -> ModelSource:
        if self.repo is None and self.package is None:
            raise ValueError(f"{self.file}: neither repo nor package says where it can be had")
        return self

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
    draft: ModelSource | Literal["lookup"]
    """A smaller model of the same vocabulary, or prompt lookup, which needs no file."""
    licence: Text
    licence_url: Annotated[str, StringConstraints(pattern=r"^https://")]
    gated: bool
    """Whether the licence must be accepted on the hub before the file can be fetched."""
    memory: float = Field(gt=0)
    """GB that weights and caches take at ``context``."""
    context: int = Field(ge=256)
    """Context window to start with, in tokens."""
    for_whom: Text
    """One sentence: what this pair is good for, and what not."""


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
        return next((pair for pair in self.pair if wanted in (pair.name, pair.title.casefold())), None)


@lru_cache(maxsize=1)
def catalog() -> Catalog:
    """The catalogue this program was shipped with."""
    return parse(shipped("models.toml").read_text(encoding="utf-8"))


def parse(text: str) -> Catalog:
    """A catalogue from the text of a models.toml."""
    return Catalog.model_validate(tomllib.loads(text))
