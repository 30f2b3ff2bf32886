"""A chat as Markdown and as JSON, letter by letter, and the files they go into."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app import __version__
from app.chats.export import closed, to_json, to_markdown
from app.chats.export_file import ExportError, file_name, write_new
from app.chats.records import Conversation, Figures, Message
from engine.stats import DrafterStats, Stats

from .conftest import receipt

BEGUN = 1_764_428_400.0  # 2025-11-29 15:00 UTC

CHAT = Conversation(7, "Rivers of *Europe*", BEGUN, BEGUN + 90, leaf=4, settings={"temperature": 0})

QUESTION = Message(1, 7, None, "user", "Name a river\n# not a heading of ours", "complete", None, BEGUN, BEGUN)
ANSWER = Message(
    2, 7, 1, "assistant", "The **Danube**:\n\n```python\nprint(1)\n```", "complete", None, BEGUN + 5, BEGUN + 9
)
MORE = Message(3, 7, 2, "user", "And code?", "complete", None, BEGUN + 60, BEGUN + 60)
CUT = Message(4, 7, 3, "assistant", "Sure:\n~~~~\nwhile True:", "cancelled", None, BEGUN + 61, BEGUN + 90)
OTHER = Message(5, 7, 1, "assistant", "The Rhine.", "failed", "The engine stopped.", BEGUN + 70, BEGUN + 71)

FIGURES = {
    2: Figures(
        2,
        "stop",
        (5, 6, 7),
        "tlc",
        Stats(
            output_tokens=512, accepted=214, rejected=87, decode_tokens_per_second=42.1, tokens_per_pass=2.9,
            time_to_first_token=0.4, speedup=1.31,
            drafters={"lookup": DrafterStats(drafted=301, accepted=214, rejected=87)},
        ).model_dump_json(),
        receipt().model_copy(update={"notes": ("2 oldest messages were left out",)}).model_dump_json(),
    )
}  # fmt: skip


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    if sys.platform != "win32":
        time.tzset()
    yield
    monkeypatch.undo()
    if sys.platform != "win32":
        time.tzset()


def test_markdown() -> None:
    text = to_markdown(CHAT, [QUESTION, ANSWER, MORE, CUT], FIGURES, speakers={2: "SmolLM2_135M"}, system="Be brief.\n")
    assert (
        text
        == f"""# Rivers of \\*Europe\\*

Slipstream {__version__}, 4 messages, begun 2025-11-29 15:00, last changed 2025-11-29 15:01

## system

Be brief.

## you · 2025-11-29 15:00

Name a river
# not a heading of ours

## SmolLM2\\_135M · 2025-11-29 15:00

The **Danube**:

```python
print(1)
```

`42.1 tok/s · 1.31x · accepted 71 % (214/301) · 2.9 tok/pass · 0.4 s to first · 512 tok · ctx 64/64 · lookup`

> 2 oldest messages were left out

## you · 2025-11-29 15:01

And code?

## answer · 2025-11-29 15:01

Sure:
~~~~
while True:
~~~~

> Stopped.
"""
    )


def test_markdown_of_an_answer_that_failed_and_of_one_without_text() -> None:
    text = to_markdown(CHAT, [OTHER, replace(CUT, content="", state="interrupted")], {})
    assert text.endswith(
        """## answer · 2025-11-29 15:01

The Rhine.

> Failed: The engine stopped.

## answer · 2025-11-29 15:01

