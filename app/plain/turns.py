"""What can be done to the last answer or message: the same deeds as on the screen, where one is selected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.attached import since
from app.chats.proof import damage
from app.clean import clean, clean_line
from app.plain import sheet
from app.plain.speech import stored
from app.plain.words import in_lines
from app.receipt import continued, is_full, known, notes, which_limit
from app.receipt_words import spoken
from app.saving import NotSaved, save_text
from app.tui import continuing
from app.tui.background import aside
from app.tui.clipboard import local_tool, run_tool
from app.tui.commands import RefusedError
from app.tui.names import speaker_name
from app.tui.thoughts import Thinking, placed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.plain.chat import PlainChat
    from app.tui.conversation import OpenChat, Turn

NOTHING: Final = "Nothing has been answered yet."
NOTHING_SAID: Final = "You have not said anything in this chat yet."
NO_TEXT: Final = "There is no text here yet."
NO_RECEIPT: Final = "There is no answer with figures yet."
ONE_VARIANT: Final = "There is no other variant: /regenerate makes one of an answer, /edit one of a message."
NO_TOOL: Final = "Nothing here can copy: wl-copy, xclip, xsel or pbcopy would. /save writes the answer into a file."
INTERRUPTED: Final = "Interrupted: Slipstream ended before the answer did. What had arrived is kept."
LOOKED_AT_ONCE: Final = 16


class Turns:
    """Finds the turn that a deed is meant for, and does it."""

    def __init__(self, chat: PlainChat) -> None:
        self._chat = chat

    def why_not(self, deed: str) -> str:
        """Why it cannot be done now, in a sentence; empty when it can."""
        turn = self._target(deed)
        match deed:
            case "previous" | "next":
                return "" if turn is not None else ONE_VARIANT
            case "edit":
                return "" if turn is not None else NOTHING_SAID
            case "receipt":
                return "" if turn is not None else NO_RECEIPT
        if turn is None:
            return NOTHING
        if deed == "go_on":
            return in_lines(continuing.why_not(turn))
        if deed in ("copy", "save") and not _spoken(turn).strip():
            return NO_TEXT
        return ""

    async def do(self, deed: str) -> None:
        """Do it. Raises RefusedError."""
        chat, turn, reason = self._chat, self._target(deed), self.why_not(deed)
        if turn is None or reason:
            raise RefusedError(reason)
        match deed:
            case "again":
                await chat.dialogue.regenerate(turn)
            case "go_on":
                await chat.dialogue.continue_(turn)
            case "edit":
                chat.begin_edit(turn)
            case "previous" | "next":
                at = chat.dialogue.show_sibling(turn, -1 if deed == "previous" else 1)
                if at is not None:  # of a message with what was answered to it
                    for shown in chat.chat.turns(at, at + (2 if _role(turn) == "user" else 1)):
                        self.show(shown)
            case "copy":
                await self._copy(_spoken(turn))
            case "save":
                await self._save(turn.text)
            case "receipt":
                chat.lines.say(sheet.text_of(turn))

    def _target(self, deed: str) -> Turn | None:
        said = _backwards(self._chat.chat)
        match deed:
            case "again":
                return next(said, None)
            case "edit":
                return next((turn for turn in said if _role(turn) == "user"), None)
            case "previous" | "next":
                return next((turn for turn in said if turn.variant is not None), None)
            case "receipt":
                return next((turn for turn in said if _has_figures(turn)), None)
        return last_answer(self._chat.chat)

    # ------------------------------------------------------------------------------------------------- in words

    def show(self, turn: Turn) -> None:
        """The whole turn: who, what, and what there is to say about it."""
        lines = self._chat.lines
        which = f" (variant {turn.variant[0]} of {turn.variant[1]})" if turn.variant else ""
        if _role(turn) == "user":
            lines.say(f"you{which}> {turn.text}")
            for one in turn.attached:
                become = since(one)
                lines.say(f"Attached: {clean_line(one.path, 200)}{f' ({become})' if become else ''}")
            return
        proof = turn.figures.receipt() if turn.figures else None
        who = speaker_name(proof.target) if proof else "answer"
        text = stored(turn.text, proof, Thinking.of(proof), thoughts=self._chat.thoughts)
        lines.say(f"{who}{which}> {text}")
        for line in about(turn):
            self._chat.say(line)

    def show_thoughts(self) -> bool:
        """Print what was thought before the last answer that has thoughts; False: none has."""
        for turn in _backwards(self._chat.chat):
            if _role(turn) == "assistant" and (thought := _thought(turn)):
                self._chat.lines.say(f"(thinking)\n{clean(thought)}\n(end of thinking)")
                return True
        return False

    # ------------------------------------------------------------------------------------------------- elsewhere

    async def _copy(self, text: str) -> None:
        tool = local_tool()
        if tool is None:
            raise RefusedError(NO_TOOL)
        if refused := await aside(run_tool, tool, text):
            raise RefusedError(f"{tool.name} did not take the text: {refused}. /save writes it into a file.")
        self._chat.reply(f"Copied {len(text):,} characters: {tool.name}.")

    async def _save(self, text: str) -> None:
        chat = self._chat
        try:
            file = await aside(save_text, text, chat.chat.title, chat.save_folder)
        except NotSaved as error:
            raise RefusedError(in_lines(str(error))) from error
        chat.reply(f"Saved {len(text):,} characters: {file}")


def about(turn: Turn) -> list[str]:
    """What there is to say about an answer: how it ended, its figures, and what was done otherwise than asked."""
    message, figures = turn.message, turn.figures
    said: list[str] = []
    match turn.state:
        case "cancelled":
            said.append("Stopped." if turn.text.strip() else "Stopped before the answer began.")
        case "failed":
            said.append(clean_line((message.error if message else None) or "The answer failed.", 1000))
        case "writing":
            said.append("Another Slipstream is writing this.")
        case "interrupted":
            said.append(INTERRUPTED)
    proof, stats = (figures.receipt(), figures.stats()) if figures else (None, None)
    noted = [clean_line(note, 400) for note in notes(proof)] if proof else []
    if figures and figures.finish_reason == "length":
        why = clean_line(which_limit(stats, proof), 400)
        noted = [note for note in noted if note != why]
        room = "/context makes room, then " if is_full(why) else ""
        said.append(f"Cut off: {why}. {room}/continue goes on.")
    if stats is not None and stats.output_tokens:
        said.append(f"Receipt: {spoken(stats, *known(proof))}")
    return [*said, *noted, *filter(None, [continued(proof) if proof else "", damage(figures)])]


def last_answer(chat: OpenChat) -> Turn | None:
    """The last answer of the branch that is shown."""
    return next((turn for turn in _backwards(chat) if _role(turn) == "assistant"), None)


def _backwards(chat: OpenChat) -> Iterator[Turn]:
    """The turns from the last one on; figures are read for a few at once."""
    for stop in range(len(chat), 0, -LOOKED_AT_ONCE):
        yield from reversed(chat.turns(stop - LOOKED_AT_ONCE, stop))


def _role(turn: Turn) -> str:
    return turn.message.role if turn.message else "user"


def _has_figures(turn: Turn) -> bool:
    return turn.figures is not None and turn.figures.stats() is not None


def _spoken(turn: Turn) -> str:
    """What was said, as it was said, without thoughts."""
    return Thinking.of(turn.figures.receipt() if turn.figures else None).spoken(turn.text)


def _thought(turn: Turn) -> str:
    parts = placed(turn.text, Thinking.of(turn.figures.receipt() if turn.figures else None))
    return "\n".join(part.text for part in parts if part.kind == "thought")
