"""Grammars: GBNF read and checked, followed character by character, and laid over a vocabulary's tokens.

llama.cpp's own grammar sampler is not used: a C++ exception or GGML_ABORT behind ctypes ends the process (a token that
does not match, an end token too early), its recursive parser and stack sets can be made to overflow or to grow without
bound, and its state can only be copied slowly. Here every state is an immutable object, so that taking proposals back
is one assignment, and nothing a grammar says can hurt the process.
"""
