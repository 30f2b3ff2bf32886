"""esc, at every moment."""

from __future__ import annotations

from textual import events

from engine.protocol import Loaded, Loading
from tests.app.tui.fake_client import FakeClient, Wait, answer, counts, pair, reads, says
from tests.app.tui.harness import chat


async def test_stop_keeps_the_text_and_the_next_message_is_answered() -> None:
    client = FakeClient([[reads(5, 5), *says("Once upon a"), counts(), Wait("never")], answer("Fine.")])
    async with chat(client) as it:
        await it.send("a story")
        await it.sees("Once upon a", "esc stop")
        await it.pilot.press("escape")
        await it.until(lambda: it.idle)
        await it.sees("Once upon a", "stopped", "tok/s")
        assert "esc stop" not in it.footer
        assert it.stored[-1] == ("assistant", "cancelled", "Once upon a")
        await it.ask("and now?")
        await it.sees("Fine.")
    assert client.at_once == 1


async def test_stop_keeps_what_was_typed_meanwhile() -> None:
    client = FakeClient([[*says("Once"), Wait("never")]])
    async with chat(client) as it:
        await it.send("a story")
        await it.sees("Once")
        await it.pilot.press(*"next")
        await it.pilot.press("escape")
        await it.until(lambda: it.idle)
        assert it.composer.text == "next"


async def test_stop_while_the_prompt_is_read() -> None:
    client = FakeClient([[reads(64, 9000), Wait("never")]])
    async with chat(client) as it:
        await it.send("long")
        await it.sees("reading 64/9,000")
        await it.pilot.press("escape")
        await it.until(lambda: it.idle)
        await it.sees("stopped before the answer began")


async def test_a_message_sent_while_loading_waits_visibly_and_is_answered() -> None:
    loads = [[Loading(id=0, what="target", fraction=0.4), Wait("loaded"), Loaded(id=0, pair=pair())]]
    client = FakeClient([answer("Here.")], loads=loads)
    async with chat(client, loaded=False) as it:
        await it.sees("loading SmolLM2-135M Q4_1  40 %")
        await it.pilot.press(*"hi", "enter")
        await it.until(lambda: it.questions == ["hi"])
        assert it.shown.count("loading SmolLM2-135M Q4_1  40 %") == 2, "in the header and beside the waiting answer"
        assert client.asked == []
        client.go("loaded")
        await it.sees("Here.", "tok/s")


async def test_stop_cancels_a_message_that_waits_for_the_model() -> None:
    loads = [[Loading(id=0, what="target", fraction=0.4), Wait("loaded"), Loaded(id=0, pair=pair())]]
    client = FakeClient([answer("Later.")], loads=loads)
    async with chat(client, loaded=False) as it:
        await it.send("hi")
        await it.until(lambda: not it.idle)
        await it.pilot.press("escape")
        await it.until(lambda: it.idle)
        await it.sees("stopped before the answer began")
        client.go("loaded")
        await it.until(lambda: it.screen.answering.state.pair is not None)
        await it.pilot.pause(0.05)
        assert client.asked == [], "no answer appears later by itself"
        await it.ask("now")
        assert [m.content for m in client.asked[0].messages] == ["hi\n\nnow"], "said once, lost nothing"


async def test_a_hundred_stops() -> None:
    scripts = [[reads(3, 3), *says("one two three", size=1 + n % 5), Wait(f"never{n}")] for n in range(25)]
    client = FakeClient([*scripts, answer("Alive.")])
    async with chat(client) as it:
        for n in range(25):
            await it.send(f"go {n}")
            await it.until(lambda: not it.idle)
            await it.pilot.pause(0.001 * (n % 7))
            await it.pilot.press("escape")
            await it.until(lambda: it.idle, f"the end of answer {n}")
        await it.ask("still there?")
        await it.sees("Alive.")
        assert [role for role, _, _ in it.stored] == ["user", "assistant"] * 26
    assert client.at_once == 1


async def test_esc_does_nothing_without_an_answer() -> None:
    client = FakeClient()
    async with chat(client) as it:
        await it.pilot.press("escape")
        assert client.cancels == 0
        assert it.app.is_running


async def test_a_stream_that_ends_before_its_first_step_does_not_take_the_screen_along() -> None:
    from app.tui.widgets.live_markdown import LiveMarkdown

    async with chat(FakeClient([answer("ok")])) as it:
        await it.ask("go")
        body = LiveMarkdown(live=True)
        await it.transcript.mount(body)
        feeding = body.feed("text")
        feeding.send(None)  # the stream's task exists and has not run
        await body.complete("text and more")
        assert body.source == "text and more"
        feeding.close()


class SlowToStop(FakeClient):
    """The cancel arrives only when the test says so."""

    async def cancel(self) -> None:
        if self._gate("stop").is_set():
            await super().cancel()


async def test_a_message_sent_while_stopping_waits_visibly_and_goes_out() -> None:
    client = SlowToStop([[reads(5, 5), *says("Once upon"), Wait("never")], answer("Fine.")])
    async with chat(client) as it:
        await it.send("a story")
        await it.sees("Once upon", "esc stop")
        await it.pilot.press("escape")
        await it.sees("stopping…")
        assert "esc stop" not in it.footer
        await it.send("something")
        await it.send("else")
        await it.sees("waiting…")
        assert it.questions == ["a story", "something\n\nelse"]
        assert it.composer.text == ""
        client.go("stop")
        await it.sees("Fine.")
        await it.until(lambda: it.idle)
        assert it.questions == ["a story", "something\n\nelse"]
        assert "waiting…" not in it.shown
    assert client.at_once == 1
    assert client.asked[1].messages[-1].content == "something\n\nelse"


async def test_a_message_that_waits_is_kept_when_the_app_ends() -> None:
    client = SlowToStop([[reads(5, 5), *says("Once upon"), Wait("never")]])
    async with chat(client) as it:
        await it.send("a story")
        await it.sees("Once upon")
        await it.pilot.press("escape")
        await it.send("do not lose me")
        await it.sees("waiting…")
        it.screen.leave()
        assert it.stored[-2:] == [("assistant", "cancelled", "Once upon"), ("user", "complete", "do not lose me")]
        client.go("stop")


async def test_esc_text_and_enter_in_quick_succession_stop_and_send() -> None:
    """Keys that are queued before the first of them was handled: esc must not be overtaken by the enter behind it."""
    client = FakeClient([[*says("Slow"), Wait("never")], answer("Two.")])
    async with chat(client) as it:
        await it.send("go")
        await it.sees("Slow")
        for key in ("escape", *"next", "enter"):
            character = None if len(key) > 1 else key
            it.pilot.app.post_message(events.Key(key, character))
        await it.until(lambda: len(client.asked) == 2 and it.idle)
        await it.sees("Two.")
        assert it.composer.text == ""
        assert client.asked[-1].messages[-1].content.endswith("next")
