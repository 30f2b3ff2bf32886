"""A peer as a worker: llama-cpp-python's own ``Llama``, plain or with its ``LlamaPromptLookupDecoding``.

It is asked through ``Llama.generate``, the leanest documented way, with the token ids of our rendered prompt and the
same filters. Above temperature 0 its random numbers are its own. A draft model makes it keep the logits of every
token of a batch, and a prompt longer than ``n_batch`` (512) then fails; so with one, n_batch is the context's size.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

from tests.bench.worker import serve


class PeerWorker:
    """Handlers of the requests ``load`` and ``generate``."""

    def __init__(self) -> None:
        self._llama: Any = None
        self._api: Any = None

    def load(self, target: str, context: int, threads: int, lookup: int | None) -> dict[str, Any]:
        """``lookup``: num_pred_tokens of its prompt lookup; None: plain."""
        import llama_cpp
        import llama_cpp.llama_cpp as api
        from llama_cpp.llama_speculative import LlamaPromptLookupDecoding

        more: dict[str, Any] = {}
        if lookup is not None:
            more = {"draft_model": LlamaPromptLookupDecoding(num_pred_tokens=lookup), "n_batch": context}
        self._api = api
        self._llama = llama_cpp.Llama(
            target, n_ctx=context, n_threads=threads, n_threads_batch=threads, verbose=False, **more
        )
        names = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "GGML_CPU_TILED_MM")
        return {"environment": {name: os.environ[name] for name in names if name in os.environ}}

    def generate(self, ids: Sequence[int], temperature: float, seed: int, max_tokens: int) -> dict[str, Any]:
        """One answer from an empty history; the figures under the names that our worker uses.

        Its prefill includes the last prompt token and brings the first token, so decoding is counted from there on:
        the time of the other tokens, scaled to all of them.
        """
        llama, api = self._llama, self._api
        vocabulary = api.llama_model_get_vocab(llama._model.model)
        llama.reset()
        llama.set_seed(seed)
        tokens: list[int] = []
        started = time.perf_counter()
        first = last = started
        for token in llama.generate(
            list(ids), temp=temperature, top_k=40, top_p=0.95, min_p=0.05, repeat_penalty=1.0, reset=True
        ):
            last = time.perf_counter()
            if not tokens:
                first = last
            tokens.append(int(token))
            if len(tokens) >= max_tokens or api.llama_vocab_is_eog(vocabulary, token):
                break
        ended = time.perf_counter()
        decode = (last - first) * len(tokens) / (len(tokens) - 1) if len(tokens) > 1 else 0.0
        return {"tokens": tokens, "seconds": ended - started, "decode_seconds": decode, "prompt_tokens": len(ids)}


def main() -> None:
    worker = PeerWorker()
    serve({"load": worker.load, "generate": worker.generate})


if __name__ == "__main__":
    main()
