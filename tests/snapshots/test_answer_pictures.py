"""Pictures of what belongs to an answer: the receipt line, the receipt, the X-ray, thoughts, wide tables and code."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from itertools import count
from typing import Any

import pytest
from textual.pilot import Pilot

from app.chats.store import open_chats
from app.tui.app import SlipstreamApp
from app.tui.screens.receipt import ReceiptScreen
from app.tui.widgets.receipt_line import ReceiptLine
from tests.app.tui.fake_client import LOAD, FakeClient, Wait, answer, counts, reads, says, stats
from tests.app.tui.harness import Chat
from tests.app.tui.samples import PACE, full_receipt, full_stats, spelled, streamed

Look = Callable[[Chat], Awaitable[None]]
EVERYWHERE = [("dark", (80, 24)), ("dark", (120, 40)), ("dark", (200, 60)), ("light", (120, 40))]
USUAL = [("dark", (80, 24)), ("dark", (120, 40)), ("light", (120, 40))]

RIVERS = (
    ("Three", "t"), (" rivers", "l"), (" in", "l"), (" Europe", "l"), (":\n\n", "c"), ("1.", "t"), (" **D", "t"),
    ("anube", "d"), ("** passes", "d"), (" through", "d"), (" ten", "c"), (" countries", "l"), (", more", "l"),
    (" than", "b"),
    (" any", "d"), (" other river.\n", "d"), ("2.", "d"), (" **R", "c"), ("hine", "d"), ("** runs", "d"),
    (" from", "b"), (" the", "d"), (" Alps", "d"), (" to", "d"), (" the", "d"), (" North", "d"), (" Sea", "b"),
    (".\n\n", "t"), ("```python\n", "t"), ("def", "l"), (" longest", "l"), ("(rivers)", "c"), (":\n    return", "l"),
    (" max", "d"),
    ("(rivers, key=rivers.get)", "d"), ("\n```\n\n", "b"), ("| river | km |\n|---|---|\n", "l"), ("| Danube | ", "l"),
    ("2,850", "c"), (" |\n", "t"),
)  # fmt: skip
THINKING = (
    ("<think>", "t"), ("\n", "t"), ("The user asks for", "t"), (" rivers in Europe.", "l"),
    (" I should name three of them,", "d"), (" and say one thing about each.", "d"), ("\nDanube: ten countries.", "t"),
    (" Rhine: Alps to the North Sea.", "l"), ("\n", "t"), ("</think>", "c"), ("\n\n", "t"),
)  # fmt: skip
WIDE = """| river | source | mouth | length in km | countries on its way |
|---|---|---|---:|---|
| Danube | Black Forest, near Donaueschingen | Black Sea, by a large delta | 2,850 | ten, more than any other river |
| Volga | Valdai Hills, north-west of Moscow | Caspian Sea | 3,530 | one |

```python
LONGEST = sorted({"Danube": 2850, "Volga": 3530, "Rhine": 1233}.items(), key=lambda river: river[1])[-1][0].capitalize()
print(LONGEST)
```

A_word_without_a_place_to_break_it_that_is_longer_than_the_terminal_is_wide_and_goes_on_for_quite_a_while.
"""


@pytest.fixture(params=USUAL, ids=lambda look: f"{look[0]}-{look[1][0]}x{look[1][1]}")
def look_of(request: pytest.FixtureRequest) -> tuple[str, tuple[int, int]]:
    chosen: tuple[str, tuple[int, int]] = request.param
    return chosen


everywhere = pytest.mark.parametrize(
    "look_of", EVERYWHERE, ids=lambda look: f"{look[0]}-{look[1][0]}x{look[1][1]}", indirect=True
)


@pytest.fixture
def picture(snap_compare: Any, look_of: tuple[str, tuple[int, int]]) -> Callable[..., bool]:
    def take(client: FakeClient, look: Look) -> bool:
        theme, size = look_of
        app = SlipstreamApp(client, LOAD, open_chats(None, lambda notice: None), theme=f"slipstream-{theme}")

        async def run_before(pilot: Pilot[None]) -> None:
            it = Chat(app, pilot, client)
            await it.until(lambda: it.screen.answering.state.pair is not None, "the model")
            await look(it)
            await it.settle()

        return bool(snap_compare(app, terminal_size=size, run_before=run_before))

    return take


def rivers() -> FakeClient:
    return FakeClient([streamed(spelled(*RIVERS))])


async def ask(it: Chat) -> None:
    await it.ask("Name two rivers in Europe and say one thing about each.")


@pytest.fixture
def numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same numbers every time, as long as the usual ones."""
    monkeypatch.setattr("app.chats.tree.new_id", partial(next, count(1_883_330_274_253_424_748)))


