"""The built wheel in a fresh environment: what was shipped is found, whatever folder one stands in."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("slipstream_chat-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts folder of a fresh environment with the wheel; libraries come from the outer one."""
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    venv.create(folder, with_pip=False, symlinks=True)
    paths = sysconfig.get_paths(scheme="venv", vars={"base": str(folder), "platbase": str(folder)})
    command = [sys.executable, "-m", "pip", "--quiet", "--python", str(folder), "install", "--no-deps", "--no-index"]
    done = subprocess.run([*command, str(wheel)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    # Only site-packages itself: its own .pth files, among them our editable install, are not read from there.
    Path(paths["purelib"], "outer.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return Path(paths["scripts"])


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A working folder of a user who has packages of the same names."""
    for package in ("app", "engine"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("raise SystemExit('the wrong package')")
    return tmp_path


def run(*command: str | Path, cwd: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment["SLIPSTREAM_HOME"] = str(cwd / "home")
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_holds_both_packages_and_the_data(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {
        path.relative_to(ROOT).as_posix() for package in ("app", "engine") for path in (ROOT / package).rglob("*.py")
    }
    styles = {path.relative_to(ROOT).as_posix() for path in (ROOT / "app").rglob("*.tcss")}
    assert sources | styles <= names
    assert {"app/shipped/models.toml", "app/shipped/assets/README.md"} <= names
    assert not {name for name in names if name.startswith(("tests/", "scripts/"))}


def test_the_command_runs_from_another_folder(installed: Path, elsewhere: Path) -> None:
    assert run(installed / "slipstream", "--version", cwd=elsewhere).startswith("slipstream ")


def test_shipped_files_are_found(installed: Path, elsewhere: Path) -> None:
    code = (
        "from app.library.data import shipped; from app.library.catalog import catalog; import app\n"
        "print(app.__file__, shipped('assets').is_dir(), catalog().starter.name, shipped('models.toml'), sep='\\n')"
    )
    where, assets, starter, catalogue = run(installed / "python", "-P", "-c", code, cwd=elsewhere).splitlines()
    assert Path(where).is_relative_to(installed.parent)
    assert Path(catalogue).is_relative_to(installed.parent)
    assert (assets, starter) == ("True", "smollm2-135m")


def test_without_a_terminal_the_chat_says_what_to_do(installed: Path, elsewhere: Path) -> None:
    done = subprocess.run(
        [installed / "slipstream"], cwd=elsewhere, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
        env=os.environ | {"SLIPSTREAM_HOME": str(elsewhere / "home")},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "The chat needs a terminal; for one answer without one: slipstream ask PROMPT\n"
