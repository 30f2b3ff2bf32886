"""The chat in lines (``slipstream chat --plain``), for screen readers, dumb terminals and pipes.

Every line is written once: no cursor movement, no colour. Nothing here imports Textual or Rich.
"""
