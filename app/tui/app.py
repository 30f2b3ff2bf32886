"""SlipstreamApp: the chat in a terminal."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import events, on
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.driver import Driver
from textual.filter import LineFilter, Monochrome, NoColor
from textual.screen import Screen
from textual.widget import Widget

from app.by_name import ByName
from app.chats.records import Notice
from app.clean import clean_line
from app.library.records import Listing, ShelfError
from app.settings_check import shortened
from app.tui import clipboard, commands, comparing, keymap
from app.tui.background import aside
from app.tui.few_colours import told_apart
from app.tui.in_order import InOrder
from app.tui.keys import APP
from app.tui.models_door import ModelsDoor
from app.tui.motion import calm, reduce_motion
from app.tui.own_colours import OwnColours, colours_unwanted
from app.tui.ports import plain_request
from app.tui.screens.chat import ChatScreen
from app.tui.theme import COLOURLESS, DARK, LIGHT, NO_SUCH_THEME, THEMES, fallback_variables
from app.tui.widgets.first_steps import FirstSteps
from engine.protocol import GenerateSettings

if TYPE_CHECKING:
    from app.chats.store import ChatStore
    from app.last_choice import Memory
    from app.library.records import Library
    from app.tui.clipboard import Copied
    from app.tui.local_drafts import LocalDraft
    from app.tui.model_choice import Choice
    from app.tui.overflow_policy import Policy
    from app.tui.ports import Engine, PairRequest
    from engine.protocol import Device, LoadSettings, SpeculationMode

log = logging.getLogger(__name__)

STYLED: Final = (
    "attached_row code_label completions composer editing_row header key_bar legend notice overflow_picker prompt_row "
    "selectable_turn speculation_picker thought too_small transcript turns welcome"
)
WIDGET_STYLES: Final = [f"widgets/{name}.tcss" for name in STYLED.split()]


LIBRARY_PATIENCE: Final = 1.0
NOTHING_TO_COMPARE: Final = "There is nothing to compare yet: ask something, and let the answer end."
NO_COLOURS: Final = "NO_COLOR is set in the environment, so there are no colours to choose from."
NO_SHELL: Final = "Slipstream was not suspended: no shell with job control started it, so nothing could bring it back."
NO_MODEL: Final = "No model is loaded: {chat.models} shows those that are here and those that can be fetched."


class SlipstreamApp(App[None]):
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
    few_colours = False
    """Whether the terminal has 256 colours, to which all others are rounded. To be set before the app runs."""

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
        self.complaints = tuple(complaints)
        self.no_model = no_model or NO_MODEL
        self.by_name = by_name or ByName()
        self.complaints = (*found.complaints, *complaints)
        self.no_model = no_model or keymap.with_keys(NO_MODEL)
        """What helps where there is no model to load."""
        self._models = ModelsDoor(self, library, memory, first_run=first_run)
        self.listing: Listing | None = None
        """The models of this disk, once somebody has asked for them."""
        self._looking_for_models = False
        self.pair_request = pair_request or plain_request
        """From the paths of a target and a draft (empty: none) to what the engine is asked to load."""
        self.save_folder = save_folder
        """Where answers are saved; empty: the current folder."""
        self.overflow: Policy = overflow
        """What becomes of a chat that outgrows the context, unless it says otherwise."""
        self.copied: asyncio.Future[Copied] | None = None
        """Where the text went that was copied last."""
        self.fault: BaseException | None = None
        """The exception that ended the app, for whoever ran it."""
        self.before_leaving: Callable[[], None] = lambda: None
        """Called once when the app begins to end; run_chat sets its last resort there."""
        self._engine_closing: asyncio.Task[None] | None = None
        self._library_closing: asyncio.Task[None] | None = None
        self.keep_theme = keep_theme
        """Keeps the theme that was chosen for the next start; None: settings.toml says which it is."""
        self._begin_with_theme(theme)

    def get_driver_class(self) -> type[Driver]:
        driver = super().get_driver_class()
        if driver.__module__ == "textual.drivers.linux_driver":
            from app.tui.driver import TerminalDriver

            return TerminalDriver
        return driver

    # ----------------------------------------------------------------------------------------------------- colours

    def _begin_with_theme(self, name: str) -> None:
        """The theme that was chosen, or none at all where NO_COLOR asks for that."""
        self.no_color = colours_unwanted()
        self._filters = [one for one in self._filters if not isinstance(one, Monochrome | NoColor)]
        self._own_colours = OwnColours(colourless=self.no_color)
        for own in (COLOURLESS,) if self.no_color else THEMES:
            self.register_theme(own)
        if self.no_color:
            self._theme_before = self.theme = COLOURLESS.name
            return
        if name not in self.available_themes and self.keep_theme is None:
            self.complaints = (NO_SUCH_THEME.format(name=clean_line(name, 40)), *self.complaints)
        self._theme_before = self.theme = name if name in self.available_themes else DARK.name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return fallback_variables(self.current_theme)

    def get_css_variables(self) -> dict[str, str]:
        variables = super().get_css_variables()
        if self.few_colours and not self.current_theme.ansi:
            variables = told_apart(variables)
        return variables

    def get_line_filters(self) -> Sequence[LineFilter]:
        filters = super().get_line_filters()
        return [*filters, self._own_colours] if self.native_ansi_color else filters

    def watch_theme(self, name: str) -> None:
        """Chosen by whatever way, it is there at the next start."""
        if name != self._theme_before and self.keep_theme is not None:
            self.keep_theme(name)
        self._theme_before = name

    def search_themes(self) -> None:
        """The list of themes, ours with a sentence each."""
        from app.tui.theme_list import theme_palette  # with Textual's palette: not before it is wanted

        self.push_screen(theme_palette())

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

    # -------------------------------------------------------------------------------------------------- suspending

    def action_suspend_process(self) -> None:
        """To the shell; its ``fg`` brings the chat back."""
        from app.tui.driver import TerminalDriver  # with termios: nothing for a screen that is no terminal

        if not (isinstance(self._driver, TerminalDriver) and self._driver.suspend()):
            say = getattr(self.screen, "say", None) or getattr(self.chat_screen, "say", None)
            if say is not None:
                say(NO_SHELL)

    @on(Driver.SignalResume)
    def _drawn_anew(self) -> None:
        """What stood on the screen is the shell's now, whatever Textual thinks."""
        self.screen.refresh()

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
        if chat is None or self.screen is not chat:
            return
        wanted = comparing.comparison(chat)
        if wanted is None:
            chat.say(NOTHING_TO_COMPARE)
            return
        from app.tui.screens.compare import CompareScreen, title_of  # not before it is wanted

        comparison, question, context = wanted
        drafts = partial(self._other_drafts, comparison.load) if self.has_library else None
        screen = CompareScreen(self.engine, comparison, title_of(question), context, drafts)

        self.push_screen(screen, lambda way: chat.keep_way(way, loaded_others=screen.loaded_others))

    async def _other_drafts(self, load: LoadSettings) -> list[LocalDraft]:
        from app.tui.local_drafts import local_drafts

        return await local_drafts(self, load)

    def action_models(self) -> None:
        """The Models screen over the chat, which goes on behind it."""
        self._models.open()

    @on(FirstSteps.Chosen)
    def _begin_with(self, event: FirstSteps.Chosen) -> None:
        self._models.begin_with(event.action)

    @property
    def has_library(self) -> bool:
        """Whether models can be looked up."""
        return self._models.there

    def open_library(self) -> Library | None:
        """What knows the models; made when it is wanted for the first time."""
        return self._models.made()

    def look_for_models(self) -> None:
        """Read what is on the disk, for those who want to know its names; the composer looks again when it is done."""
        library = self.open_library()
        if library is not None and not self._looking_for_models:
            self._looking_for_models = True
            self.run_worker(self._look_for_models(library), group="listing", exclusive=True, exit_on_error=False)

    async def _look_for_models(self, library: Library) -> None:
        try:
            self.listing = await aside(library.listing)
        except ShelfError as error:
            self.listing = Listing(())
            log.warning("models were not listed: %s", error)
        finally:
            self._looking_for_models = False
        if (chat := self.chat_screen) is not None:
            chat.call_next(chat.writing.look)

    def use(self, choice: Choice | None) -> None:
        """The chat goes on with another pair; None: as before."""
        self.listing = None  # a file may have come or gone: the next one who asks for names has them read anew
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

    def action_switch_colours(self) -> None:
        if self.no_color:
            if (chat := self.chat_screen) is not None:
                chat.say(NO_COLOURS)
            return
        self.theme = LIGHT.name if self.current_theme.dark else DARK.name

    async def action_quit(self) -> None:
        self.leave(0)

    def action_help_quit(self) -> None:
        """Textual's ctrl+c, where a screen of its own is on top."""

    def leave(self, return_code: int) -> None:
        """End the app: keep the running answer, let the engine go at once, restore the terminal."""
        if self._engine_closing is not None:
            return
        self.before_leaving()
        self._keep_answer()
        self._engine_closing = asyncio.create_task(self.engine.close(), name="close engine")
        self._close_library()
        self.exit(return_code=return_code)

    def _close_library(self) -> None:
        if (library := self._models.library) is not None and self._library_closing is None:
            self._library_closing = asyncio.create_task(aside(library.close), name="close library")

    async def library_closed(self) -> None:
        """Wait, though not for long, until downloads have let go of their files. What has arrived stays."""
        self._close_library()
        if self._library_closing is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._library_closing, LIBRARY_PATIENCE)

    # ------------------------------------------------------------------------------------------- unexpected errors

    def _handle_exception(self, error: Exception) -> None:
        """No traceback on the screen: it goes to the log, and run_chat says one sentence."""
        log.error("the app ended by an exception", exc_info=error)
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        self._end_with(error)

    def panic(self, *renderables: Any) -> None:
        log.error("the app ended in panic: %s", renderables)
        self._end_with(RuntimeError("panic"))

    def _end_with(self, error: BaseException) -> None:
        self.fault = self.fault or error
        self._return_code = 1
        self._keep_answer()
        self._close_messages_no_wait()

    def _keep_answer(self) -> None:
        try:
            if (screen := self.chat_screen) is not None:
                screen.leave()
        except Exception:
            log.exception("the last words were not kept")
