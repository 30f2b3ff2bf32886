"""Tests of engine.text."""
