"""The columns of a table stand as the line below its heading says, also while it grows."""

from __future__ import annotations

from app.tui.widgets.live_markdown import LiveMarkdown
from tests.app.tui.fake_client import FakeClient, Wait, ends, reads, says
from tests.app.tui.harness import chat
from tests.app.tui.test_live_blocks import behind, drawn

TABLE = "| River | Length | Ends in |\n|:--|--:|:-:|\n| Volga | 3,530 | Caspian Sea |\n| Po | 652 | Adria |\n"


async def test_columns_end_and_are_centred_where_the_table_says() -> None:
    client = FakeClient([[reads(1, 1), *says("Look:"), Wait("end"), ends("Look:")]])
    async with chat(client, size=(70, 60)) as it:
        await it.send("go")
        await it.sees("Look:")
        live, whole = LiveMarkdown(live=True), LiveMarkdown()
        await behind(it, live, whole)
        await whole.update(TABLE)
        for at in range(0, len(TABLE), 7):
            await live.append(TABLE[at : at + 7])
        await it.settle()
        for shown in (live, whole):
            rows = [line for line in drawn(it, shown) if "│" in line]
            cells = [[cell[1:-1] for cell in row.strip().strip("│").split("│")] for row in rows]
            assert cells == [
                ["River", "Length", "  Ends in  "],
                ["Volga", " 3,530", "Caspian Sea"],
                ["Po   ", "   652", "   Adria   "],
            ]
        client.go("end")
        await it.until(lambda: it.idle)
