"""Answers that were given before: what they were made of, and whether they come out the same again."""
