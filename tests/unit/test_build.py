"""The flags of the build, from made-up processors."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import build_flags as flags
from scripts import install_llama as install

OLD = "sse4_2 avx"
HASWELL = f"fpu {OLD} avx2 fma f16c bmi2"
SAPPHIRE_RAPIDS = (
    f"{HASWELL} avx_vnni avx512f avx512cd avx512vl avx512dq avx512bw avx512vbmi avx512_vnni avx512_bf16 "
    "amx_tile amx_int8 amx_bf16"
)


def cpuinfo(*processors: str) -> str:
    return "\n".join(f"processor\t: {n}\nflags\t\t: {words}\nbugs\t\t: none\n" for n, words in enumerate(processors))


def on_linux(text: str, **environment: str) -> list[str]:
    return list(flags.build_flags(environment, "Linux", "x86_64", text).split())


def switched_on(words: list[str]) -> set[str]:
    return {word[len("-DGGML_") : -len("=ON")] for word in words if word.endswith("=ON")}


def test_amx_is_never_compiled_in() -> None:
    words = on_linux(cpuinfo(SAPPHIRE_RAPIDS))
    assert words[:2] == ["-DLLAVA_BUILD=OFF", "-DGGML_NATIVE=OFF"]
    assert {f"GGML_{name}" for name in switched_on(words)} == set(flags.X86_OPTIONS)
    assert "AMX" not in " ".join(words)


def test_what_is_not_listed_is_switched_off_by_name() -> None:
    words = on_linux(cpuinfo(OLD))
    assert switched_on(words) == {"SSE42", "AVX"}
    assert {"-DGGML_AVX2=OFF", "-DGGML_FMA=OFF", "-DGGML_AVX512=OFF"} <= set(words)


def test_avx512_needs_all_five_of_its_parts() -> None:
    without_dq = SAPPHIRE_RAPIDS.replace(" avx512dq", "")
    assert "-DGGML_AVX512=OFF" in on_linux(cpuinfo(without_dq))


def test_unlike_processors_share_what_both_have() -> None:
    assert "AVX512" not in switched_on(on_linux(cpuinfo(SAPPHIRE_RAPIDS, HASWELL)))


def test_a_cpuinfo_that_says_nothing_gets_the_least() -> None:
    assert switched_on(on_linux("")) == set()


@pytest.mark.parametrize(("system", "machine"), [("Linux", "aarch64"), ("Darwin", "arm64"), ("Darwin", "x86_64")])
def test_elsewhere_native_stays_on(system: str, machine: str) -> None:
    assert flags.build_flags({}, system, machine, "") == "-DLLAVA_BUILD=OFF"


def test_the_users_flags_come_last() -> None:
    words = on_linux(cpuinfo(HASWELL), CMAKE_ARGS="-DGGML_VULKAN=on -DLLAVA_BUILD=ON")
    assert words[-2:] == ["-DGGML_VULKAN=on", "-DLLAVA_BUILD=ON"]
    assert words[0] == "-DLLAVA_BUILD=OFF"


def test_cuda_is_built_for_the_card_that_is_there() -> None:
    assert "-DCMAKE_CUDA_ARCHITECTURES=native" in on_linux(cpuinfo(HASWELL), CMAKE_ARGS="-DGGML_CUDA=on")
    chosen = on_linux(cpuinfo(HASWELL), CMAKE_ARGS="-DGGML_CUDA=on -DCMAKE_CUDA_ARCHITECTURES=80")
    assert [word for word in chosen if "ARCHITECTURES" in word] == ["-DCMAKE_CUDA_ARCHITECTURES=80"]


def test_the_choice_can_be_overruled() -> None:
    assert on_linux(cpuinfo(HASWELL), LLAMA_CPU="native") == ["-DLLAVA_BUILD=OFF", "-DGGML_NATIVE=ON"]
    assert on_linux(cpuinfo(HASWELL), LLAMA_CPU="portable") == ["-DLLAVA_BUILD=OFF", "-DGGML_NATIVE=OFF"]
    with pytest.raises(ValueError, match="LLAMA_CPU is 'fast'; it can be detect, native or portable"):
        on_linux(cpuinfo(HASWELL), LLAMA_CPU="fast")


def test_what_the_user_chose_once_stays(tmp_path: Path) -> None:
    ours = install.wanted({}, "")
    assert ours.startswith("auto 0.3.36 -DLLAVA_BUILD=OFF")
    cuda = install.wanted({"CMAKE_ARGS": "-DGGML_CUDA=on"}, ours)
    assert cuda.startswith("own 0.3.36 ")
    assert install.wanted({}, cuda) == cuda
    wheel = install.wanted({"LLAMA_WHEEL": str(tmp_path / "x.whl")}, cuda)
    assert install.wanted({}, wheel) == wheel == f"wheel {tmp_path / 'x.whl'}"
    assert install.wanted({}, "auto 0.3.36 -DGGML_AVX512=ON -of another processor") == ours
    assert install.wanted({}, "own 0.3.35 -DGGML_CUDA=on") == ours
