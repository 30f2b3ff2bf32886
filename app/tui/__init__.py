"""The terminal chat. Nothing here imports llama_cpp: the engine is a process behind :mod:`app.tui.ports`."""
