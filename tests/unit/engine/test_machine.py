"""Threads from what the process may really use; environment defaults that never override the user."""

import os
from pathlib import Path

import pytest

from engine.machine import available_memory, engine_environment, usable_cores


@pytest.fixture
def affinity(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    def use(*cpus: int) -> None:
        monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(cpus), raising=False)

    return use


def topology(root: Path, *groups: tuple[int, ...]) -> None:
    for group in groups:
        for cpu in group:
            folder = root / f"sys/devices/system/cpu/cpu{cpu}/topology"
            folder.mkdir(parents=True)
            (folder / "thread_siblings_list").write_text(",".join(map(str, group)) + "\n")


def cgroup(root: Path, line: str, **files: str) -> None:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(line + "\n")
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_hyper_threads_count_once(tmp_path: Path, affinity) -> None:  # type: ignore[no-untyped-def]
    affinity(0, 1, 2, 3)
    topology(tmp_path, (0, 2), (1, 3))
    assert usable_cores(tmp_path) == (2, "2 cores in the affinity mask (4 hardware threads)")


def test_one_core_of_the_mask(tmp_path: Path, affinity) -> None:  # type: ignore[no-untyped-def]
    affinity(0)
    topology(tmp_path, (0, 2), (1, 3))
    assert usable_cores(tmp_path) == (1, "1 core in the affinity mask")


@pytest.mark.parametrize(
    ("line", "files"),
    [
        (
            "0::/box/inner",
            {"sys/fs/cgroup/box/cpu.max": "700000 100000", "sys/fs/cgroup/box/inner/cpu.max": "max 100000"},
        ),
        ("0::/", {"sys/fs/cgroup/cpu.max": "750000 100000"}),
        (
            "4:cpu,cpuacct:/box",
            {
                "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us": "790000",
                "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us": "100000",
            },
        ),
    ],
)
def test_a_container_of_seven_cores_on_a_machine_of_ninety_six(
    tmp_path: Path,
    affinity,
    line: str,
    files: dict[str, str],  # type: ignore[no-untyped-def]
) -> None:
    affinity(*range(96))
    cgroup(tmp_path, line, **files)
    cores, words = usable_cores(tmp_path)
    assert cores == 7
    assert "limited to 7" in words
    assert "by the cgroup quota" in words


def test_a_quota_below_one_core_still_gives_a_thread(tmp_path: Path, affinity) -> None:  # type: ignore[no-untyped-def]
    affinity(0, 1)
    cgroup(tmp_path, "0::/", **{"sys/fs/cgroup/cpu.max": "50000 100000"})
    assert usable_cores(tmp_path)[0] == 1


def test_the_users_environment_stays_in_force() -> None:
    assert engine_environment({})["GOMP_SPINCOUNT"] == "1000"
    assert engine_environment({})["GGML_CPU_TILED_MM"] == "0"
    assert engine_environment({"GOMP_SPINCOUNT": "7"})["GOMP_SPINCOUNT"] == "7"
    assert "GOMP_SPINCOUNT" not in engine_environment({"OMP_WAIT_POLICY": "active"})


def test_free_memory_is_what_the_kernel_says(tmp_path: Path) -> None:
    assert available_memory(tmp_path) is None
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal:       32000000 kB\nMemAvailable:   24000000 kB\n")
    assert available_memory(tmp_path) == 24_000_000 * 1024
