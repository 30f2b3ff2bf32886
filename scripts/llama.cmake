# CMake reads this right behind llama.cpp's own project(). The Python package asks for the library of helpers of
# llama.cpp's command line programs (chat formats, argument parsers), which nothing here loads and which takes longer to
# compile than the engine itself; a plain variable hides that wish (policy CMP0077).
set(LLAMA_BUILD_COMMON OFF)
