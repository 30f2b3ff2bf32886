"""A message, its answer, and the figures under it."""

from __future__ import annotations

import pytest

from engine.protocol import GenerateSettings, Loaded, Loading
from tests.app.tui.fake_client import (
    FakeClient,
    Wait,
    answer,
    counts,
    ends,
    pair,
    reads,
    receipt,
    says,
    stats,
)
from tests.app.tui.harness import chat


async def test_an_answer_streams_and_ends_with_its_receipt() -> None:
    text = "The **longest** river is the Volga."
    client = FakeClient(
        [[reads(31, 31), *says(text), counts(stats(12, accepted=4, rejected=4)), Wait("end"), ends(text)]]
    )
    async with chat(client) as it:
        await it.send("Which river is longest?")
        await it.sees("you", "Which river is longest?", "SmolLM2-135M", "The longest river is the Volga.", "writing…")
        await it.sees("38.7 tok/s", "50 %", "(4/8)", "12 tok", "lookup")
        live_row = next(y for y, line in enumerate(it.lines) if "tok/s" in line)
        client.go("end")
        await it.until(lambda: it.idle)
        await it.sees("64 %", "(18/28)", "47 tok", "first", "0.3 s", "1.6/pass", "ctx   78/8k")
        assert "writing…" not in it.shown
        assert "tok/s" in it.lines[live_row], "the receipt keeps its place"


async def test_figures_stand_in_the_same_columns_while_they_grow() -> None:
    small, large = stats(9, accepted=1, rejected=1), stats(1234, accepted=700, rejected=99)
    client = FakeClient([[*says("x"), counts(small), Wait("more"), counts(large), Wait("end"), ends("x")]])
    async with chat(client) as it:
        await it.send("go")
        await it.sees("(1/2)")
        before = next(line for line in it.lines if "tok/s" in line)
        client.go("more")
        await it.sees("(700/799)")
        after = next(line for line in it.lines if "tok/s" in line)
        for word in ("tok/s", "accepted", "/pass", "first", " tok ", "ctx", "lookup"):
            assert before.index(word) == after.index(word)
        client.go("end")


async def test_reading_the_prompt_is_shown_with_both_numbers() -> None:
    client = FakeClient([[reads(512, 2048), Wait("go"), *answer("ok")]])
    async with chat(client) as it:
        await it.send("long")
        await it.sees("reading 512/2,048")
        client.go("go")
        await it.until(lambda: it.idle)


async def test_plain_decoding_says_so_and_counts_nothing_as_accepted() -> None:
    plain = stats(20, accepted=0, rejected=0)
    client = FakeClient([answer("ok", figures=plain, proof=receipt("none"))])
    async with chat(client) as it:
        await it.ask("go")
        await it.sees("accepted   –", "plain")
        assert "0 %" not in it.shown


async def test_a_refused_draft_is_named_under_the_answer_with_its_reason() -> None:
    reason = "vocabulary differs at id 1204"
    client = FakeClient([answer("ok", proof=receipt("none", refused=reason))])
    async with chat(client) as it:
        await it.ask("go")
        await it.sees("plain: draft refused, vocabulary differs at id 1204")


async def test_everything_done_otherwise_than_asked_is_said() -> None:
    client = FakeClient([answer("ok", proof=receipt(notes=("context lowered to 2,048: memory",)))])
    async with chat(client) as it:
        await it.ask("go")
        await it.sees("context lowered to 2,048: memory")


async def test_the_limit_that_cut_an_answer_is_said() -> None:
    limited = receipt().model_copy(update={"settings": GenerateSettings(messages=(), max_tokens=12)})
    client = FakeClient([answer("half", reason="length"), answer("half", reason="length", proof=limited)])
    async with chat(client) as it:
        await it.ask("go")
        await it.sees("half", "cut off: the end of the context was reached")
        await it.ask("go")
        await it.sees("cut off: the token limit of 12 was reached")


async def test_slower_than_plain_is_said() -> None:
    client = FakeClient([answer("ok", figures=stats(speedup=0.8))])
    async with chat(client, size=(130, 40)) as it:
        await it.ask("go")
        await it.sees("0.80x", "slower here")


async def test_narrow_terminals_get_the_short_receipt() -> None:
    async with chat(FakeClient([answer("ok")]), size=(80, 24)) as it:
        await it.ask("go")
        await it.sees("39 tok/s · 64 % · 1.6/pass · lookup")
        assert "SmolLM2-135M Q4_1" not in it.lines[0]
        assert "ctx 78/8k" in it.lines[0]


async def test_the_header_names_pair_badge_and_context() -> None:
    async with chat(FakeClient([answer("ok")]), size=(120, 40)) as it:
        await it.ask("Rivers")
        await it.sees("SmolLM2-135M Q4_1 + lookup · CPU · exact settings, untested · ctx 78/8k")
        assert "Rivers" in it.lines[0]


async def test_turns_are_sent_with_the_system_prompt_and_in_order() -> None:
    client = FakeClient([answer("One."), answer("Two.")])
    async with chat(client, system="Be brief.") as it:
        await it.ask("first")
        await it.ask("second")
    assert [(m.role, m.content) for m in client.asked[1].messages] == [
        ("system", "Be brief."),
        ("user", "first"),
        ("assistant", "One."),
        ("user", "second"),
    ]


