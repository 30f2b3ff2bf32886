"""Tests of single rooms, without a loaded model."""