> Interrupted: Slipstream ended before the answer did.
"""
    )


@dataclass(frozen=True)
class File:
    path: str
    sha256: str
    modified: float
    text: str


def test_what_was_attached_is_named() -> None:
    attached = {1: [File("notes/a_b.txt", "ab12", BEGUN - 3600, "what it said")]}
    text = to_markdown(CHAT, [QUESTION], {}, attachments=attached)
    assert text.endswith("a heading of ours\n\n- attached: notes/a\\_b.txt, SHA-256 ab12, of 2025-11-29 14:00\n")
    content = json.loads(to_json(CHAT, [QUESTION], {}, shown=[QUESTION], attachments=attached))
    assert content["messages"][0]["attachments"] == [
        {"path": "notes/a_b.txt", "sha256": "ab12", "modified": "2025-11-29T14:00:00.000Z", "text": "what it said"}
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("```\nx", "```\nx\n```"),
        ("```\nx\n```", "```\nx\n```"),
        ("````md\n```\nx\n```", "````md\n```\nx\n```\n````"),
        ("~~~\nx\n```", "~~~\nx\n```\n~~~"),
        ("- ```\n  x", "- ```\n  x"),  # ends with its list
        ("> ```\n> x", "> ```\n> x"),
        ("<!-- open", "<!-- open\n-->"),
        ("<script>\nx", "<script>\nx\n</script>"),
        ("<pre>\nx\n</pre>", "<pre>\nx\n</pre>"),
        ("<div>\nx", "<div>\nx"),  # ends at an empty line
        ("a < b ``` c", "a < b ``` c"),
        ("    indented\n", "    indented"),
    ],
)
def test_nothing_a_message_leaves_open_swallows_the_next(text: str, expected: str) -> None:
    assert closed(text) == expected


def test_json_of_all_branches() -> None:
    text = to_json(CHAT, [QUESTION, ANSWER, OTHER], FIGURES, shown=[QUESTION, ANSWER], system="Be brief.")
    assert '"token_ids": [5, 6, 7]' in text
    assert '"prompt_ids": [1, 2, 3]' in text
    content = json.loads(text)
    first, second, third = content.pop("messages")
    assert content == {
        "format": "slipstream-chat",
        "version": 1,
        "written_by": f"Slipstream {__version__}",
        "title": "Rivers of *Europe*",
        "created": "2025-11-29T15:00:00.000Z",
        "updated": "2025-11-29T15:01:30.000Z",
        "settings": {"temperature": 0},
        "system": "Be brief.",
        "shown": ["1", "2"],
    }
    assert first == {
        "id": "1",
        "parent": None,
        "role": "user",
        "state": "complete",
        "created": "2025-11-29T15:00:00.000Z",
        "finished": "2025-11-29T15:00:00.000Z",
        "content": QUESTION.content,
    }
    figures = second.pop("figures")
    assert second["content"] == ANSWER.content
    assert figures["stats"] == json.loads(FIGURES[2].stats_json)
    assert figures["receipt"] == json.loads(FIGURES[2].receipt_json or "")
    assert (figures["finish_reason"], figures["token_ids"], figures["sources"]) == ("stop", [5, 6, 7], "tlc")
    assert (third["parent"], third["state"], third["error"]) == ("1", "failed", "The engine stopped.")
    assert "figures" not in third


def test_hostile_text_survives_both() -> None:
    said = replace(QUESTION, content='\x1b[2J "quoted" \u202e [\n 1,\n 2\n] 😀 \0')
    assert said.content in to_markdown(CHAT, [said], {})
    assert json.loads(to_json(CHAT, [said], {}, shown=[said]))["messages"][0]["content"] == said.content


def test_figures_that_cannot_be_read_are_exported_as_they_are() -> None:
    odd = replace(FIGURES[2], stats_json="{", receipt_json='{"version": 99}')
    assert "tok/s" not in to_markdown(CHAT, [ANSWER], {2: odd})
    figures = json.loads(to_json(CHAT, [ANSWER], {2: odd}, shown=[ANSWER]))["messages"][0]["figures"]
    assert (figures["stats"], figures["receipt"]) == ("{", {"version": 99})


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Rivers of Europe", "Rivers-of-Europe"),
        ("../../etc/passwd", "etc-passwd"),
        ("a\0b\x1b[2J\u202ec/d\\e:f*g", "a-b-2J-c-d-e-f-g"),
        ("東京の天気", "東京の天気"),
        (".hidden.", "hidden"),
        ("-rf", "rf"),
        ("CON", "chat-CON"),
        ("nul.txt", "chat-nul.txt"),
        ("😀 ?", "chat"),
        ("", "chat"),
        ("x" * 300, "x" * 60),
    ],
)
def test_file_names(title: str, name: str) -> None:
    assert file_name(title) == name


class TestWriting:
    def test_no_file_is_overwritten(self, tmp_path: Path) -> None:
        names = [write_new([tmp_path], "v1.2.md", f"text {n}").name for n in range(3)]
        assert names == ["v1.2.md", "v1.2-2.md", "v1.2-3.md"]
        assert [(tmp_path / name).read_text() for name in names] == ["text 0", "text 1", "text 2"]

    def test_line_ends_stay_and_others_cannot_read_it(self, tmp_path: Path) -> None:
        file = write_new([tmp_path], "chat.md", "a\r\nb\né")
        assert file.read_bytes() == "a\r\nb\né".encode()
        if sys.platform != "win32":
            assert file.stat().st_mode & 0o777 == 0o600

    def test_the_next_folder_where_one_takes_nothing(self, tmp_path: Path) -> None:
        blocked = tmp_path / "file"
        blocked.touch()
        file = write_new([blocked / "folder", tmp_path / "data" / "exports"], "chat.md", "text")
        assert file == tmp_path / "data" / "exports" / "chat.md"

    def test_where_nothing_can_be_written(self, tmp_path: Path) -> None:
        blocked = tmp_path / "file"
        blocked.touch()
        with pytest.raises(ExportError) as raised:
            write_new([blocked / "folder"], "chat.md", "text")
        assert str(raised.value) == (
            f"Nothing was exported ({blocked / 'folder'}: not a directory). The chat is as it was; make room, or start "
            "Slipstream in a folder that can be written to."
        )
