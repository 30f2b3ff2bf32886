"""Which CMake flags build llama.cpp for this machine.

``-march=native`` is out on x86 Linux: on a processor that lists AMX the compiler then uses it, and virtual machines
often list AMX without executing it, so the first prompt dies with an illegal instruction. A portable build would
forgo AVX512 and VNNI: measured with SmolLM2 Q4_1 on 2 cores of a Zen 5 server, five alternations, a single-token pass
took 7.9 ms with these flags, 7.6 ms native and 8.6 ms portable (prefill and passes of 8 within 5 % of each other). So
the instruction sets are switched on one by one from what the kernel lists, AMX never, and what is not listed is
switched off by name (llama.cpp's own defaults assume AVX2). Elsewhere (ARM, macOS) native stays on. Only the standard
library is used: this runs before anything is installed.
"""

from __future__ import annotations

import platform
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

# CMake option -> the names in /proc/cpuinfo that must all be there. GGML_AVX512 makes the compiler use five of them.
X86_OPTIONS: dict[str, frozenset[str]] = {
    "GGML_SSE42": frozenset({"sse4_2"}),
    "GGML_AVX": frozenset({"avx"}),
    "GGML_AVX2": frozenset({"avx2"}),
    "GGML_FMA": frozenset({"fma"}),
    "GGML_F16C": frozenset({"f16c"}),
    "GGML_BMI2": frozenset({"bmi2"}),
    "GGML_AVX_VNNI": frozenset({"avx2", "avx_vnni"}),
    "GGML_AVX512": frozenset({"avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw"}),
    "GGML_AVX512_VBMI": frozenset({"avx512f", "avx512vbmi"}),
    "GGML_AVX512_VNNI": frozenset({"avx512f", "avx512_vnni"}),
    "GGML_AVX512_BF16": frozenset({"avx512f", "avx512_bf16"}),
}

# The multimodal library is not used here and takes a quarter of the build time.
COMMON = ("-DLLAVA_BUILD=OFF",)


def listed_instructions(cpuinfo: str) -> frozenset[str]:
    """The instruction sets that every processor of a /proc/cpuinfo text has; empty when it names none."""
    lines = [set(words.split()) for words in re.findall(r"^flags\s*:(.*)$", cpuinfo, re.MULTILINE)]
    return frozenset(set.intersection(*lines)) if lines else frozenset()


def cpu_flags(choice: str, system: str, machine: str, cpuinfo: str) -> list[str]:
    """Flags for the processor. ``choice`` is 'detect', 'native' or 'portable'."""
    if choice not in ("detect", "native", "portable"):
        raise ValueError(f"LLAMA_CPU is {choice!r}; it can be detect, native or portable.")
    if choice == "native":
        return ["-DGGML_NATIVE=ON"]
    if choice == "portable":
        return ["-DGGML_NATIVE=OFF"]
    if system != "Linux" or machine.lower() not in ("x86_64", "amd64", "i686"):
        return []  # llama.cpp's default, which is native
    listed = listed_instructions(cpuinfo)
    options = [f"-D{option}={'ON' if needs <= listed else 'OFF'}" for option, needs in X86_OPTIONS.items()]
    return ["-DGGML_NATIVE=OFF", *options]


def build_flags(environment: Mapping[str, str], system: str, machine: str, cpuinfo: str) -> str:
    """The value of CMAKE_ARGS for the build. The user's own come last: the last -D of a name wins."""
    own = environment.get("CMAKE_ARGS", "").strip()
    flags = [*COMMON, *cpu_flags(environment.get("LLAMA_CPU") or "detect", system, machine, cpuinfo)]
    wants_cuda = re.search(r"-DGGML_CUDA(:BOOL)?=(on|1|true|yes)\b", own, re.IGNORECASE)
    if wants_cuda and "GGML_NATIVE=OFF" in " ".join(flags) and "CMAKE_CUDA_ARCHITECTURES" not in own:
        flags.append("-DCMAKE_CUDA_ARCHITECTURES=native")  # else GGML_NATIVE=OFF compiles for every GPU there is
    return " ".join([shlex.join(flags), own]).strip()


def for_this_machine(environment: Mapping[str, str]) -> str:
    """``build_flags`` with what this machine says of itself."""
    try:
        cpuinfo = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        cpuinfo = ""
    return build_flags(environment, platform.system(), platform.machine(), cpuinfo)


if __name__ == "__main__":
    import os

    try:
        print(for_this_machine(os.environ))
    except ValueError as error:
        sys.exit(str(error))