async def test_code_survives_the_end_of_the_stream_a_resize_and_a_theme_change() -> None:
    text = "Look:\n\n```python\nprint('hello')\n```\n"
    async with chat(FakeClient([answer(text)])) as it:
        await it.ask("code")
        await it.sees("print('hello')")
        it.app.action_switch_colours()
        await it.sees("print('hello')")
        await it.pilot.resize_terminal(90, 30)
        await it.sees("print('hello')")


@pytest.mark.parametrize("tail", ["```python\nlast_line = 1", "- item\n  - inner", "| a | b |\n|---|---|\n| 1 | tail"])
async def test_an_answer_that_stops_inside_a_block_loses_nothing(tail: str) -> None:
    text = f"Before.\n\n{tail}"
    client = FakeClient([[reads(1, 1), *says(text, size=3), Wait("never")]])
    async with chat(client) as it:
        await it.send("go")
        await it.sees("Before.")
        await it.until(lambda: it.screen.dialogue.live is not None and it.screen.dialogue.live.answer.text == text)
        await it.pilot.press("escape")
        await it.until(lambda: it.idle)
        await it.sees(text.split()[-1].strip("|"), "stopped")
        assert it.answers[0].turn.text == text


async def test_a_message_while_an_answer_runs_is_refused_and_kept() -> None:
    client = FakeClient([[*says("Slow"), Wait("end"), ends("Slow")]])
    async with chat(client) as it:
        await it.send("one")
        await it.sees("Slow")
        await it.send("two")
        await it.sees("One answer at a time: your text waits here. esc stops the running answer.")
        assert it.composer.text == "two"
        client.go("end")
        await it.until(lambda: it.idle)
        assert it.questions == ["one"]
        await it.pilot.press("enter")
        await it.until(lambda: it.idle and len(it.answers) == 2)
        assert it.questions == ["one", "two"]
    assert client.at_once == 1


async def test_enter_twice_sends_once() -> None:
    client = FakeClient([answer("ok")])
    async with chat(client) as it:
        it.composer.text = "hello"
        await it.pilot.press("enter", "enter")
        await it.until(lambda: it.idle and len(it.answers) == 1)
        assert it.questions == ["hello"]
        assert len(client.asked) == 1


async def test_blank_messages_are_not_sent() -> None:
    async with chat() as it:
        await it.send("  \n ")
        assert it.questions == []


async def test_a_draft_is_named_in_header_and_switch() -> None:
    draft = pair().target.model_copy(update={"path": "/m/Qwen3-0.6B-Q8_0.gguf"})
    client = FakeClient(loads=[[Loading(id=0, what="target", fraction=0.1)]])
    async with chat(client, size=(120, 40)) as it:
        it.screen.answering.state.pair = pair(draft=draft)
        it.screen.engine_changed()
        await it.sees("SmolLM2-135M Q4_1 + Qwen3-0.6B Q8_0", "auto › lookup, draft")


async def test_the_hint_about_one_answer_at_a_time_goes_with_the_answer() -> None:
    client = FakeClient([[*says("Slow"), Wait("end"), ends("Slow")]])
    async with chat(client) as it:
        await it.send("one")
        await it.sees("Slow")
        await it.send("two")
        await it.sees("One answer at a time")
        client.go("end")
        await it.until(lambda: it.idle)
        assert it.notice == ""
        assert it.composer.text == "two"


async def test_a_hundred_columns_show_model_badge_context_and_the_whole_receipt() -> None:
    async with chat(FakeClient([answer("ok")]), size=(100, 30)) as it:
        await it.ask("Rivers of Europe")
        await it.sees("SmolLM2-135M Q4_1 + lookup · CPU · untested · ctx 78/8k", "accepted  64 %", "1.6/pass")
        assert "Rivers" in it.lines[0]
    async with chat(FakeClient([answer("ok", proof=receipt("lookup+draft"))]), size=(100, 30)) as it:
        await it.ask("Rivers")
        await it.sees("accepted  64 %", "lookup+draft")


async def test_a_full_context_is_said_once_and_the_meter_ends_at_its_size() -> None:
    full = "the context of 256 tokens is full"
    figures = stats(226, prompt=31)
    client = FakeClient(
        [answer("half", reason="length", figures=figures, proof=receipt(notes=(full,)))],
        loads=[[Loaded(id=0, pair=pair(context=256))]],
    )
    async with chat(client) as it:
        await it.ask("go")
        words = f"The answer ends here because {full}. /context makes room, then /continue goes on."
        await it.sees(words, "ctx 256/256")
        assert it.words.count("is full") == 1
        assert "cut off" not in it.shown


async def test_a_stopped_prefill_counts_what_was_read() -> None:
    client = FakeClient([[reads(64, 9000), Wait("never")]])
    async with chat(client) as it:
        await it.send("long")
        await it.sees("reading 64/9,000")
        await it.pilot.press("escape")
        await it.until(lambda: it.idle)
        await it.sees("ctx 64/8k")
        assert it.words.count("ctx 64/8k") == 2, "in the figures of the answer as in the header"
