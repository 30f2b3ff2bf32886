"""The only rooms that import llama_cpp: thin, typed wrappers around llama.cpp's C API as llama-cpp-python binds it."""
