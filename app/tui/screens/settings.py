"""The settings of the chat on screen: every value in force, where it comes from, and what else it could be."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from app.chats.records import StoreError
from app.clean import clean_line
from app.given_names import DEFAULT
from app.tui import command_presets as presets
from app.tui import command_settings as settings
from app.tui import command_system as system
from app.tui.chat_presets import SAMPLERS
from app.tui.chat_settings import SYSTEM, WrongValueError, changes, system_prompt, without
from app.tui.keys import SETTINGS
from app.tui.setting import present, written
from app.tui.settings_rows import OWN_TEXT, PRESET, SLIPSTREAM, ChatValues, SheetRow, changed, sheet_rows
from app.tui.whole_words import whole_words
from app.tui.widgets.choices import Choice, Choices
from app.tui.widgets.key_bar import KeyBar
from app.tui.widgets.line import Line
from app.tui.widgets.notice import NoticeLine, Severity
from app.tui.widgets.setting_list import SettingList
from app.tui.widgets.setting_row import label
from app.tui.widgets.speculation_picker import reasons_against
from app.tui.widgets.too_small import TooSmall
from app.tui.widgets.value_box import LONGEST, ValueBox

if TYPE_CHECKING:
    from app.tui.screens.chat import ChatScreen

SCREEN_STYLES: Final = "setting_list value_box choices"
WRITE: Final = ""
"""The choice of a system prompt that has no name."""
CHOOSING: Final = "-choosing"
A_TEXT: Final = "a text, or the name of one"


class SettingsHeader(Line):
    """Whose settings these are."""

    def __init__(self, title: str, *, answering: bool) -> None:
        super().__init__()
        self._title, self._answering = title, answering

    def parts(self, width: int) -> tuple[Content, Content]:
        left = Content.styled("settings of this chat", "bold $accent")
        words = "from the next answer on" if self._answering else clean_line(self._title, max(10, width - 26))
        return left, Content.styled(words, "$muted")


class SettingsScreen(Screen[None]):
    """A list of rows, what there is to say about one of them, and a line or a few choices to change it by."""

    CSS_PATH: ClassVar = ["settings.tcss", *(f"../widgets/{name}.tcss" for name in SCREEN_STYLES.split())]
    BINDINGS: ClassVar[list[BindingType]] = [*SETTINGS]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (90, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-low"), (20, "-high")]  # noqa: RUF012

    def __init__(self, chat: ChatScreen) -> None:
        """``chat``: the screen behind this one, whose chat it is about."""
        super().__init__()
        self.chat = chat
        self._offered: tuple[bool | None, ...] = ()
        self._news: tuple[str, bool] = ("", False)
        """What is said instead of the help, and whether something is wrong."""

    def compose(self) -> ComposeResult:
        yield SettingsHeader(self.chat.chat.title, answering=self.chat.dialogue.live is not None)
        with Vertical(id="settings-side"):
            yield SettingList()
            yield ValueBox()
        yield NoticeLine()
        yield Static(id="about", markup=False)
        yield Choices()
        yield KeyBar()
        yield TooSmall(markup=False)

    def on_mount(self) -> None:
        self.query_one(SettingList).focus()
        self._fill()
        if trouble := self.chat.slipstream.by_name.prompts.trouble:
            self.say(trouble, "warning")

    def on_resize(self, event: events.Resize) -> None:
        self.query_one(TooSmall).fit(event.size)
        self._draw_about()
        if (box := self.query_one(ValueBox)).display:
            self.call_after_refresh(self._move_box, box)

    def _move_box(self, box: ValueBox) -> None:
        """To where its row is now."""
        if (at := self.query_one(SettingList).value_region()) is not None:
            box.move_to(at)

    def say(self, text: str, severity: Severity = "information") -> None:
        """A notice below the list, in the place of the one before."""
        notices = self.query_one(NoticeLine)
        notices.clear()
        notices.say(text, severity)

    @property
    def values(self) -> ChatValues:
        """What the settings are made of now."""
        chat, own = self.chat, self.chat.chat.conversation.settings
        return ChatValues(chat.defaults, chat.system_prompt, own, chat.slipstream.by_name, chat.answering.state.pair)

    @property
    def row(self) -> SheetRow | None:
        """The highlighted one."""
        return self.query_one(SettingList).row

    def _fill(self) -> None:
        self.query_one(SettingList).show(sheet_rows(self.values))
        self._highlighted()

    @on(SettingList.OptionHighlighted)
    def _highlighted(self) -> None:
        self._show_about()
        self.offer_keys()

    def _show_about(self, news: str = "", *, wrong: bool = False) -> None:
        """What there is to say about the highlighted setting. ``news``: what has become of it, or what is ``wrong``; it
        stands in the same place, so that nothing moves."""
        self._news = news, wrong
        self._draw_about()

    def _draw_about(self) -> None:
        row, (news, wrong) = self.row, self._news
        if row is None:
            return
        default = f"{row.default} unless this chat says otherwise"
        if (origin := self.values.origin(row.key)) != SLIPSTREAM:
            default += f" ({origin})"
        if wrong:
            words = Content.styled(clean_line(news, 400), "$warning")
        else:
            lines = (news or row.help, "$foreground"), (f"takes {row.limits}", "$muted"), (default, "$faint")
            width = max(20, self.size.width - 6)
            words = Content("\n").join(
                Content.styled(whole_words(clean_line(line, 400), width), style) for line, style in lines
            )
        self.query_one("#about", Static).update(words)

    # ------------------------------------------------------------------------------------------------- changing

    @on(SettingList.Acted)
    def action_change(self) -> None:
        """Type another value, or choose one."""
        row = self.row
        if row is None:
            return
        if row.typed:
            self._open_box(row)
        else:
            now = WRITE if row.value == OWN_TEXT else row.value
            title = f"{label(row.title)}, for the next answers of this chat"
            self.query_one(Choices).open(row.key, title, self._choices(row), now)
            self.add_class(CHOOSING)
            self.call_after_refresh(self.query_one(SettingList).scroll_to_highlight)
            self.offer_keys()

    def _open_box(self, row: SheetRow, *, begun: str = "") -> None:
        at = self.query_one(SettingList).value_region()
        if at is not None:
            text = self._text(row)
            fits = "\n" not in text and len(text) <= LONGEST
            hint = A_TEXT if row.key == SYSTEM else row.limits
            self.query_one(ValueBox).open(row.key, text if fits else "", at, begun=begun, hint=hint)
            self.offer_keys()

    def _text(self, row: SheetRow) -> str:
        """The value as it would be typed."""
        values = self.values
        if row.setting is not None:
            return written(row.setting, present(values.now, row.setting))
        return system_prompt(values.system, values.own)

    def action_begin(self, typed: str) -> None:
        """A digit begins another number."""
        if (row := self.row) is not None:
            self._open_box(row, begun=typed)

    def _choices(self, row: SheetRow) -> list[Choice]:
        """What the setting can be, with the words that complete its slash command."""
        chat = self.chat
        if row.key == PRESET:
            found = [Choice(one.value, one.shown, one.help) for one in presets.suggest_presets(chat)]
        elif row.key == SYSTEM:
            found = [Choice(one.value, one.shown, one.help) for one in system.suggest_system(chat)]
            found.insert(-2, Choice(WRITE, "write one …", "for this chat; /system-save NAME keeps it for others"))
        elif row.setting is not None:
            found = [Choice(one.value, one.shown, one.help) for one in settings.suggest_values(row.setting, chat)]
        else:
            against = reasons_against(chat.answering.state.pair)
            possible = [reason is None for reason in against.values()]
            modes = zip(settings.suggest_modes(chat), possible, strict=True)
            found = [Choice(one.value, one.shown, one.help, may_be) for one, may_be in modes]
            found.append(Choice(DEFAULT, DEFAULT, f"{row.default}, as for every chat"))
        return found

    @on(Choices.Chosen)
    def _chosen(self, event: Choices.Chosen) -> None:
        self._close_choices()
        row = self.row
        if row is not None and event.value == WRITE:
            self._open_box(row)
        else:
            self._change(event.key, event.value)

    @on(Choices.Closed)
    def _close_choices(self) -> None:
        self.query_one(Choices).close()
        self.remove_class(CHOOSING)
        self.set_focus(self.query_one(SettingList))  # now: a line may be opened at once
        self.offer_keys()

    def on_descendant_focus(self) -> None:
        """A click went past the choices."""
        if self.query_one(Choices).display and self.focused is self.query_one(SettingList):
            self._close_choices()

    @on(ValueBox.Typed)
    def _typed(self, event: ValueBox.Typed) -> None:
        if self._change(event.key, event.value):
            self._close_box()

    @on(ValueBox.Left)
    def _left(self) -> None:
        self._close_box()
        self._show_about()

    def _close_box(self) -> None:
        box = self.query_one(ValueBox)
        had_focus = box.has_focus
        box.close()
        if had_focus:
            self.set_focus(self.query_one(SettingList))
        self.offer_keys()

    def _change(self, key: str, typed: str) -> bool:
        """``typed`` counts from now on, or a sentence says why not."""
        values = self.values
        row = next(one for one in sheet_rows(values) if one.key == key)
        try:
            own = changed(values, row, typed)
        except WrongValueError as error:
            self._show_about(f"{error} It stays {row.value}.", wrong=True)
            return False
        return self._keep(values, own)

    def action_default(self) -> None:
        """The highlighted setting as in every chat."""
        if (row := self.row) is not None and row.own:
            values = self.values
            self._keep(values, without(values.own, *(SAMPLERS if row.key == PRESET else (row.key,))))

    def _keep(self, before: ChatValues, own: dict[str, object]) -> bool:
        try:
            self.chat.keep_settings(own)
        except StoreError as error:
            self.say(str(error), "warning")
            return False
        self._fill()
        self._show_about(", ".join(changes(before.now, self.values.now)))
        return True

    # -------------------------------------------------------------------------------------------------- the keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The footer shows what works now."""
        if action not in ("change", "begin", "default", "close"):
            return True
        if not self.is_mounted or self.query_one(ValueBox).display or self.query_one(Choices).display:
            return False
        row = self.row
        if action == "begin":
            return row is not None and row.typed
        return action != "default" or (row is not None and row.own)

    def offer_keys(self) -> None:
        offered = tuple(self.check_action(name, ()) for name in ("change", "default", "close"))
        if offered != self._offered:
            self._offered = offered
            self.refresh_bindings()

    def action_close(self) -> None:
        self.dismiss(None)

    def action_leave(self) -> None:
        self.dismiss(None)
