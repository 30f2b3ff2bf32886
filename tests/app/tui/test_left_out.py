"""Where the oldest turns are left out, a line in the chat says so, above the first one that is still sent."""

from __future__ import annotations

from app.tui.widgets.selectable_turn import LEFT_OUT
from tests.app.tui.fake_client import answer, ends, receipt
from tests.app.tui.harness import chat, memory_store
from tests.app.tui.overflow import client


async def test_a_line_says_where_what_is_sent_begins_and_moves_with_it() -> None:
    left_out = [receipt().model_copy(update={"dropped_messages": number}) for number in (2, 4, 0)]
    engine = client(answer("Fine."), *(answer("Here.", proof=proof) for proof in left_out))
    async with chat(engine, size=(120, 50)) as it:

        def above(line: str) -> str:
            at = [row.strip() for row in it.lines].index(line)
            return it.lines[at - 2].strip()  # the name stands between

        await it.ask("one")
        assert LEFT_OUT not in it.shown
        await it.ask("two")
        await it.until(lambda: LEFT_OUT in above("two"))
        await it.ask("three")
        await it.until(lambda: LEFT_OUT in above("three"))
        assert it.shown.count(LEFT_OUT) == 1
        await it.ask("four")  # with a larger context, say
        await it.until(lambda: LEFT_OUT not in it.shown)


async def test_a_message_without_an_answer_is_sent_with_the_next_one_and_left_out_with_it() -> None:
    store = memory_store()
    number = store.create_conversation().id
    first = store.append_user(number, "never answered", parent=None)
    second = store.append_user(number, "one", parent=first.id)
    done = store.start_answer(number, parent=second.id)
    store.finish_answer(done.id, ends("Fine."))
    proof = receipt().model_copy(update={"dropped_messages": 2})
    async with chat(client(answer("Here.", proof=proof)), store=store, size=(120, 50)) as it:
        await it.ask("two")
        assert it.screen.chat.sent_from() == it.screen.chat.turns(3, 4)[0].message.id  # type: ignore[union-attr]
