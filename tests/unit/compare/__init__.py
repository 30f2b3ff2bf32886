"""Comparing ways to answer."""
