"""Slipstream: what a person touches. Never imports llama_cpp; the model lives in the engine's own process."""

__version__ = "0.1.0"
