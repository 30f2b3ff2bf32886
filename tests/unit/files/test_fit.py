"""The memory estimate in parts, the verdict against what is free, and every sentence of it."""

from __future__ import annotations

from dataclasses import replace

from engine.files.fit import PROCESS, SURE, context_of, estimate, judge_fit
from engine.files.shape import Shape
from engine.protocol import Device

MIB = 1024 * 1024

MODEL = Shape(
    weights=2_500_000_000, embeddings=200_000_000, layers=36, width=2560, feed_forward=9728, attention=4096,
    vocabulary=151_936, merges=151_387, cell=36 * 8 * 256 * 2, context_trained=40_960,
)  # fmt: skip
DRAFT = replace(MODEL, weights=640_000_000, embeddings=165_000_000, layers=28, width=1024, feed_forward=3072,
                attention=2048, cell=28 * 8 * 256 * 2)  # fmt: skip


def part(name: str, shape: Shape = MODEL, draft: Shape | None = None, context: int = 8192) -> int:
    return next((p.bytes for p in estimate(shape, draft, context=context).parts if p.name == name), 0)


def test_weights_and_caches_are_counted_exactly() -> None:
    assert part("weights") == MODEL.weights
    assert part("KV cache") == 8192 * MODEL.cell
    assert part("KV cache", context=1000) == 1024 * MODEL.cell  # llama.cpp rounds up to 256
    assert part("draft weights", draft=DRAFT) == DRAFT.weights
    assert part("draft KV cache", draft=DRAFT) == 8192 * DRAFT.cell


def test_what_is_rearranged_of_a_draft_counts_twice() -> None:
    draft = replace(DRAFT, repacked=450_000_000)
    assert part("draft weights, rearranged", draft=DRAFT) == 0
    assert part("draft weights, rearranged", draft=draft) == 450_000_000
    assert part("draft weights", draft=draft) == DRAFT.weights
    same = replace(MODEL, repacked=2_000_000_000)
    assert part("draft weights, rearranged", same, same) == 0, "a target that drafts for itself is loaded exactly"
    gpu = Device(name="card", description="card", kind="gpu", memory_free=40_000_000_000, memory_total=40_000_000_000)
    on_gpu = [judge_fit(MODEL, one, free=10**11, gpus=[gpu]).needed for one in (DRAFT, draft)]
    assert on_gpu[0] == on_gpu[1], "on a GPU nothing is rearranged"


def test_a_draft_does_not_go_beyond_what_it_was_trained_for() -> None:
    assert part("draft KV cache", draft=replace(DRAFT, context_trained=2048)) == 2048 * DRAFT.cell


def test_the_context_that_the_engine_takes_by_itself() -> None:
    assert context_of(MODEL) == 8192
    assert context_of(replace(MODEL, context_trained=2048)) == 2048
    assert context_of(replace(MODEL, context_trained=None)) == 8192
    assert context_of(MODEL, 512) == 512
    assert estimate(MODEL).context == 8192


def test_masks_grow_with_the_context_and_with_windows() -> None:
    grown = part("computing", context=16_384) - part("computing", context=8192)
    assert grown == 8192 * 512 * 2
    assert part("computing", replace(MODEL, masks=2)) - part("computing") == 8192 * 512 * 2


def test_a_processor_holds_only_the_rows_of_logits_that_are_asked_for() -> None:
    assert part("logits") == 16 * 151_936 * 4
    assert part("computing") < 512 * 151_936 * 4


def test_states_and_their_copies() -> None:
    some = replace(MODEL, state=50_000_000, undo="some")
    assert part("running states", some) == 8 * 50_000_000 + 256 * MIB
    none = replace(MODEL, state=1_000_000, undo="none")
    assert part("running states", none) == 1_000_000 + 16_000_000
    assert part("draft running states", draft=some) == 50_000_000 + 256 * MIB
    large = replace(MODEL, state=400_000_000, undo="none")
    assert part("running states", large) == 800_000_000  # one copy is always allowed
    assert part("running states") == 0


