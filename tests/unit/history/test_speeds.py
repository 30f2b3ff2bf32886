"""How fast models were here, out of the store of chats."""

from __future__ import annotations

from pathlib import Path

from app.chats.store import ChatStore, open_chats
from app.history.past import read_past
from app.history.speeds import Speed, Speeds, latest_speeds
from engine.protocol import Finished, GenerateSettings, ModelInfo, Receipt, TemplateInfo
from engine.stats import Stats


def read_speeds(file: Path) -> Speeds:
    return latest_speeds(read_past(file).answers)


def model(path: str) -> ModelInfo:
    return ModelInfo(
        path=path, name="m", architecture="llama", size_bytes=1, fingerprint="f", layers=1, gpu_layers=0,
        context_trained=1, vocabulary=1,
    )  # fmt: skip


def answered(store: ChatStore, target: str, rate: float, *, draft: str = "", speedup: float | None = None,
             tokens: int = 100) -> None:  # fmt: skip
    """One answer in a chat of its own."""
    receipt = Receipt(
        created="2026-11-29T15:00:00Z", target=model(target), draft=model(draft) if draft else None,
        template=TemplateInfo(name="model", sha256="0"), prompt_ids=tuple(range(500)),
        settings=GenerateSettings(messages=()), seed=1, drafter="lookup", draft_max=4, mode="exact", backend="CPU",
        threads=2, context=512, prefill_chunk=512, versions={},
    )  # fmt: skip
    stats = Stats(output_tokens=tokens, decode_tokens_per_second=rate, speedup=speedup)
    chat = store.create_conversation()
    answer = store.start_answer(chat.id, parent=store.append_user(chat.id, "hi", parent=None).id)
    finished = Finished(
        id=0, finish_reason="stop", text="ok", token_ids=(1,), sources="t", stats=stats, receipt=receipt
    )
    store.finish_answer(answer.id, finished)


def test_medians_of_each_pair(tmp_path: Path) -> None:
    store = open_chats(tmp_path / "chats.sqlite", lambda notice: None)
    for rate in (40.0, 42.0, 90.0):
        answered(store, "/m/one.gguf", rate, speedup=rate / 40)
    answered(store, "/m/one.gguf", 60.0, draft="/m/draft.gguf")
    answered(store, "/m/one.gguf", 9_000.0, tokens=3)
    assert read_speeds(tmp_path / "chats.sqlite") == {
        ("/m/one.gguf", ""): Speed(42.0, 1.05),
        ("/m/one.gguf", "/m/draft.gguf"): Speed(60.0, None),
    }
    store.close()
    assert len(read_speeds(tmp_path / "chats.sqlite")) == 2


def test_only_the_latest_answers_count(tmp_path: Path) -> None:
    store = open_chats(tmp_path / "chats.sqlite", lambda notice: None)
    for rate in (1.0, 1.0, 1.0, *(50.0,) * 9):
        answered(store, "/m/one.gguf", rate)
    assert read_speeds(tmp_path / "chats.sqlite")["/m/one.gguf", ""].tokens_per_second == 50.0
    store.close()
