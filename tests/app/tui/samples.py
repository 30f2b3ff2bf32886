"""Answers whose every token has a proposer, and figures with everything in them."""

from __future__ import annotations

from engine.protocol import Finished, GenerateSettings, Receipt, TextDelta
from engine.stats import DrafterStats, Stats
from tests.app.tui.fake_client import Step, ends, model, reads, receipt, stats

PACE = (31.0, 38.5, 44.0, 52.5, 55.0, 51.0, 47.0, 60.5, 61.0, 58.0, 43.5, 40.0, 52.0, 57.0, 62.5, 60.0)


def full_stats(**more: object) -> Stats:
    """Figures in which nothing is missing."""
    values: dict[str, object] = {
        "prompt_tokens": 1388,
        "prompt_tokens_cached": 1204,
        "target_passes": 177,
        "drafted": 331,
        "accepted": 214,
        "rejected": 87,
        "discarded": 30,
        "acceptance": 214 / 301,
        "coverage": 214 / 512,
        "tokens_per_pass": 512 / 177,
        "decode_tokens_per_second": 42.13,
        "prefill_tokens_per_second": 598.0,
        "time_to_first_token": 0.42,
        "prefill_seconds": 0.31,
        "draft_prefill_seconds": 0.08,
        "draft_seconds": 1.62,
        "verify_seconds": 9.9,
        "choose_seconds": 0.44,
        "other_seconds": 0.11,
        "total_seconds": 12.46,
        "load_seconds": 1.2,
        "speedup": 1.314,
        "pace": PACE,
        "drafters": {
            "lookup": DrafterStats(
                drafted=131, accepted=96, rejected=25, discarded=10, drafts=28,
                accepted_by_position=(26, 22, 18, 13, 9, 8), verified_by_position=(28, 26, 22, 18, 13, 9),
            ),
            "draft": DrafterStats(
                drafted=200, accepted=118, rejected=62, discarded=20, drafts=61,
                accepted_by_position=(52, 36, 21, 9), verified_by_position=(61, 52, 36, 21),
            ),
        },
    }  # fmt: skip
    return stats(512, **{**values, **more})  # type: ignore[arg-type]


def full_receipt(**more: object) -> Receipt:
    """A receipt with a draft model, settings of its own and notes."""
    draft = model("/models/SmolLM2-70M.Q8_0.gguf").model_copy(
        update={"size_bytes": 74_000_000, "fingerprint": "d" * 64}
    )
    values: dict[str, object] = {
        "draft": draft,
        "drafter": "lookup+draft",
        "mode": "exact",
        "settings": GenerateSettings(messages=(), stop=("User:",), max_tokens=512),
        "versions": {"slipstream": "0.1.0", "llama-cpp-python": "0.3.36", "python": "3.11.9"},
    }
    return receipt(notes=("drafts of 20 were asked for; exact mode allows 7",)).model_copy(update={**values, **more})


def spelled(*tokens: tuple[str, str], figures: Stats | None = None, drafter: str = "lookup+draft") -> Finished:
    """An answer made of (text, letter) tokens: who proposed each is known."""
    text = "".join(text for text, _ in tokens)
    lengths = tuple(len(text) for text, _ in tokens)
    proof = full_receipt(drafter=drafter, text_lengths=lengths)
    finished = ends(text, figures=figures or full_stats(output_tokens=len(tokens)), proof=proof)
    return finished.model_copy(
        update={"token_ids": tuple(range(len(tokens))), "sources": "".join(letter for _, letter in tokens)}
    )


def streamed(finished: Finished) -> list[Step]:
    """The same as it arrives: one delta a token."""
    assert finished.receipt is not None
    steps: list[Step] = [reads(31, 31)]
    at = 0
    for token, length in enumerate(finished.receipt.text_lengths):
        piece, letter = finished.text[at : at + length], finished.sources[token]
        steps.append(TextDelta(id=0, text=piece, token_ids=(token,), sources=letter))
        at += length
    return [*steps, finished]
