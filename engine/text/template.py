"""The model file's own chat template, and what happens when it is missing, broken, hostile or picky.

A conversation is always rendered: by the file's template as it is, by the same template after a change to the
conversation that it insists on, or by a named fallback. Whatever was not plainly the file's own template on the
conversation as it was said stands in the notes, which go into the answer's receipt.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import monotonic

from engine.protocol import Message, TemplateInfo
from engine.text import fallbacks
from engine.text.controls import Controls, Guarded, Segment
from engine.text.conversation import alternating, folded, has_system, one_system_first
from engine.text.sandbox import Sandbox, TemplateProblem
from engine.text.thinking import ThinkingStyle, find_style
from engine.text.thoughts import ends_open, spoken

log = logging.getLogger(__name__)

NO_TEMPLATE = "this file has no chat template"
NOTE_SYSTEM_FIRST = "later system messages were joined to the first one"
NOTE_FOLDED = "the chat template has no system role; the system text was put in front of the first user message"
NOTE_ALTERNATING = "the chat template wants alternating roles; neighbouring messages of one role were joined"

_PROBE = "slipstream-probe"
_UNPRINTABLE = re.compile(r"[^\x20-\x7e\xa0-\U0010ffff]+")


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt. ``segments`` say where control tokens may be recognised; ``stop`` are strings a fallback needs;
    ``starts_in_thought``: it ends with an open thinking block, written by the template."""

    segments: tuple[Segment, ...]
    info: TemplateInfo
    stop: tuple[str, ...] = ()
    starts_in_thought: bool = False

    @property
    def text(self) -> str:
        """The whole prompt as one string, for people: tokenize :attr:`segments` instead."""
        return "".join(segment.text for segment in self.segments)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done otherwise than asked, and why."""
        return self.info.notes


class ChatTemplate:
    """Renders conversations for one model.

    ``template``: the file's own, None when it has none. ``bos`` and ``eos``: texts of the start and end tokens,
    empty where there are none. ``controls``: the texts of all control tokens; they choose the fallback, and inside
    messages they stay text. ``clock`` serves templates that write today's date.
    """

    def __init__(
        self,
        template: str | None,
        *,
        bos: str = "",
        eos: str = "",
        controls: Iterable[str] = (),
        sandbox: Sandbox | None = None,
        clock: Callable[[], datetime] = datetime.now,
    ) -> None:
        self._template = _clean(template) if template and template.strip() else None
        self._bos, self._eos, self._clock = _clean(bos), _clean(eos), clock
        self._controls = Controls(controls)
        self._fallback = fallbacks.choose(self._controls.texts)
        self._sandbox = sandbox or Sandbox()
        self._info: TemplateInfo | None = None
        self._style: ThinkingStyle | None = None
        self._started: float | None = None
        """When the present rendering first asked the sandbox, on the monotonic clock."""

    def render(self, messages: Sequence[Message], thinking: bool | None = None) -> Rendered:
        """The prompt that asks for the next answer. Takes at most twice the sandbox's time limit, and its start.
        ``thinking``: whether the answer is to begin with it; None: as the template has it."""
        said = [Message(role=message.role, content=_clean(message.content)) for message in messages]
        tidy = one_system_first(said)
        notes = () if tidy == said else (NOTE_SYSTEM_FIRST,)
        if self._template is None:
            return self._fall_back(tidy, notes, NO_TEMPLATE, thinking)
        problem = TemplateProblem("runtime")
        self._started = None
        style = self._thinking_style(self._template)
        tidy = self._without_hidden_thoughts(tidy, style)
        for variant, changes in _variants(tidy):
            try:
                segments = self._own(self._template, variant, style.variables(thinking))
                opens = self._opens_thought(self._template, variant, segments, style, thinking)
            except TemplateProblem as error:
                problem = error
                if error.kind not in ("raised", "runtime", "ignored"):
                    break
            else:
                sha256 = hashlib.sha256(self._template.encode()).hexdigest()
                info = _describe("model", sha256, (*notes, *changes, *style.notes(thinking)), style)
                return Rendered(segments, info, starts_in_thought=opens)
        log.warning("chat template not used: %s (line %s): %.500r", problem.kind, problem.line, problem.message)
        return self._fall_back(tidy, notes, self._cause(problem), thinking)

    def info(self) -> TemplateInfo:
        """Which template serves a plain conversation: ``model``, or the fallback's name and, in the notes, why."""
        if self._info is None:
            self._info = self.render([Message(role="user", content="Hello")]).info
        return self._info

    def close(self) -> None:
        """End the helper process. Rendering again starts a new one."""
        self._sandbox.close()

    def _thinking_style(self, template: str) -> ThinkingStyle:
        """How the model thinks, found out once. A template that counts seconds must not look like one that thinks, so
        the clock stands still."""
        if self._style is None:
            hello, now = [Message(role="user", content=_PROBE)], self._clock()
            self._style = find_style(
                template, lambda variables: self._ask(template, hello, [_PROBE], variables=variables, now=now)
            )
        return self._style

    def _without_hidden_thoughts(self, messages: list[Message], style: ThinkingStyle) -> list[Message]:
        """Templates leave out the thoughts of earlier answers themselves, by their markers. Where markers are control
        tokens the template cannot see them, since contents are guarded; then that is done here."""
        hidden = [pair for pair in style.markers if self._controls.find(pair.open) or self._controls.find(pair.close)]
        return [
            Message(role=message.role, content=spoken(message.content, hidden))
            if message.role == "assistant" and hidden
            else message
            for message in messages
        ]

    def _opens_thought(
        self,
        template: str,
        messages: Sequence[Message],
        segments: Sequence[Segment],
        style: ThinkingStyle,
        thinking: bool | None,
    ) -> bool:
        """Whether the template ends the prompt with an open thinking block."""
        text = "".join(segment.text for segment in segments)
        if not messages or not ends_open(text, style.markers):
            return False
        if not ends_open(messages[-1].content, style.markers):
            return True
        # The marker may be the user's own words, where nothing follows them: ask with others.
        contents = [*(message.content for message in messages[:-1]), _PROBE]
        try:
            text = self._ask(template, messages, contents, variables=style.variables(thinking))
        except TemplateProblem:
            return False
        return ends_open(text, style.markers)

    def _own(self, template: str, messages: Sequence[Message], variables: Mapping[str, object]) -> tuple[Segment, ...]:
        """The file's template on exactly these messages. Raises TemplateProblem, ``ignored`` if it drops one."""
        guarded = self._controls.guard([message.content for message in messages])
        ask = functools.partial(self._ask, template, messages, variables=variables)
        text = ask(guarded.contents)
        for index in _must_appear(messages):
            content = guarded.contents[index].strip()
            if content and (len(content) < len(_PROBE) or content not in text):
                # Dropped, changed on purpose, or so short that it may be found by chance: ask with an unlikely word.
                probe = [*guarded.contents[:index], _PROBE, *guarded.contents[index + 1 :]]
                if _PROBE in ask(probe):
                    continue
                if _PROBE not in ask(probe, parts=True):
                    raise TemplateProblem("ignored", messages[index].role)
                text = ask(guarded.contents, parts=True)
        return guarded.split(text)

    def _ask(
        self,
        template: str,
        messages: Sequence[Message],
        contents: Sequence[str],
        *,
        parts: bool = False,
        variables: Mapping[str, object],
        now: datetime | None = None,
    ) -> str:
        """Render in the sandbox. ``parts``: contents as lists of typed parts, the only form some templates read.
        ``variables``: what the template is told besides. ``now``: None asks the clock."""
        self._sandbox.start()
        moment = monotonic()
        self._started = self._started or moment
        if moment - self._started > self._sandbox.time_limit:
            raise TemplateProblem("timeout")  # several attempts may not take several times as long
        turns = [
            {"role": message.role, "content": [{"type": "text", "text": content}] if parts else content}
            for message, content in zip(messages, contents, strict=True)
        ]
        return _clean(self._sandbox.render(template, turns, self._bos, self._eos, now or self._clock(), variables))

    def _fall_back(
        self, messages: Sequence[Message], notes: tuple[str, ...], cause: str, thinking: bool | None
    ) -> Rendered:
        form = self._fallback
        style = (self._style or ThinkingStyle()).without_switch()
        notes = (*notes, f"{cause}; fallback: {form.name}", *style.notes(thinking))
        if form.system is None and has_system(messages):
            messages, notes = folded(messages), (*notes, NOTE_FOLDED)
        guarded = Guarded(self._controls, [message.content for message in messages])
        turns = [(message.role, content) for message, content in zip(messages, guarded.contents, strict=True)]
        info = _describe(form.name, form.sha256, notes, style)
        return Rendered(guarded.split(form.render(turns, self._eos)), info, form.stop)

    def _cause(self, problem: TemplateProblem) -> str:
        """The problem in words. What the template says about itself is untrusted: one short printable line of it."""
        said = _UNPRINTABLE.sub(" ", problem.message).strip()[:160]
        place = f"line {problem.line}" if problem.line else "line unknown"
        words = {
            "syntax": f"cannot be read ({place}: {said})",
            "missing": f"needs '{said}', which does not exist here ({place})",
            "raised": f"refused this conversation ({said})",
            "runtime": f"failed ({place}: {said})",
            "unsafe": f"tried something forbidden ({place}: {said})",
            "ignored": f"leaves out what the {said} says",
            "timeout": f"did not finish within {self._sandbox.time_limit:g} s",
            "memory": "needed too much memory",
            "too_long": "wrote more text than any prompt can hold",
            "crashed": f"took its process down ({said})",
            "start": f"could not be rendered, its process did not start ({said})",
        }
        return f"the file's chat template {words[problem.kind]}"


def _describe(name: str, sha256: str, notes: tuple[str, ...], style: ThinkingStyle) -> TemplateInfo:
    return TemplateInfo(name=name, sha256=sha256, notes=notes, thinking=style.kind, markers=style.markers)


def _must_appear(messages: Sequence[Message]) -> set[int]:
    """Places of the messages without which an answer makes no sense: the system message and the last question."""
    users = [index for index, message in enumerate(messages) if message.role == "user"]
    return {*users[-1:], *([0] if has_system(messages) else [])}


def _variants(messages: list[Message]) -> Iterator[tuple[list[Message], tuple[str, ...]]]:
    """The conversation as it is, then with ever more of the changes that picky templates insist on."""
    yield messages, ()
    joined = alternating(messages)
    if joined != messages:
        yield joined, (NOTE_ALTERNATING,)
    if has_system(messages):
        without = folded(messages)
        yield without, (NOTE_FOLDED,)
        joined = alternating(without)
        if joined != without:
            yield joined, (NOTE_FOLDED, NOTE_ALTERNATING)


def _clean(text: str) -> str:
    """Lone surrogates, which UTF-8 cannot carry, become replacement marks."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)
