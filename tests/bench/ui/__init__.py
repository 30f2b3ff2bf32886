"""What the interface costs and how quick it is: ``python -m tests.bench.ui --help``.

The real program runs in a pseudo-terminal; only its engine is another one (:mod:`tests.bench.ui.host`), which speaks
the engine's protocol and writes tokens at a chosen rate. The process that is measured holds nothing but the interface.
"""
