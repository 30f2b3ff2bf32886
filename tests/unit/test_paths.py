from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app import paths


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(paths.HOME_VARIABLE, str(tmp_path / "home"))
    return tmp_path / "home"


def test_one_folder_for_everything(home: Path) -> None:
    places = [
        paths.data_dir(),
        paths.models_dir(),
        paths.chats_file(),
        paths.config_dir(),
        paths.settings_file(),
        paths.catalog_file(),
        paths.cache_dir(),
        paths.state_dir(),
        paths.log_dir(),
        paths.app_log(),
    ]
    assert all(place == home or home in place.parents for place in places)
    assert paths.chats_file() == home / "chats.sqlite"
    assert paths.settings_file() == home / "settings.toml"
    assert not home.exists()  # naming a place does not make it


def test_home_may_be_relative_or_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(paths.HOME_VARIABLE, "portable")
    assert paths.data_dir() == tmp_path / "portable"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv(paths.HOME_VARIABLE, "~/slip")
    assert paths.log_dir() == tmp_path / "slip" / "log"


@pytest.mark.parametrize("unset", [None, "", "  "])
def test_else_the_platforms_own_places(monkeypatch: pytest.MonkeyPatch, unset: str | None) -> None:
    if unset is None:
        monkeypatch.delenv(paths.HOME_VARIABLE, raising=False)
    else:
        monkeypatch.setenv(paths.HOME_VARIABLE, unset)
    for folder in (paths.data_dir(), paths.config_dir(), paths.cache_dir(), paths.state_dir(), paths.log_dir()):
        assert "slipstream" in str(folder)
        assert folder.is_absolute()
    assert paths.models_dir().parent == paths.data_dir()


@pytest.mark.skipif(sys.platform == "win32", reason="file modes of POSIX")
def test_folders_are_the_owners_only(home: Path) -> None:
    assert paths.ensure(paths.models_dir()) == home / "models"
    assert paths.ensure(paths.models_dir()).stat().st_mode & 0o777 == 0o700


def test_a_folder_that_cannot_be_made(home: Path) -> None:
    home.write_text("a file")
    with pytest.raises(paths.FolderError) as error:
        paths.ensure(paths.log_dir())
    assert str(error.value) == (
        f"The folder {home / 'log'} cannot be created: not a directory. Set SLIPSTREAM_HOME to a folder that can be "
        "written to."
    )
    with pytest.raises(paths.FolderError, match="cannot be created: file exists"):
        paths.ensure(home)


def test_each_process_has_an_engine_log_of_its_own(home: Path) -> None:
    assert paths.engine_log() == home / "log" / f"engine-{os.getpid()}.log"
    assert paths.engine_log(7) == home / "log" / "engine-7.log"


def test_old_engine_logs_are_pruned(home: Path) -> None:
    folder = paths.ensure(paths.log_dir())
    for age in range(25):
        log = folder / f"engine-{1000 + age}.log"
        log.touch()
        os.utime(log, (1_000_000 - age, 1_000_000 - age))
    paths.app_log().touch()
    oldest = paths.engine_log(1024)  # this process's own log stays, however old
    left = {log.name for log in folder.iterdir()}
    newest = {f"engine-{1000 + age}.log" for age in range(paths.KEPT_ENGINE_LOGS)}
    assert left == newest | {oldest.name, "app.log"}


def test_importing_paths_is_cheap() -> None:
    script = "import sys, app.paths; print('platformdirs' in sys.modules, 'pydantic' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["False", "False"]
