"""What a command works on: the chat on a screen, or the chat in lines (``--plain``), by the same names."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from app.by_name import ByName
    from app.chats.store import ChatStore
    from app.library.records import Library, Listing
    from app.tui.answering import Answering
    from app.tui.conversation import OpenChat
    from app.tui.model_choice import Choice
    from app.tui.overflow_policy import Policy
    from engine.protocol import GenerateSettings, LoadSettings, SpeculationMode

Severity = Literal["information", "warning", "error"]


class Talk(Protocol):
    """What is said and answered."""

    @property
    def live(self) -> object | None:
        """The answer that is being made."""


class Models(Protocol):
    """The models of this disk, and the way to another pair."""

    listing: Listing | None
    """What is known of them; None: nobody has asked yet."""
    by_name: ByName
    """Presets and system prompts."""
    overflow: Policy
    """What becomes of a chat that outgrows the context, where the chat says nothing."""

    @property
    def has_library(self) -> bool: ...

    def open_library(self) -> Library | None: ...

    def look_for_models(self) -> None: ...

    def action_models(self) -> None: ...

    def use(self, choice: Choice | None) -> None: ...

    def keep_mode(self, mode: SpeculationMode) -> bool:
        """Remember ``mode`` for the next start; whether choices of this chat are remembered."""


class Surface(Protocol):
    """See the module's text."""

    store: ChatStore
    defaults: GenerateSettings
    system_prompt: str
    """The one of chats that have none of their own."""
    in_lines: bool
    """Whether this is the chat in lines."""

    @property
    def chat(self) -> OpenChat: ...

    @property
    def dialogue(self) -> Talk: ...

    @property
    def answering(self) -> Answering: ...

    @property
    def slipstream(self) -> Models: ...

    @property
    def mode(self) -> SpeculationMode: ...

    def reply(self, text: str, severity: Severity = "information") -> None:
        """What a command has to say."""

    def settings_now(self) -> GenerateSettings: ...

    def keep_settings(self, own: Mapping[str, object]) -> None: ...

    def choose_mode(self, mode: SpeculationMode) -> None: ...

    def use(self, load: LoadSettings, words: str, *, drafting: bool = False) -> None: ...

    def why_not(self, name: str, number: int = 0) -> str:
        """Why a turn's command can do nothing now, in a sentence; empty when it can."""

    def action_turn(self, name: str, number: int = 0) -> Awaitable[None] | None: ...

    def action_speculation(self) -> None: ...

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None: ...
