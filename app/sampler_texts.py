"""How a sampler's value that is no number is written on one line."""

from __future__ import annotations


def read_bias(text: str) -> tuple[int, float]:
    """``198=-5``: a token and what is added to its logit. ValueError when it is nothing of the kind."""
    token, _, bias = text.partition("=")
    return int(token), float(bias)
