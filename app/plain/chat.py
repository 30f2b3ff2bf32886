"""The chat in lines: what each command does here, by the names of :class:`app.tui.surface.Surface`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.attached import NOT_SENT, AttachmentError, mention_of, not_attached, read_mentioned
from app.by_name import ByName
from app.chats.records import StoreError, Unsent
from app.plain import lists
from app.plain.attaching import attached_words, to_attach
from app.plain.chat_actions import ChatActions
from app.plain.dialogue import Dialogue
from app.plain.models import PlainModels
from app.plain.turns import Turns, about
from app.plain.words import in_lines
from app.tui import chosen_mode, commands
from app.tui.background import aside
from app.tui.chat_settings import merged, system_prompt
from app.tui.commands import RefusedError
from app.tui.modes import MODES, reasons_against
from app.tui.news import EngineNews
from app.tui.overflow_policy import for_engine, policy_of

if TYPE_CHECKING:
    from app.chats.store import ChatStore
    from app.last_choice import Memory
    from app.library.records import Library
    from app.plain.lines import Lines
    from app.tui.conversation import Turn
    from app.tui.kept_answer import KeptAnswer
    from app.tui.overflow_policy import Policy
    from app.tui.ports import Engine, PairRequest
    from app.tui.surface import Severity
    from engine.protocol import GenerateSettings, LoadSettings, SpeculationMode

ELSEWHERE: Final = "Your last chat is open in another Slipstream; this is a new one."
LEAVE_ALL_THE_SAME: Final = "Make room and leave then, copy the text from here, or /quit once more leaves all the same."
SEND_OTHERWISE: Final = (
    "Your message stands at the prompt; what you send next becomes a variant beside it. An empty line leaves it."
)
SHOWN_FROM_NOW_ON: Final = "Thoughts are printed from now on."
FOLDED_FROM_NOW_ON: Final = "Thoughts are one line from now on."


class PlainChat(ChatActions):
    """One chat at a time over one engine and one store. Everything here runs in the event loop."""

    in_lines = True

    def __init__(
        self,
        engine: Engine,
        load: LoadSettings | None,
        store: ChatStore,
        lines: Lines,
        *,
        defaults: GenerateSettings,
        system: str = "",
        no_model: str = "",
        interactive: bool = True,
        library: Callable[[], Library] | None = None,
        pair_request: PairRequest | None = None,
        memory: Memory | None = None,
        save_folder: str = "",
        by_name: ByName | None = None,
        overflow: Policy = "ask",
    ) -> None:
        """``interactive``: somebody types, so that the last chat goes on; what comes out of a pipe begins a new one."""
        self.store = store
        self.lines = lines
        self.defaults = defaults
        self.system_prompt = system
        self.save_folder = save_folder
        self.thoughts = False
        self.over = False
        """Somebody wants to leave."""
        self.failed = False
        """Something that was sent got no answer."""
        self.stopped = False
        """An answer was stopped."""
        self.prefilled = ""
        """What the next message begins with, to be changed."""
        self.interactive = interactive
        self._editing: Turn | None = None
        self._attaching: list[str] = []
        """Paths that go with the next message."""
        self._news = EngineNews(self, "" if load else no_model, load.draft_refused if load else None)
        self._told: tuple[str, str] = ("", "")
        """What was said last of the pair, and of what was proven about it."""
        self._told_loss: str | None = None
        """What was said to get lost when somebody last wanted to leave."""
        self._open = False
        self.dialogue = Dialogue(self, store, engine, load, no_model, fresh=not interactive)
        self.slipstream = PlainModels(self, library, pair_request, memory, by_name or ByName(), overflow)
        self.turns = Turns(self)

    def begin(self, complaints: Iterable[str] = ()) -> None:
        """The first words."""
        self._open = True
        if self.interactive:
            self.lines.say("Slipstream, the chat in lines. /help lists what can be typed; Ctrl+C stops an answer.")
        for complaint in complaints:
            self.say(complaint, "warning")
        if self.store.trouble:
            self.say(self.store.trouble, "warning")
        if self.chat.elsewhere:
            self.say(ELSEWHERE, "warning")
        self.introduce()
        self.engine_changed()

    # ---------------------------------------------------------------------------------------------- what is typed

    async def take(self, text: str) -> None:
        """Do what was typed, or send it. What stood at the prompt comes back behind a command."""
        typed = commands.parse(text)
        if typed is None:
            self.prefilled = ""
        if not text.strip():
            self._leave_edit()
            return
        try:
            if typed is not None:
                await commands.run(self, typed)
            else:
                await self._send(commands.message_of(text))
        except (RefusedError, StoreError) as error:
            self.failed = True
            self.say(str(error), "warning")
            if typed is None:
                self._give_back(text)

    async def _send(self, text: str) -> None:
        turn = self._editing
        if turn is not None and turn.message is not None and self.chat.position(turn.message.id) is None:
            turn = None  # another branch is shown
        if turn is not None and not self.dialogue.may_branch():
            self._give_back(commands.typed_as(text))
            return
        if self._attaching:
            text = "\n".join([text, " ".join(map(mention_of, self._attaching))])
        try:
            attached = await aside(read_mentioned, Path.cwd(), text)
        except AttachmentError as error:
            raise RefusedError(f"{error} {NOT_SENT}") from error
        for one in attached:
            self.say(f"Attached: {attached_words(one)}")
        if left := await aside(not_attached, Path.cwd(), text, attached):
            self.say(left)
        self._editing, self._attaching = None, []
        await self.dialogue.send(text, attached, instead_of=turn)

    def answered(self, live: KeptAnswer) -> None:
        """Say how an answer ended, and its figures."""
        failure = live.answer.failure
        if failure is not None:
            self._news.was_told(failure)
            self.failed = True
        self.stopped = self.stopped or live.answer.stop_wanted
        if not live.in_vain:
            for line in about(live.turn):
                if not self._news.said(line, self.mode):  # it stands above, and is true of every answer
                    self.say(line)
        elif failure is not None:
            self.say(failure.message, "warning")
            if live.refused and live.is_new_question:
                self._editing = live.beside.edited if live.beside is not None else None
                self._give_back(commands.typed_as(live.question.text))
            if live.refused:
                self.say(self._what_helps(), "warning")

    def _what_helps(self) -> str:
        """Where the message is, and what there is beyond what the engine's sentence says."""
        words = ["Your message stands at the prompt, to be changed."] if self.interactive and self.prefilled else []
        words.append("/new begins an empty chat. /overflow drop-oldest leaves out the oldest messages.")
        return " ".join([*words, "--context N at the start makes the context larger."])

    def _give_back(self, text: str) -> None:
        """It was not sent: it stands at the prompt again, and survives until it is."""
        self.prefilled = text
        self.keep_unsent(text)

    def keep_unsent(self, text: str) -> None:
        """Keep what was typed and not sent with the chat."""
        if self.interactive:
            self.store.keep_unsent(self.chat.conversation.id, Unsent((text,) if text else ()))

    def said(self, limit: int = 200) -> list[str]:
        """What the user said before, oldest first, as it is typed."""
        found = (self.store.message(number) for number in self.store.said(self.chat.conversation.id, limit))
        return [commands.typed_as(message.content) for message in found if message is not None][::-1]

    def begin_edit(self, turn: Turn) -> None:
        """The next message becomes a variant of ``turn``, whose text stands at the prompt."""
        self._editing = turn
        self.prefilled = commands.typed_as(turn.text)
        self.reply(SEND_OTHERWISE)

    def _leave_edit(self) -> None:
        if self._editing is not None:
            self._editing = None
            self.reply("The message stays as it was.")

    # ------------------------------------------------------------------------------------- what the commands know

    @property
    def mode(self) -> SpeculationMode:
        return self.settings_now().speculation

    def say(self, text: str, severity: Severity = "information") -> None:
        """A sentence beside the answers."""
        self.lines.note(in_lines(text))

    def add(self, text: str, severity: Severity = "warning") -> None:
        """For the news of the engine: nothing that was said goes away here."""
        self.say(text, severity)

    def reply(self, text: str, severity: Severity = "information") -> None:
        """What a command has to say."""
        self.say(text, severity)

    def settings_now(self) -> GenerateSettings:
        own = self.chat.conversation.settings
        overflow = for_engine(policy_of(self.slipstream.overflow, own))
        return merged(self.defaults, own).model_copy(update={"overflow": overflow})

    def settings(self) -> GenerateSettings:
        """How the next answer is to be made."""
        messages = self.chat.prompt(system_prompt(self.system_prompt, self.chat.conversation.settings))
        return self.settings_now().model_copy(update={"messages": messages})

    def keep_settings(self, own: Mapping[str, object]) -> None:
        self.chat.save_settings(own)

    def choose_mode(self, mode: SpeculationMode) -> None:
        chosen_mode.choose(self, mode)

    def use(self, load: LoadSettings, words: str, *, drafting: bool = False) -> None:
        """Answer with another pair from now on; the chat stays."""
        self._news.pair_wanted()
        if drafting and self.mode in ("off", "lookup"):
            self.keep_settings({**self.chat.conversation.settings, "speculation": "auto"})
        self.reply(words)
        self.answering.switch(load)

    def why_not(self, name: str, number: int = 0) -> str:
        return self.turns.why_not(name)

    async def action_turn(self, name: str, number: int = 0) -> None:
        await self.turns.do(name)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "export":
            return not self.chat.empty
        return action != "new_chat" or not self.chat.empty

    # ------------------------------------------------------------------------------------------------ the commands

    def action_help(self) -> None:
        self.lines.say("\n".join(lists.command_lines(self)))

    def action_speculation(self) -> None:
        reasons = reasons_against(self.answering.state.pair)
        known = ", ".join(mode if (why := reasons[mode]) is None else f"{mode} (not now: {why})" for mode in MODES)
        self.reply(f"speculation is {self.mode}; /spec takes {known}.")

    def action_thoughts(self) -> None:
        self.thoughts = not self.thoughts
        self.reply(SHOWN_FROM_NOW_ON if self.thoughts else FOLDED_FROM_NOW_ON)
        if self.thoughts:
            self.turns.show_thoughts()

    def action_quit(self) -> None:
        self.over = not self.interactive or self.may_leave()

    def may_leave(self) -> bool:
        """Whether nothing gets lost, or whoever wants to leave was told what."""
        if self.store.trouble is None:
            return True
        from app.tui.rescue import why_stay  # not before it is wanted

        loses = why_stay(self.store, self.system_prompt)
        if loses is None or self._told_loss == loses:
            return True
        self._told_loss = loses
        self.say(f"{loses} {LEAVE_ALL_THE_SAME}", "warning")
        return False

    async def action_attach(self, path: str = "") -> None:
        if not path:
            raise RefusedError("/attach takes the path of a text file.")
        one = await to_attach(path)
        self._attaching.append(path)
        self.reply(f"Goes with your next message: {attached_words(one)}")

    def set_aside(self) -> None:
        """Another chat takes the place of the open one: what was prepared for that one is no more."""
        self._editing, self._attaching, self.prefilled = None, [], ""
