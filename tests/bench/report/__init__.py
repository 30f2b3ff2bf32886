"""The measurements as Markdown (what README carries) and as a few lines for the terminal."""

from tests.bench.report.identity import mismatches
from tests.bench.report.whole import load, save, to_lines, to_markdown, warnings

__all__ = ["load", "mismatches", "save", "to_lines", "to_markdown", "warnings"]
