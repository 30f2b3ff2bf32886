"""Earlier messages of the user, brought back into the composer one by one; what stood there is kept at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from app.chats.records import Unsent
from app.tui.widgets.composer import Composer


class Recall:
    """Walks through what was said, newest first and each text once. ``said`` is asked when a walk begins."""

    def __init__(self, composer: Composer, said: Callable[[], Iterable[str]]) -> None:
        self._composer = composer
        self._said = said
        self._rest: Iterator[str] = iter(())
        self._seen: list[str] = []
        """The texts so far; the first step back shows the first one."""
        self._step = 0
        self._left: dict[int, Unsent] = {}
        """What was left at a step: the unsent text at step 0, and what was changed in a text that was brought back."""

    @property
    def unsent(self) -> Unsent:
        """What the user has written and not sent, also while an earlier message is looked at."""
        now = self._composer.unsent()
        if not self._step:
            return now
        before = self._left.get(0, Unsent())
        return before if now.text == self._seen[self._step - 1] else before.above(now)

    def older(self) -> bool:
        """One step back; False where there is nothing older."""
        if not self._seen:
            self._rest = iter(self._said())
            self._left = {0: self._composer.unsent()}
        if self._step == len(self._seen):
            text = self._next()
            if text is None:
                return False
            self._seen.append(text)
        self._go(self._step + 1)
        self._composer.move_cursor((0, len(self._composer.document.get_line(0))))
        return True

    def newer(self) -> bool:
        """One step towards the unsent text; False when that is what stands there."""
        if self._step == 0:
            return False
        self._go(self._step - 1)
        self._composer.move_cursor(self._composer.document.end)
        return True

    def end(self) -> Unsent:
        """What stands in the composer is what counts now; the next step back begins a new walk. Returns what had been
        written before an earlier message was put in its place: nothing, when none stands there."""
        before = self._left.get(0, Unsent()) if self._step else Unsent()
        self._step, self._seen, self._left = 0, [], {}
        self._rest = iter(())
        return before

    def _next(self) -> str | None:
        known = {*self._seen, self._left[0].text}
        return next((text for text in self._rest if text not in known), None)

    def _go(self, step: int) -> None:
        now = self._composer.unsent()
        if self._step == 0 or now.text != self._seen[self._step - 1]:
            self._left[self._step] = now
        else:
            self._left.pop(self._step, None)
        self._step = step
        kept = self._left.get(step)
        if kept is not None:
            self._composer.restore(kept)
        else:
            self._composer.text = self._seen[step - 1]
