"""Whether answers are the same token for token."""

from __future__ import annotations

from collections import Counter

from tests.bench.figures import fork, loops
from tests.bench.report.cells import table
from tests.bench.run import Results


def plain_answers(results: Results) -> dict[tuple[str, str, float], list[int]]:
    """(pair, prompt, temperature) -> the first plain answer's tokens."""
    answers: dict[tuple[str, str, float], list[int]] = {}
    for run in results.runs:
        if run.variant == "plain":
            answers.setdefault((run.pair, run.prompt, run.temperature), run.tokens)
    return answers


def mismatches(results: Results) -> int:
    """Answers of our engine in exact mode that are not plain decoding's; 0, or the engine is broken."""
    plain = plain_answers(results)
    exact = {key for key, about in results.pairs.items() if about.get("mode") == "exact"}
    ours = (
        run
        for run in results.runs
        if run.pair in exact and not run.variant.startswith("Llama") and run.variant != "plain fast"
    )
    return sum(run.tokens != plain.get((run.pair, run.prompt, run.temperature), run.tokens) for run in ours)


def identity(results: Results) -> str:
    """The section that counts answers which differ."""
    plain = plain_answers(results)
    rows = []
    for key, about in results.pairs.items():
        compared: Counter[str] = Counter()
        forked: Counter[str] = Counter()
        for run in results.runs:
            answer = plain.get((run.pair, run.prompt, run.temperature))
            peer_warm = run.variant.startswith("Llama") and run.temperature > 0  # its random numbers are its own
            if run.pair != key or answer is None or peer_warm:
                continue
            name = "Llama" if run.variant.startswith("Llama") else run.variant
            kind = next((kind for kind in ("fixed", "oracle") if name.startswith(kind)), name)
            compared[kind] += 1
            forked[kind] += fork(answer, run.tokens) is not None
        if not compared:
            continue
        words = ", ".join(f"{kind} {forked[kind]} of {count}" for kind, count in sorted(compared.items()))
        looped = sum(loops(tokens) for (pair, _, _), tokens in plain.items() if pair == key)
        rows.append([key, about["mode"], words, f"{looped} of {sum(pair == key for pair, _, _ in plain)}"])
    if not rows:
        return ""
    head = ["pair", "mode", "answers that differ from plain's first", "plain answers that loop"]
    return (
        "### Same answers?\n\nToken ids against the first plain answer to the same prompt, settings and seed. In exact "
        "mode every count but *plain fast* and *Llama* must be 0; in fast mode texts may fork, and are counted. A "
        "*loop*: the last 32 tokens or three periods, whichever is longer, repeat with a period of at most 32.\n\n"
        + table(head, rows)
    )


def same_text_as_b(results: Results) -> str:
    """Whether the deepened model says what the model it was made from says; a sentence."""
    plain = plain_answers(results)
    both = [
        plain["b", prompt, temperature] == tokens
        for (pair, prompt, temperature), tokens in plain.items()
        if pair == "c" and temperature == 0 and ("b", prompt, temperature) in plain
    ]
    return f" Its greedy plain answers are pair b's in {sum(both)} of {len(both)} cases." if both else ""
