"""Cheap proposers. They save the target time and never decide a token."""
