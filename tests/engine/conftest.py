"""A session driven in this process: the same code as the engine process runs, without the pipes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.client import EngineClient
from engine.protocol import (
    Event,
    Failed,
    Finished,
    Generate,
    GenerateSettings,
    Load,
    Loaded,
    LoadSettings,
    Message,
    ModelFile,
    PairInfo,
    Sampling,
    SpeculationMode,
)
from engine.session import Session
from tests.fixtures.scripted import Script


class Driver:
    """Loads pairs and asks questions; keeps the events of the last request."""

    def __init__(self) -> None:
        self.session = Session()
        self.events: list[Event] = []
        self._id = 0

    def load(self, target: Path | str, draft: Path | str | None = None, **settings: object) -> PairInfo:
        last = self.try_load(target, draft, **settings)
        assert isinstance(last, Loaded), last
        return last.pair

    def try_load(self, target: Path | str, draft: Path | str | None = None, **settings: object) -> Event:
        self._id += 1
        self.events = []
        self.session.abort.clear()
        wish = LoadSettings(
            target=ModelFile(path=str(target)),
            draft=None if draft is None else ModelFile(path=str(draft)),
            **settings,  # type: ignore[arg-type]
        )
        self.session.load(Load(id=self._id, settings=wish), self.events.append)
        return self.events[-1]

    def ask(
        self,
        *turns: str,
        speculation: SpeculationMode = "off",
        temperature: float = 0.0,
        system: str | None = None,
        on_event: Callable[[Event], None] = lambda event: None,
        **settings: object,
    ) -> Finished:
        last = self.try_ask(
            *turns, speculation=speculation, temperature=temperature, system=system, on_event=on_event, **settings
        )
        assert isinstance(last, Finished), last
        return last

    def try_ask(
        self,
        *turns: str,
        speculation: SpeculationMode = "off",
        temperature: float = 0.0,
        system: str | None = None,
        on_event: Callable[[Event], None] = lambda event: None,
        **settings: object,
    ) -> Event:
        """``turns`` alternate: user, assistant, user, ..."""
        self._id += 1
        self.events = []
        self.session.abort.clear()

        def emit(event: Event) -> None:
            self.events.append(event)
            on_event(event)

        wish = GenerateSettings(
            messages=conversation(turns, system),
            sampling=settings.pop("sampling", None) or Sampling(temperature=temperature),  # type: ignore[arg-type]
            speculation=speculation,
            **settings,  # type: ignore[arg-type]
        )
        self.session.generate(Generate(id=self._id, settings=wish), emit)
        return self.events[-1]

    def failure(self) -> Failed:
        last = self.events[-1]
        assert isinstance(last, Failed)
        return last


def conversation(turns: Sequence[str], system: str | None = None) -> tuple[Message, ...]:
    said = [Message(role="user" if i % 2 == 0 else "assistant", content=text) for i, text in enumerate(turns)]
    return (Message(role="system", content=system), *said) if system else tuple(said)


@pytest.fixture
def driver() -> Iterator[Driver]:
    driver = Driver()
    yield driver
    driver.session.unload()


@pytest.fixture(scope="module")
def smol(smol_path: Path) -> Iterator[Driver]:
    """SmolLM2 with itself as draft, loaded once a module: what one test leaves behind must not matter to the next."""
    driver = Driver()
    driver.load(smol_path, smol_path, context=1024)
    yield driver
    driver.session.unload()


@pytest.fixture
def say(driver: Driver, scripted: Callable[..., Script]) -> Callable[..., Script]:
    """Load a script with itself as draft."""

    def load(chain: list[Any], *, context: int = 512, draft: Path | None = None, **options: Any) -> Script:
        script = scripted(chain, **options)
        driver.load(script.path, draft or script.path, context=context)
        return script

    return load


@pytest.fixture
async def client(tmp_path: Path, smol_path: Path) -> AsyncIterator[EngineClient]:
    """A client of a process of its own, which has still to be started."""
    client = EngineClient(tmp_path / "engine.log")
    client.wanted = LoadSettings(target=ModelFile(path=str(smol_path)), context=1024)
    yield client
    await client.close()
