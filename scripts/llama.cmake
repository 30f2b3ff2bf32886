# CMake reads this right behind llama.cpp's own project(). The Python package asks for the library of helpers of
# llama.cpp's command line programs (chat formats, argument parsers), which nothing here loads: 57 of 140 steps of the
# build. A plain variable hides that wish (policy CMP0077).
set(LLAMA_BUILD_COMMON OFF)