@everywhere
@pytest.mark.usefixtures("numbered")
def test_receipt(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await ask(it)
        it.screen.action_receipt()
        await it.until(lambda: isinstance(it.app.screen, ReceiptScreen))

    assert picture(FakeClient([answer("The Volga.", figures=full_stats(), proof=full_receipt())]), look)


@pytest.mark.parametrize("look_of", [("dark", (80, 24))], ids=["dark-80x24"], indirect=True)
@pytest.mark.usefixtures("numbered")
def test_receipt_further_down(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await ask(it)
        it.screen.action_receipt()
        await it.until(lambda: isinstance(it.app.screen, ReceiptScreen))
        await it.pilot.press(*["pagedown"] * 3)

    assert picture(FakeClient([answer("The Volga.", figures=full_stats(), proof=full_receipt())]), look)


@everywhere
def test_sparkline_stored_and_live(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await ask(it)
        await it.screen.show_chat()
        await it.send("And the longest one?")
        await it.sees("Moscow", "tok/s")
        await it.until(lambda: it.shown.count("/pass") == 2)

    going_on = full_stats(output_tokens=47, accepted=18, rejected=10, pace=PACE[:9], prompt_tokens=1931, speedup=None)
    words = "The longest river in Europe is the Volga. It rises north-west of Moscow"
    finished = spelled(*RIVERS, figures=full_stats())
    client = FakeClient(
        [streamed(finished), [reads(9, 9), *says(words), counts(going_on, "lookup+draft"), Wait("never")]]
    )
    assert picture(client, look)


def test_xray(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await ask(it)
        await it.pilot.press("f4")
        await it.sees("x-ray")

    assert picture(rivers(), look)


@pytest.mark.parametrize("look_of", [("dark", (120, 40))], ids=["dark-120x40"], indirect=True)
def test_xray_of_an_older_answer(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await ask(it)
        await it.pilot.press("f4")
        await it.sees("no X-ray")

    assert picture(FakeClient([answer("The Volga.")]), look)


def test_thinking(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await it.send("Name two rivers in Europe.")
        await it.sees("thinking…", "North Sea")

    steps = streamed(spelled(*THINKING, *RIVERS))
    assert picture(FakeClient([[*steps[:9], counts(stats(9, accepted=4, rejected=2)), Wait("never")]]), look)


def test_thought_folded(picture: Callable[..., bool]) -> None:
    assert picture(FakeClient([streamed(spelled(*THINKING, *RIVERS))]), ask)


def test_thought_unfolded(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await ask(it)
        it.screen.action_thoughts()
        it.transcript.go("home")
        await it.sees("I should name three")

    assert picture(FakeClient([streamed(spelled(*THINKING, *RIVERS))]), look)


def test_wide_table_and_long_lines(picture: Callable[..., bool]) -> None:
    assert picture(FakeClient([answer(WIDE, figures=stats(480))]), ask)


@pytest.mark.parametrize("look_of", [("dark", (120, 40))], ids=["dark-120x40"], indirect=True)
def test_tool_tip(picture: Callable[..., bool]) -> None:
    async def look(it: Chat) -> None:
        await ask(it)
        line = it.screen.query_one(ReceiptLine)
        at = next(shown for shown in it.lines if "tok/s" in shown).index("accepted")
        await it.pilot.hover(offset=(at + 3, line.region.y))
        await it.sees("click: the whole receipt")

    assert picture(FakeClient([answer("The Volga.", figures=full_stats(), proof=full_receipt())]), look)
