"""The on-device engine: a target model, a drafter that saves it time, and the figures that prove it.

The engine runs in a process of its own (:mod:`engine.host`); everything outside talks to it through
:mod:`engine.client` in the words of :mod:`engine.protocol`.
"""
