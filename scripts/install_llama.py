"""Puts the right build of llama-cpp-python into the virtual environment whose Python runs this; at once if it is there.

What was installed is written to ``.llama`` in the environment's folder. pip's own wheel cache is not used: it knows
nothing of flags or processors and would hand a CPU wheel to somebody who asks for CUDA. Wheels made here are kept in
``build/wheels``, one folder per set of flags, so that going back to a former choice builds nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts.build_flags import for_this_machine  # noqa: E402

VERSION = "0.3.36"
ENGINE_ALONE = shlex.quote(f"-DCMAKE_PROJECT_llama.cpp_INCLUDE={ROOT / 'scripts' / 'llama.cmake'}")
"""Not one of the flags that name a build: it changes what is compiled beside the engine, not the engine."""
STAMP = Path(sys.prefix) / ".llama"
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


def wanted(environment: dict[str, str], installed: str) -> str:
    """What should be installed, in the words of the stamp: ``wheel PATH``, ``own FLAGS`` or ``auto FLAGS``.

    A wheel or flags that the user once gave stay until he gives others; what we chose ourselves follows the processor.
    """
    if wheel := environment.get("LLAMA_WHEEL"):
        return f"wheel {Path(wheel).resolve()}"
    flags = f"{VERSION} {for_this_machine(environment)}"
    if environment.get("CMAKE_ARGS", "").strip():
        return f"own {flags}"
    if installed.startswith(("wheel ", f"own {VERSION} ")):
        return installed
    return f"auto {flags}"


def build(flags: str) -> Path:
    """A wheel made with these flags: the kept one, or a new one."""
    compilers = [f"{name}={os.environ[name]}" for name in ("CC", "CXX", "CFLAGS", "CXXFLAGS") if name in os.environ]
    key = hashlib.sha256("\n".join([VERSION, flags, *compilers]).encode()).hexdigest()[:16]
    folder = ROOT / "build" / "wheels" / key
    kept = sorted(folder.glob("llama_cpp_python-*.whl"))
    if kept:
        return kept[0]
    if not (os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")):
        sys.exit(
            "Building llama-cpp-python needs a C/C++ compiler and found none. Install one (Debian, Ubuntu: "
            "build-essential; macOS: xcode-select --install) and run make again."
        )
    folder.mkdir(parents=True, exist_ok=True)
    log_path = ROOT / "build" / "llama-build.log"
    print(f"Building llama-cpp-python {VERSION} for this machine, once (about 5 minutes on 2 cores).", flush=True)
    print(f"  flags: {flags}", flush=True)
    made = folder.with_name(folder.name + ".partial")
    shutil.rmtree(made, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "wheel", "--verbose", "--disable-pip-version-check", "--no-cache-dir"]
    command += [
        "--no-deps",
        "--no-binary",
        "llama-cpp-python",
        "--wheel-dir",
        str(made),
        f"llama-cpp-python=={VERSION}",
    ]
    with open(log_path, "wb") as log_file:
        process = subprocess.Popen(
            command,
            stdout=log_file,
            stderr=subprocess.STDOUT,
            env=os.environ | {"CMAKE_ARGS": f"{ENGINE_ALONE} {flags}"},
        )
        began = time.monotonic()
        try:
            while True:
                try:
                    failed = process.wait(timeout=30)
                    break
                except subprocess.TimeoutExpired:
                    minutes, seconds = divmod(int(time.monotonic() - began), 60)
                    print(f"  {minutes}:{seconds:02d}  {progress(log_path)}", flush=True)
        finally:
            if process.poll() is None:
                process.terminate()
    if failed:
        tail = log_path.read_text(encoding="utf-8", errors="replace").splitlines()[-25:]
        print("\n".join(tail), flush=True)
        sys.exit(f"llama-cpp-python could not be built. The whole log is in {log_path}; nothing was changed.")
    shutil.rmtree(folder)
    made.rename(folder)
    return sorted(folder.glob("llama_cpp_python-*.whl"))[0]


def progress(log_path: Path) -> str:
    """The last step that the build's log names, for example ``120 of 195``."""
    steps = re.findall(r"\[(\d+)/(\d+)\]", log_path.read_text(encoding="utf-8", errors="replace"))
    return "{} of {}".format(*steps[-1]) if steps else "preparing"


def main() -> None:
    installed = STAMP.read_text(encoding="utf-8") if STAMP.exists() else ""
    try:
        want = wanted(dict(os.environ), installed)
    except ValueError as error:
        sys.exit(str(error))
    if want == installed:
        return
    kind, _, rest = want.partition(" ")
    wheel = Path(rest) if kind == "wheel" else build(rest.removeprefix(f"{VERSION} "))
    if not wheel.is_file():
        sys.exit(f"LLAMA_WHEEL: there is no file {wheel}.")
    # First the wheel by itself, even over the same version, then whatever it needs that is not there yet.
    steps = [["--force-reinstall", "--no-deps", "--no-index", str(wheel)], [f"llama-cpp-python=={VERSION}"]]
    for step in steps:
        if subprocess.run([*PIP, "install", "--no-warn-conflicts", *step], check=False).returncode:
            sys.exit("llama-cpp-python could not be installed; pip says why above.")
    check = subprocess.run([sys.executable, "-I", "-c", "import llama_cpp"], capture_output=True, check=False)
    if check.returncode:
        reason = check.stderr.decode(errors="replace").strip().splitlines()[-1:] or [f"exit code {check.returncode}"]
        sys.exit(
            f"llama-cpp-python was built but does not load: {reason[0]}. Try: make clean, then LLAMA_CPU=portable."
        )
    STAMP.write_text(want, encoding="utf-8")


if __name__ == "__main__":
    main()
