"""SlipstreamApp: the chat in a terminal."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import events, on
from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget

from app.by_name import ByName
from app.chats.records import Notice
from app.library.records import Listing
from app.settings_check import shortened
from app.tui import clipboard, commands, comparing, keymap
from app.tui.in_order import InOrder
from app.tui.keys import APP
from app.tui.leaving import LeavingApp
from app.tui.models_door import ModelsDoor
from app.tui.motion import calm, reduce_motion
from app.tui.mounting import await_mounts_once
from app.tui.ports import plain_request
from app.tui.screens.chat import ChatScreen
from app.tui.sizes import forget_when_changed
from app.tui.theme import DARK
from app.tui.widgets.first_steps import FirstSteps
from engine.protocol import GenerateSettings

if TYPE_CHECKING:
    from app.chats.store import ChatStore
    from app.last_choice import Memory
    from app.library.records import Library
    from app.tui.clipboard import Copied
    from app.tui.model_choice import Choice
    from app.tui.overflow_policy import Policy
    from app.tui.ports import Engine, PairRequest
    from engine.protocol import Device, LoadSettings, SpeculationMode

STYLED: Final = (
    "attached_row code_label completions composer editing_row header key_bar legend notice overflow_picker prompt_row "
    "selectable_turn speculation_picker thought too_small transcript turns welcome"
)
WIDGET_STYLES: Final = [f"widgets/{name}.tcss" for name in STYLED.split()]

PALETTE: Final = "Search for commands; esc closes"
NO_MODEL: Final = "No model is loaded: {chat.models} shows those that are here and those that can be fetched."


class SlipstreamApp(LeavingApp):
    """One chat screen over one engine and one store."""

    TITLE = "slipstream"
    CSS_PATH: ClassVar[list[str | PurePath]] = [
        "app.tcss",
        "screens/chat.tcss",
        *WIDGET_STYLES,
        "terminal_colours.tcss",
    ]
    BINDINGS: ClassVar[list[BindingType]] = [*APP]
    ENABLE_COMMAND_PALETTE = True
    ALLOW_SELECT = True

    def __init__(
        self,
        engine: Engine,
        load: LoadSettings | None,
        store: ChatStore,
        *,
        defaults: GenerateSettings | None = None,
        system: str = "",
        theme: str = DARK.name,
        complaints: Iterable[str] = (),
        no_model: str = "",
        library: Callable[[], Library] | None = None,
        pair_request: PairRequest | None = None,
        memory: Memory | None = None,
        first_run: bool = False,
        save_folder: str = "",
        by_name: ByName | None = None,
        overflow: Policy = "ask",
        keep_theme: Callable[[str], None] | None = None,
        motion: str = "full",
        keys: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        super().__init__()
        forget_when_changed()
        await_mounts_once()
        found = keymap.read(keys)
        keymap.use(found.map)
        self._bindings = found.map.applied(self._bindings)
        self.in_order = InOrder(self, super().on_event)
        if motion == "reduced":
            reduce_motion(self)
        self.engine = engine
        self.load = load
        self.store = store
        self.defaults = defaults or GenerateSettings(messages=())
        self.system = system
        self.by_name = by_name or ByName()
        self.complaints = (*found.complaints, *complaints)
        self.no_model = no_model or keymap.with_keys(NO_MODEL)
        """What helps where there is no model to load."""
        self._models = ModelsDoor(self, library, memory, first_run=first_run)
        self.pair_request = pair_request or plain_request
        """From the paths of a target and a draft (empty: none) to what the engine is asked to load."""
        self.save_folder = save_folder
        """Where answers are saved; empty: the current folder."""
        self.overflow: Policy = overflow
        """What becomes of a chat that outgrows the context, unless it says otherwise."""
        self.copied: asyncio.Future[Copied] | None = None
        """Where the text went that was copied last."""
        self.keep_theme = keep_theme
        self._begin_with_theme(theme)

    # -------------------------------------------------------------------------------------------------------- keys

    def _register_child(self, parent: DOMNode, child: Widget, before: int | None, after: int | None) -> None:
        """Whatever comes to the screen comes with the user's keys, and without a cursor that blinks."""
        child._bindings = keymap.in_use().applied(child._bindings)
        calm(child)
        super()._register_child(parent, child, before, after)

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            await self.in_order.take(event)
        else:
            await super().on_event(event)

    def _end_batch(self) -> None:
        """A screen whose time to draw falls into a batch skips it (Textual 8.2.8), and only the app is asked to look
        again: without this the screen would wait for its next message."""
        super()._end_batch()
        if not self._batch_count and self.screen_stack:
            self.screen.check_idle()

    def get_default_screen(self) -> Screen[Any]:
        return ChatScreen(self.engine, self.load, self.defaults, self.system, self.store, self.no_model)

    @property
    def chat_screen(self) -> ChatScreen | None:
        """The chat, also while something lies over it."""
        return next((screen for screen in self.screen_stack if isinstance(screen, ChatScreen)), None)

    def on_ready(self) -> None:
        if self.complaints and (screen := self.chat_screen) is not None:
            screen.add("\n".join(shortened(self.complaints)), "warning")
        self._models.on_ready()
        self.call_after_refresh(self._watch_speed)

    def _watch_speed(self) -> None:
        """Not before the first paint."""
        from app.tui.slower import SpeedWatch

        if (screen := self.chat_screen) is not None:
            screen.dialogue.answered = SpeedWatch(screen, self.store.file).answered

    def tell(self, notice: Notice) -> None:
        """Something the store has to say; safe to call before the screen is there, and from a thread that reads."""
        if self._running and threading.get_ident() != self._thread_id:
            self.call_later(self.tell, notice)
            return
        screen = self.chat_screen if self._running else None
        if screen is None:
            self.complaints = (*self.complaints, notice.text)
        else:
            screen.say(notice.text, notice.severity)
            screen.show_trouble()

    def copy_to_clipboard(self, text: str) -> None:
        """Whoever copies or cuts: to the terminal at once, and to this machine's own clipboard beside that."""
        super().copy_to_clipboard(text)
        self.copied = asyncio.ensure_future(clipboard.hand_over(text))

    # ----------------------------------------------------------------------------------------------------- actions

    def get_key_display(self, binding: Binding) -> str:
        return binding.key_display or binding.key.split(",")[0]

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The same commands that can be typed behind a slash; over another screen those that concern no chat."""
        chat = self.chat_screen
        if chat is None:
            return
        for command in commands.offered(chat):
            if screen is chat or command.anywhere:
                words = f"{command.shown_key or '/' + command.name}: {command.help}"
                run = partial(chat.writing.choose_command, command)
                yield SystemCommand(command.title, words, run, discover=not command.advanced)

    def action_command_palette(self) -> None:
        """Textual's, which says itself how it is left: the footer is that of the screen behind it."""
        if not isinstance(self.screen, CommandPalette):
            self.push_screen(CommandPalette(placeholder=PALETTE, id="--command-palette"))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "compare":
            chat = self.chat_screen
            return chat is not None and self.screen is chat and comparing.may_compare(chat)
        if action == "models":
            return self._models.there and self.screen is self.chat_screen
        if action in ("chats", "settings"):
            return self.screen is self.chat_screen
        return super().check_action(action, parameters)

    def action_compare(self) -> None:
        """The last request once more, plainly and with speculation, side by side."""
        chat = self.chat_screen
        if chat is not None and self.screen is chat:
            comparing.open_comparison(chat)

    def action_models(self) -> None:
        """The Models screen over the chat, which goes on behind it."""
        self._models.open()

    @on(FirstSteps.Chosen)
    def _begin_with(self, event: FirstSteps.Chosen) -> None:
        self._models.begin_with(event.action)

    @property
    def library(self) -> Library | None:
        return self._models.library

    @property
    def has_library(self) -> bool:
        """Whether models can be looked up."""
        return self._models.there

    def open_library(self) -> Library | None:
        """What knows the models; made when it is wanted for the first time."""
        return self._models.made()

    @property
    def listing(self) -> Listing | None:
        """The models of this disk, once somebody has asked for them."""
        return self._models.listing

    @listing.setter
    def listing(self, listing: Listing | None) -> None:
        self._models.listing = listing

    def look_for_models(self) -> None:
        """Read what is on the disk, for those who want to know its names."""
        self._models.look()

    def use(self, choice: Choice | None) -> None:
        """The chat goes on with another pair; None: as before."""
        self._models.use(choice)

    def use_window(self, size: int, words: str) -> None:
        """The pair that answers gets another context."""
        self._models.use_window(size, words)

    @property
    def gpus(self) -> Sequence[Device]:
        """GPUs with memory of their own, as far as the engine has said so."""
        return self._models.gpus

    def action_chats(self) -> None:
        """The Chats screen over the chat, which goes on behind it."""
        chat = self.chat_screen
        if chat is None or self.screen is not chat:
            return
        from app.tui.screens.chats import ChatsScreen  # with its own style sheets: not before it is wanted

        opened = chat.chat.conversation.id
        screen = ChatsScreen(self.store, opened, system=self.system, why_stay=chat.dialogue.why_stay)
        self.push_screen(screen, lambda opening: chat.call_next(chat.came_back, opening))

    def action_settings(self) -> None:
        """The settings of the chat, in a sheet over it; the chat goes on behind it."""
        chat = self.chat_screen
        if chat is not None and self.screen is chat:
            from app.tui.screens.settings import SettingsScreen  # with its own style sheets: not before it is wanted

            self.push_screen(SettingsScreen(chat))

    def keep_mode(self, mode: SpeculationMode) -> bool:
        """Remember ``mode`` for the next start; whether choices are remembered."""
        return self._models.keep_mode(mode)

    def action_help(self) -> None:
        """Every key, command and figure, over whatever screen this is; once more: back to it."""
        from app.tui.help_pages import places_here
        from app.tui.screens.help import HelpScreen  # with its own style sheet: not before it is wanted

        if isinstance(self.screen, HelpScreen):
            self.screen.dismiss(None)
        else:
            self.push_screen(HelpScreen(places_here(self.screen)))