def test_the_self_test_is_counted_where_there_is_one() -> None:
    assert part("self-test, once") > 768 * MODEL.cell
    some = replace(MODEL, state=50_000_000, undo="some")
    assert part("self-test, once", some) == part("self-test, once") + 9 * 50_000_000, "seven of a pass, its own, a copy"
    assert part("self-test, once", replace(MODEL, undo="none")) == 0, "decoded plainly: nothing to compare"
    assert part("self-test, once") == part("self-test, once", context=65_536)


def test_parts_add_up_and_the_process_is_one_of_them() -> None:
    both = estimate(MODEL, DRAFT)
    assert both.total == sum(p.bytes for p in both.parts)
    assert both.parts[0].name == "engine process"
    test = next(p.bytes for p in both.parts if p.name == "self-test, once")
    assert both.loaded == both.total - PROCESS - test
    assert len({p.name for p in both.parts}) == len(both.parts)


def test_fits_tight_does_not_fit() -> None:
    needed = estimate(MODEL, DRAFT).total
    words = f"About {needed / 1e9:.1f} GB of memory at 8,192 tokens of context"
    plenty = judge_fit(MODEL, DRAFT, free=24_000_000_000)
    assert (plenty.words, plenty.sentence) == ("fits", f"{words}; 24.0 GB are free.")
    tight = judge_fit(MODEL, DRAFT, free=needed + 1)
    assert tight.words == "tight"
    assert tight.sentence == f"{words}; {(needed + 1) / 1e9:.1f} GB are free, which is tight."
    too_little = judge_fit(MODEL, DRAFT, free=needed - 1)
    assert too_little.words == "does not fit"
    assert too_little.sentence.startswith(f"{words}; only {(needed - 1) / 1e9:.1f} GB are free.")
    unknown = judge_fit(MODEL, DRAFT)
    assert unknown.words == "unknown"
    assert unknown.sentence == f"{words}; how much is free is not known here."


def test_a_smaller_context_is_proposed_where_it_helps() -> None:
    free = round(estimate(MODEL, context=2048).total * SURE) + 1
    fit = judge_fit(MODEL, context=32_768, free=free)
    assert fit.sentence.endswith(" A context of 2,048 tokens would fit.")
    assert "would fit" not in judge_fit(MODEL, context=32_768, free=500_000_000).sentence
    assert "only 500 MB is free" in judge_fit(MODEL, free=500_000_000).sentence


def test_what_the_loaded_pair_gives_back_counts_as_free() -> None:
    needed = estimate(MODEL).total
    assert judge_fit(MODEL, free=needed - 10, in_use=needed).words == "fits"


def test_an_architecture_that_keeps_more_is_at_least_so_large() -> None:
    fit = judge_fit(replace(MODEL, rough=True), free=24_000_000_000)
    assert fit.sentence.startswith("At least ")
    assert estimate(MODEL, replace(DRAFT, rough=True)).rough


def gpu(free: int) -> Device:
    return Device(name="CUDA0", description="a card", kind="gpu", memory_total=free, memory_free=free)


def test_layers_on_a_gpu() -> None:
    plain = judge_fit(MODEL, DRAFT, free=24_000_000_000)
    large = judge_fit(MODEL, DRAFT, free=24_000_000_000, gpus=[gpu(24_000_000_000)])
    assert large.gpu == "all 36 layers on the GPU, draft: all 28 layers on the GPU"
    assert large.sentence.startswith("All 36 layers on the GPU, draft: all 28 layers on the GPU; about ")
    assert large.words == "fits"
    small = judge_fit(MODEL, free=24_000_000_000, gpus=[gpu(2_500_000_000)])
    assert small.gpu is not None
    assert "of 36 layers on the GPU" in small.gpu
    tiny = judge_fit(MODEL, free=24_000_000_000, gpus=[gpu(300_000_000)])
    assert tiny.gpu == "no layers on the GPU"
    assert tiny.estimate.total == judge_fit(MODEL, free=24_000_000_000).estimate.total
    assert plain.gpu is None


def test_a_model_too_large_for_main_memory_may_fit_with_a_gpu() -> None:
    free = 1_500_000_000
    assert judge_fit(MODEL, free=free).words == "does not fit"
    assert judge_fit(MODEL, free=free, gpus=[gpu(16_000_000_000)]).words == "fits"
