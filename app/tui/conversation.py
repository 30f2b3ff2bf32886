"""The chat that is open: its turns, and every word of them in the store before anything else happens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from app.attached import in_prompt, with_kept
from app.chats.records import Attachment, Figures, Message, MessageState, StoreError
from app.chats.seal import doubts
from app.tui.token_texts import TokenTexts, earlier_of
from engine.protocol import Finished
from engine.protocol import Message as PromptMessage
from engine.stats import Stats

if TYPE_CHECKING:
    from app.chats.store import ChatStore
    from app.tui.answer import Answer

LATEST: Final = 4  # answers asked for what was left out: a long chat may have hundreds without a receipt


@dataclass(eq=False)
class Turn:
    """One turn on screen: what the store has, or will have once the answer has begun."""

    message: Message | None
    figures: Figures | None = None
    waiting: str = ""
    """A message of the user that is sent when the answer before it has ended."""
    attached: tuple[Attachment, ...] = ()
    since: Mapping[int, str] = field(default_factory=dict)
    """Attachment -> what has become of its file: ``changed since`` or ``gone``."""
    so_far: str = ""
    """What an answer that goes on with another one is kept with from its beginning."""
    variant: tuple[int, int] | None = None
    """Which of how many variants this is, where there are several."""
    earlier: Callable[[], TokenTexts | None] = lambda: None
    """Of an answer that goes on with another one: the token texts of what it begins with, if they are known."""

    @property
    def text(self) -> str:
        return self.message.content if self.message else self.waiting

    @property
    def state(self) -> MessageState:
        return self.message.state if self.message else "writing"

    @property
    def doubts(self) -> tuple[str, ...]:
        """What tells that an answer is not as it was made. Of one that another instance is writing the figures may be
        newer than the text."""
        if self.figures is None or self.state == "writing" or self.figures.receipt() is None:
            return ()
        return doubts(self.figures, self.text)


class OpenChat:
    """One conversation, and what is done to it while it is on screen."""

    def __init__(self, store: ChatStore, *, fresh: bool = False, wanted: int | None = None) -> None:
        """The last chat, or a ``fresh`` one, or the ``wanted`` one: StoreError when there is none with this id."""
        self.store = store
        self.elsewhere = False
        """Whether the last chat was left to another instance, which has it open; a wanted one never is."""
        conversation = None if fresh or wanted is not None else store.last_conversation()
        if wanted is not None:
            conversation = store.conversation(wanted)
            if conversation is None:
                raise StoreError("This chat is not in the store any more.")
        if conversation is not None:
            if store.trouble is None:
                store.mark_open(conversation.id)
            self.elsewhere = store.open_elsewhere(conversation.id)
            if self.elsewhere and wanted is None:
                conversation = None
        self.conversation = conversation or store.create_conversation()
        self._path = list(store.path(self.conversation.id))
        self._attached = store.attachments(self.conversation.id)
        self._since: dict[int, str] = {}
        self._variants = store.variants(self.conversation.id)

    @property
    def title(self) -> str:
        return self.conversation.title

    def read_title(self) -> None:
        """It may have been renamed."""
        self._refresh()

    @property
    def empty(self) -> bool:
        return not self._path

    def __len__(self) -> int:
        return len(self._path)

    def turns(self, start: int, stop: int) -> list[Turn]:
        """The turns ``start`` to ``stop`` with their figures."""
        part = [message for message in self._path[max(0, start) : stop] if message.role != "system"]
        figures = self.store.figures(message.id for message in part if message.role == "assistant")
        return [self._turn(message, figures.get(message.id)) for message in part]

    def _turn(self, message: Message, figures: Figures | None = None) -> Turn:
        attached, variant = self._attached.get(message.id, ()), self._variants.get(message.id)
        turn = Turn(message, figures, attached=attached, since=self._since, variant=variant)
        turn.earlier = partial(self._earlier, turn)
        return turn

    def _earlier(self, turn: Turn) -> TokenTexts | None:
        proof = turn.figures.receipt() if turn.figures else None
        return earlier_of(self.store, turn.message.id, proof) if turn.message is not None and proof else None

    def position(self, message_id: int) -> int | None:
        """Where a message is on the path; None when it is on another branch."""
        return next((at for at, message in enumerate(self._path) if message.id == message_id), None)

    @property
    def leaf(self) -> int:
        """The last message's id. There must be one."""
        return self._path[-1].id

    @property
    def attached(self) -> tuple[Attachment, ...]:
        """Everything that is attached to the messages on screen."""
        return tuple(one for message in self._path for one in self._attached.get(message.id, ()))

    def note_since(self, since: Mapping[int, str]) -> None:
        """What has become of attached files; the turns know it from now on."""
        self._since.update(since)

    def save_settings(self, own: Mapping[str, object]) -> None:
        """Replace what this chat does otherwise than the defaults."""
        self.conversation = self.store.save_settings(self.conversation.id, own)

    def context_used(self) -> int:
        """Tokens that the conversation took at its last answer; 0 when nobody counted."""
        for message in reversed(self._path):
            if message.role == "assistant":
                figures = self.store.figures([message.id]).get(message.id)
                stats = figures.stats() if figures else None
                if stats is not None:
                    return stats.context_used
        return 0

    @property
    def written_elsewhere(self) -> bool:
        """Whether another instance is writing an answer of this chat. Not to be asked while we write one."""
        return any(message.state == "writing" for message in self._path)

    def read_again(self) -> bool:
        """Take what another instance has done to this chat; whether there was anything. Not while an answer is made."""
        path = list(self.store.path(self.conversation.id))
        was = [(message.id, message.state, message.content) for message in self._path]
        self._path = path
        self._attached = self.store.attachments(self.conversation.id)
        self._refresh()
        return was != [(message.id, message.state, message.content) for message in path]

    # --------------------------------------------------------------------------------------------- what is said

    def say(self, text: str, attached: Sequence[Attachment] = (), *, instead_of: Message | None = None) -> Turn:
        """Keep the user's message, behind the last one or as a variant of ``instead_of``, whose files it keeps
        where it names them still and none is attached anew; it is committed when this returns."""
        at = self.position(instead_of.id) if instead_of is not None else None
        if at is not None:
            attached = with_kept(text, attached, self._attached.get(self._path[at].id, ()))
            del self._path[at:]
        parent = self._path[-1].id if self._path else None
        message = self.store.append_user(self.conversation.id, text, parent=parent, attached=attached)
        self._path.append(message)
        if attached:
            self._attached = self.store.attachments(self.conversation.id)
        self._refresh()
        return self._turn(message)

    def take_back(self, turn: Turn) -> str:
        """The message was refused before any answer began: remove it, and hand its text back."""
        assert turn.message is not None
        text = self.store.remove_user(turn.message.id)
        self._path = [message for message in self._path if message.id != turn.message.id]
        self._refresh()
        return text

    def last_question(self) -> str:
        """The last thing the user said; empty when nothing was."""
        return next((message.content for message in reversed(self._path) if message.role == "user"), "")

    def prompt(self, system: str, *, question: bool = False) -> tuple[PromptMessage, ...]:
        """The conversation as it is sent. A message that got no answer joins the next one, because many templates
        refuse two user turns in a row. ``question``: only up to the last thing the user said."""
        last = max((place for place, message in enumerate(self._path) if message.role == "user"), default=-1)
        path = self._path[: last + 1] if question else self._path
        first = [PromptMessage(role="system", content=system)] if system.strip() else []
        return (*first, *(said for said, _ in self._sent(path)))

    def _sent(self, path: Sequence[Message]) -> list[tuple[PromptMessage, int]]:
        """What is sent of ``path`` behind the system prompt, each with the id of the message that it begins with."""
        sent: list[tuple[PromptMessage, int]] = []
        for message in path:
            if message.role == "system" or (message.role == "assistant" and not message.content.strip()):
                continue
            content = in_prompt(message.content, self._attached.get(message.id, ()))
            if sent and sent[-1][0].role == message.role:
                before, begins = sent.pop()
                sent.append((PromptMessage(role=message.role, content=f"{before.content}\n\n{content}"), begins))
            else:
                sent.append((PromptMessage(role=message.role, content=content), message.id))
        return sent

    def sent_from(self) -> int | None:
        """The oldest message that was sent for the last answer, where older ones had to be left out; None: none had."""
        answers = [at for at, message in enumerate(self._path) if message.role == "assistant"]
        for at in reversed(answers[-LATEST:]):  # those that were stopped before they began have no receipt
            figures = self.store.figures([self._path[at].id]).get(self._path[at].id)
            if (proof := figures.receipt() if figures else None) is not None:
                sent = self._sent(self._path[:at])[proof.dropped_messages :]
                return sent[0][1] if sent and proof.dropped_messages else None
        return None

    # ------------------------------------------------------------------------------------------------- branches

    def go_back_to(self, message_id: int) -> Turn | None:
        """Leave out what follows this message, for another answer to it; the store changes when that begins. None when
        the message is on another branch."""
        at = self.position(message_id)
        if at is None:
            return None
        del self._path[at + 1 :]
        return self._turn(self._path[-1])

    def show_branch(self, message_id: int) -> None:
        """Take the branch through this message, down to its newest descendant."""
        self._path = list(self.store.switch_leaf(message_id))
        self._refresh()

    # ----------------------------------------------------------------------------------------------- the answer

    def begin(self, turn: Turn) -> None:
        """The engine has taken the message: from now on there is an answer, even if it stays empty."""
        if turn.message is None:
            parent = self._path[-1].id
            turn.message = self.store.start_answer(self.conversation.id, parent=parent, text=turn.so_far)
            turn.earlier = partial(self._earlier, turn)
            self._path.append(turn.message)
            self._refresh()
            turn.variant = self._variants.get(turn.message.id)

    def checkpoint(self, turn: Turn, answer: Answer) -> None:
        """The answer so far, in case of a kill."""
        if turn.message is not None:
            new, figures = answer.unfinished.checkpoint(turn.message.id, answer.text, answer.stats, answer.so_far)
            self.store.checkpoint(turn.message.id, answer.so_far + new, figures)

    def end(self, turn: Turn, answer: Answer) -> None:
        """Keep the answer as it ended."""
        self.begin(turn)
        assert turn.message is not None
        if answer.failure is not None:
            figures = answer.unfinished.failed(turn.message.id, answer.text, answer.stats, answer.so_far)
            ended = self.store.fail_answer(turn.message.id, answer.failure.message, text=answer.whole, figures=figures)
        else:
            ended = self.store.finish_answer(turn.message.id, _finished(answer))
        turn.message = replace(ended, content=answer.whole)
        turn.figures = self.store.figures([ended.id]).get(ended.id)
        self._path[-1] = turn.message
        self._refresh()

    def _refresh(self) -> None:
        self.conversation = self.store.conversation(self.conversation.id) or self.conversation
        self._variants = self.store.variants(self.conversation.id)


def open_at(store: ChatStore, conversation_id: int, message_id: int | None = None) -> OpenChat:
    """The chat with this id, with the branch shown that ``message_id`` is in; StoreError when it is gone."""
    if message_id is not None and all(said.id != message_id for said in store.peek(conversation_id)):
        store.switch_leaf(message_id)
    return OpenChat(store, wanted=conversation_id)


def _finished(answer: Answer) -> Finished:
    """What is kept of an answer that ended: its whole text, and the figures of what is new."""
    finished = answer.finished or Finished(
        id=0,
        finish_reason="cancelled",
        text="",
        token_ids=(),
        sources="",
        stats=answer.stats or Stats(),
        receipt=None,
    )
    return answer.unfinished.filled_in(finished.model_copy(update={"text": answer.whole}), answer.text)
