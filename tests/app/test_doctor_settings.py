"""``slipstream doctor`` names what settings.toml asks for and is not here."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.commands import doctor


def test_a_model_and_a_draft_that_are_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "settings.toml").write_text('model = "smollm2-135m"\ndraft = "nowhere.gguf"\n')
    problems: list[str] = []
    doctor._settings(problems)
    assert problems == ['settings.toml: draft = "nowhere.gguf": There is no file nowhere.gguf.']
    (tmp_path / "settings.toml").write_text('model = "./gone.gguf"\n')
    problems.clear()
    doctor._settings(problems)
    assert problems == ['settings.toml: model = "./gone.gguf": There is no file ./gone.gguf.']


def test_keys_that_cannot_be_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path))
    (tmp_path / "settings.toml").write_text('[keys]\n"chat.compare" = "f25"\n')
    problems: list[str] = []
    doctor._settings(problems)
    assert problems == ['settings.toml, [keys]: chat.compare: there is no key "f25"; it stays ctrl+r.']


def test_a_preset_and_a_theme_that_there_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path))
    (tmp_path / "settings.toml").write_text('preset = "nosuch"\ntheme = "nope"\n')
    problems: list[str] = []
    doctor._settings(problems)
    assert problems == [
        'settings.toml: preset = "nosuch": There is no preset called nosuch; there are precise, balanced, creative. '
        "It is ignored.",
        "settings.toml: there is no theme called nope; slipstream-dark is used. /theme shows all.",
    ]
    for theme in ("slipstream-light", "nord"):
        (tmp_path / "settings.toml").write_text(f'preset = "mine"\ntheme = "{theme}"\n[presets.mine]\ntop_k = 3\n')
        problems.clear()
        doctor._settings(problems)
        assert problems == []


def test_every_wrong_entry_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path))
    (tmp_path / "settings.toml").write_text("".join(f"a{number} = 1\n" for number in range(50)))
    problems: list[str] = []
    doctor._settings(problems)
    assert len(problems) == 50
    assert "'a49'" in problems[-1]
