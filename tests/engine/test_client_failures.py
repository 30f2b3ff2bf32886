"""Engines that do not answer, cannot start, die, or are asked for what cannot be: each is a sentence."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import sys
from pathlib import Path

import pytest

from engine.client import EngineClient
from engine.process import describe_exit
from engine.protocol import (
    Described,
    ErrorCode,
    Event,
    Failed,
    Finished,
    Loading,
    LoadSettings,
    ModelFile,
)
from tests.engine.clients import ask, question, until_text


async def test_a_cancel_that_is_not_answered_kills_and_the_next_request_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deaf = tmp_path / "deaf.py"
    deaf.write_text(DEAF_ENGINE)
    monkeypatch.setattr("engine.exchanges.CANCEL_PATIENCE", 0.3)
    client = EngineClient(tmp_path / "engine.log", command=[sys.executable, str(deaf)])
    client.wanted = LoadSettings(target=ModelFile(path="any.gguf"))
    tasks: list[asyncio.Task[None]] = []
    seen = await until_text(client, lambda: tasks.append(asyncio.create_task(client.cancel())))
    await asyncio.gather(*tasks)
    finished = seen[-1]
    assert isinstance(finished, Finished)
    assert (finished.finish_reason, finished.text, finished.receipt) == ("cancelled", "so far", None)
    assert not client.running
    again = await until_text(client, lambda: tasks.append(asyncio.create_task(client.cancel())))
    assert isinstance(again[-1], Finished)
    await client.close()


DEAF_ENGINE = """
import json, sys, time
pair = dict(
    target=dict(path="a", name="A", architecture="llama", size_bytes=1, fingerprint="f", layers=1, gpu_layers=0,
                context_trained=8, vocabulary=8),
    draft=None, template=dict(name="model", sha256="0"), context=8, threads=1, backend="CPU", badge="fast",
    load_seconds=0.0)
for line in sys.stdin:
    request = json.loads(line)
    if request["kind"] == "load":
        print(json.dumps(dict(kind="loaded", id=request["id"], pair=pair)), flush=True)
    elif request["kind"] == "generate":
        print("not an event", flush=True)
        print(json.dumps(dict(kind="text", id=request["id"], text="so far", token_ids=[1], sources="t")), flush=True)
        time.sleep(600)
"""


async def test_an_engine_that_cannot_start_is_a_sentence(tmp_path: Path) -> None:
    client = EngineClient(tmp_path / "engine.log", command=[str(tmp_path / "no-such-program")])
    client.wanted = LoadSettings(target=ModelFile(path="any.gguf"))
    failed = await ask(client, question())
    assert isinstance(failed, Failed)
    assert "The engine could not be started" in failed.message


async def test_an_engine_that_dies_at_once_shows_its_last_words(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('no library here')"]
    client = EngineClient(tmp_path / "engine.log", command=command)
    client.wanted = LoadSettings(target=ModelFile(path="any.gguf"))
    failed = await ask(client, question())
    assert isinstance(failed, Failed)
    assert failed.code is ErrorCode.ENGINE_STOPPED
    assert "exit code 1" in failed.message
    assert "no library here" in failed.detail


async def test_without_a_model_the_request_is_refused_in_words(tmp_path: Path) -> None:
    failed = await ask(EngineClient(tmp_path / "engine.log"), question())
    assert isinstance(failed, Failed)
    assert failed.code is ErrorCode.NO_MODEL
    assert "No model is chosen" in failed.message


async def test_a_users_folder_named_engine_is_not_imported(
    client: EngineClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "engine"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('the wrong engine')")
    monkeypatch.chdir(tmp_path)
    assert isinstance(await client.describe(), Described)


async def test_the_description_names_build_devices_threads_and_settings(client: EngineClient) -> None:
    described = await client.describe()
    assert isinstance(described, Described)
    assert described.versions["llama-cpp-python"] == "0.3.36"
    assert any(device.kind == "cpu" for device in described.devices)
    assert described.threads >= 1
    assert "core" in described.cores
    assert described.environment["GGML_CPU_TILED_MM"] == "0"
    assert described.exact_settings["V cache"] == "BF16"


def test_exit_codes_in_words() -> None:
    assert describe_exit(3) == "exit code 3"
    assert describe_exit(-4).startswith("signal 4, illegal instruction")
    assert describe_exit(None) == "it does not answer"
    assert describe_exit(-99) == "signal 99"


HOLDS_THE_PIPE = """
import os, subprocess, sys
from engine.protocol import Ready, encode
sys.stdout.buffer.write(encode(Ready(pid=os.getpid(), versions={})))
sys.stdout.buffer.flush()
sys.stdin.buffer.readline()
subprocess.Popen(["sleep", "600"])
os.kill(os.getpid(), 6)
"""


async def test_a_child_that_holds_the_pipe_of_a_dead_engine_holds_nobody_up(tmp_path: Path) -> None:
    """As a debugger does that a failed check has started. Nothing of the dead process is left for a closed loop."""
    client = EngineClient(tmp_path / "engine.log", command=[sys.executable, "-c", HOLDS_THE_PIPE])
    async with asyncio.timeout(30):
        for _ in range(2):
            answer = await client.describe()
            assert isinstance(answer, Failed)
            assert answer.code is ErrorCode.ENGINE_STOPPED
            assert "signal 6" in answer.message
        await client.close()
    transports = [one for one in gc.get_objects() if isinstance(one, asyncio.SubprocessTransport)]
    assert all(transport.is_closing() for transport in transports)


DIES_OF_ITS_DRAFT = """
import os, sys
from engine.protocol import *
def say(event):
    sys.stdout.buffer.write(encode(event)); sys.stdout.buffer.flush()
