"""The same work done by llama-cpp-python's own classes."""

from __future__ import annotations

from tests.bench.plan import OUR_ENVIRONMENT, PEER_LOOKUP
from tests.bench.report.cells import mean, speed, table
from tests.bench.run import Results
from tests.bench.targets import Ratios


def peers(results: Results) -> str:
    ratios = Ratios(results.runs)
    names = ["Llama plain", *(f"Llama lookup {length}" for length in PEER_LOOKUP)]
    rows = []
    for key in results.pairs:
        for name in [name + suffix for suffix in ("", OUR_ENVIRONMENT) for name in names]:
            runs = ratios.runs_of(key, name)
            if not runs:
                continue
            base = "plain fast" if ratios.runs_of(key, "plain fast") else "plain"
            plain_name = "Llama plain" + (OUR_ENVIRONMENT if name.endswith(OUR_ENVIRONMENT) else "")
            rows.append(
                [
                    key,
                    name,
                    speed(runs),
                    mean(list(ratios.by_category(key, name, plain_name).values()), interval=True),
                    f"{mean(list(ratios.by_category(key, base, name).values()), interval=True)} ({base})",
                    mean(list(ratios.by_category(key, "auto", name).values()), interval=True),
                ]
            )
    if not rows:
        return ""
    head = ["pair", "peer", "tok/s", "x Llama plain", "our plain / peer", "our auto / peer"]
    return (
        "### Peers\n\nllama-cpp-python's `Llama`, same file, prompts and threads, each in a process of its own with "
        "the environment a user has (and, apart, with the variables our engine sets); asked through `Llama.generate`, "
        "its leanest way. Whole answers.\n\n" + table(head, rows)
    )
