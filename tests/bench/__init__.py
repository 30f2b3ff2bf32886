"""Benchmarks: is drafting worth it, where, and what limits it. ``python -m tests.bench --help``."""