model = ModelInfo(path="t", name="t", architecture="llama", size_bytes=1, fingerprint="f", layers=1, gpu_layers=0,
                  context_trained=64, vocabulary=8)
say(Ready(pid=os.getpid(), versions={}))
for line in sys.stdin.buffer:
    request = REQUESTS.validate_json(line)
    if isinstance(request, Load):
        draft = request.settings.draft
        if draft is not None:
            say(Loading(id=request.id, what="draft", fraction=0.5))
            if draft.path == "bad when loaded":
                os.kill(os.getpid(), 6)
        pair = PairInfo(target=model, draft=model if draft else None, draft_refused=request.settings.draft_refused,
                        template=TemplateInfo(name="model", sha256=""), context=64, threads=1, backend="CPU",
                        badge="fast", load_seconds=0.1)
        drafts = draft is not None
        say(Loaded(id=request.id, pair=pair))
    elif isinstance(request, Generate):
        if drafts:
            os.kill(os.getpid(), 6)
        from engine.stats import Stats
        say(Finished(id=request.id, finish_reason="stop", text="well", token_ids=(1,), sources="t", stats=Stats(),
                     receipt=None))
"""


@pytest.mark.parametrize("when", ["loaded", "used"])
async def test_a_draft_that_takes_the_engine_down_is_left_out_with_the_reason(tmp_path: Path, when: str) -> None:
    client = EngineClient(tmp_path / "engine.log", command=[sys.executable, "-c", DIES_OF_ITS_DRAFT])
    client.wanted = LoadSettings(target=ModelFile(path="t"), draft=ModelFile(path=f"bad when {when}"))
    try:
        async with asyncio.timeout(60):
            first = await ask(client, question())
            if when == "used":
                assert isinstance(first, Failed)
                assert "send again to start a new engine" in first.message
                first = await ask(client, question())
            assert isinstance(first, Finished)
            assert first.text == "well"
            assert client.pair is not None
            verb = "loading it" if when == "loaded" else "it was in use"
            assert client.pair.draft_refused == f"the engine stopped while {verb} (signal 6, aborted by a failed check)"
    finally:
        await client.close()


DIES_OF_ITS_TARGET = """
import os, sys
from engine.protocol import *
def say(event):
    sys.stdout.buffer.write(encode(event)); sys.stdout.buffer.flush()
say(Ready(pid=os.getpid(), versions={}))
request = REQUESTS.validate_json(sys.stdin.buffer.readline())
say(Loading(id=request.id, what="target", fraction=0.0))
os.kill(os.getpid(), 6)
"""


async def test_a_target_that_takes_the_engine_down_is_named(tmp_path: Path) -> None:
    client = EngineClient(tmp_path / "engine.log", command=[sys.executable, "-c", DIES_OF_ITS_TARGET])
    client.wanted = LoadSettings(target=ModelFile(path="/models/odd.gguf"))
    try:
        async with asyncio.timeout(60):
            failed = await ask(client, question())
        assert isinstance(failed, Failed)
        assert failed.message == (
            "odd.gguf could not be loaded: the engine stopped while loading it (signal 6, aborted by a failed check). "
            "Nothing was being answered, and nothing was lost. Choose another model, or get this one again."
        )
    finally:
        await client.close()


LOADS_FOR_EVER = """
import os, sys, time
from engine.protocol import *
def say(event):
    sys.stdout.buffer.write(encode(event)); sys.stdout.buffer.flush()
say(Ready(pid=os.getpid(), versions={}))
request = REQUESTS.validate_json(sys.stdin.buffer.readline())
say(Loading(id=request.id, what=sys.argv[1], fraction=0.5))
sys.stdin.buffer.read()
os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("what", ["target", "draft"])
async def test_nothing_is_blamed_for_the_end_of_an_engine_that_was_closed(tmp_path: Path, what: str) -> None:
    """Whoever leaves while a model is loaded hears nothing of memory, and no engine is started anew."""
    client = EngineClient(tmp_path / "engine.log", command=[sys.executable, "-c", LOADS_FOR_EVER, what])
    settings = LoadSettings(target=ModelFile(path="t"), draft=ModelFile(path="d"))
    seen: list[Event] = []
    async with asyncio.timeout(60):
        async for event in client.load(settings):
            seen.append(event)
            if isinstance(event, Loading):
                closing = asyncio.create_task(client.close())
        await closing
    assert [type(event) for event in seen] == [Loading, Failed]
    assert isinstance(seen[-1], Failed)
    assert (seen[-1].code, seen[-1].message) == (ErrorCode.CANCELLED, "Loading was stopped.")
    assert not client.running


async def test_a_request_that_no_line_can_carry_is_refused_at_once(client: EngineClient) -> None:
    answer = await ask(client, question("\x01" * 3_000_000))
    assert isinstance(answer, Failed)
    assert answer.code is ErrorCode.PROMPT_TOO_LARGE
    assert answer.message == (
        "The message with its conversation takes 17 MiB, and the engine takes at most 16. Nothing was sent or lost: "
        "shorten the message or start a new chat."
    )


async def test_a_target_that_is_no_model_leaves_the_one_before_in_place(client: EngineClient, tmp_path: Path) -> None:
    settings = question(max_tokens=4)
    assert isinstance(await ask(client, settings), Finished)
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"no model")
    good = client.wanted
    async with contextlib.aclosing(client.load(LoadSettings(target=ModelFile(path=str(wrong))))) as events:
        last = [event async for event in events][-1]
    assert isinstance(last, Failed)
    client.wanted = good
    assert client.pair is not None
    assert isinstance(await ask(client, settings), Finished)
