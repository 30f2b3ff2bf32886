"""Answers that were given before."""
