"""What ``slipstream`` makes of settings.toml, ``--preset`` and prompts with a name."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app import cli, paths
from app.commands import chat, client
from app.commands.errors import CommandError
from app.commands.options import answer_request, effective_settings, origins
from app.system_prompts import SystemPrompts
from engine.protocol import Sampling


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def toml(home: Path) -> Callable[[str], object]:
    return lambda text: (home / "settings.toml").write_text(text)


def sampling_of(**options: Any) -> Sampling:
    return answer_request(effective_settings(options).settings, (), options).sampling


def test_every_sampler_of_the_file_reaches_the_engine_and_options_stand_above(toml: Callable[[str], object]) -> None:
    toml("repeat_penalty = 1.1\ndry_multiplier = 0.8\ndry_sequence_breakers = ['.']\nxtc_probability = 0.5\n")
    wanted = Sampling(repeat_penalty=1.1, dry_multiplier=0.8, dry_sequence_breakers=(".",), xtc_probability=0.5)
    assert sampling_of() == wanted
    assert sampling_of(dry_multiplier=0.0, dry_sequence_breaker=["a", "b"], logit_bias=["7=-1"]) == wanted.model_copy(
        update={"dry_multiplier": 0.0, "dry_sequence_breakers": ("a", "b"), "logit_bias": {7: -1.0}}
    )


def test_seed_limit_and_thinking_of_the_file(toml: Callable[[str], object]) -> None:
    toml("seed = 7\nmax_tokens = 50\nthinking = false\n")
    for options, seed, most in (({}, 7, 50), ({"seed": 8, "max_tokens": 60}, 8, 60)):
        request = answer_request(effective_settings(options).settings, (), options)
        assert (request.seed, request.max_tokens, request.thinking) == (seed, most, False)


def test_a_preset_of_the_file_stands_below_its_samplers_and_one_of_the_options_above(
    toml: Callable[[str], object],
) -> None:
    toml('preset = "creative"\ntop_k = 9\n')
    assert sampling_of() == Sampling(temperature=1.0, top_k=9, top_p=1.0)
    assert sampling_of(preset="precise") == Sampling(temperature=0.3, top_k=40, top_p=0.9, min_p=0.1)
    assert sampling_of(preset="precise", temperature=0.0).temperature == 0.0


def test_a_preset_of_ones_own(toml: Callable[[str], object]) -> None:
    toml("[presets.wild]\ntemperature = 1.3\ntypical_p = 0.9\n")
    assert sampling_of(preset="wild") == Sampling(temperature=1.3, typical_p=0.9)


def test_a_preset_that_is_not_there(toml: Callable[[str], object]) -> None:
    toml('preset = "wild"\n')
    words = "There is no preset called wild; there are precise, balanced, creative."
    assert effective_settings({}).complaints == (f'settings.toml: preset = "wild": {words} It is ignored.',)
    with pytest.raises(CommandError) as refused:
        effective_settings({"preset": "tame"})
    assert str(refused.value) == "There is no preset called tame; there are precise, balanced, creative."


def test_a_system_prompt_by_its_name(toml: Callable[[str], object]) -> None:
    toml('system = "brief"\n[system_prompts]\nbrief = "One sentence."\n')
    SystemPrompts({}, paths.system_prompts_file()).keep("pirate", "Arr.")
    assert effective_settings({}).settings.system == "One sentence."
    assert effective_settings({"system": "pirate"}).settings.system == "Arr."
    assert effective_settings({"system": "Be kind."}).settings.system == "Be kind."


def test_prompts_that_cannot_be_read_are_said_where_one_may_be_meant(home: Path) -> None:
    paths.system_prompts_file().write_text("{")
    assert effective_settings({}).complaints == ()
    settings, (complaint,) = effective_settings({"system": "pirate"})
    assert settings.system == "pirate"
    assert complaint.startswith(f"The system prompts in {home / 'system-prompts.json'} cannot be read")


def test_who_says_so(toml: Callable[[str], object]) -> None:
    toml('preset = "precise"\ntop_k = 9\nsystem = "Be brief."\n')
    options = {"temperature": 0.5, "seed": None}
    assert origins(options, effective_settings(options).settings) == {
        "preset": "settings.toml",
        "temperature": "command line",
        "top_k": "settings.toml",
        "top_p": "preset precise",
        "min_p": "preset precise",
        "system": "settings.toml",
    }


def test_the_chat_gets_them_all(
    toml: Callable[[str], object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[dict[str, Any]] = []
    monkeypatch.setattr(chat, "run_chat", lambda engine, load, **rest: opened.append(rest) or 0)
    monkeypatch.setattr(client, "make_client", lambda: "the client")
    monkeypatch.setattr(chat, "has_to_be_plain", lambda *, by_name: False)  # tests have no terminal
    toml('[system_prompts]\nbrief = "One sentence."\n[presets.wild]\ntemperature = 1.3\n')
    for arguments in (["--preset", "wild"], ["chat", "--preset", "wild"]):
        monkeypatch.setattr("sys.argv", ["slipstream", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert ended.value.code == 0
    for call in opened:
        by_name = call["by_name"]
        assert call["defaults"].sampling == Sampling(temperature=1.3)
        assert list(by_name.presets) == ["precise", "balanced", "creative", "wild"]
        assert list(by_name.prompts.all()) == ["brief"]
        assert by_name.origins == {
            "preset": "command line",
            "temperature": "preset wild",
            "system_prompts": "settings.toml",
            "presets": "settings.toml",
        }


def test_a_settings_file_to_begin_with(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["slipstream", "help", "settings"])
    with pytest.raises(SystemExit):
        cli.main()
    text = capsys.readouterr().out
    assert tomllib.loads(text) == {}
    assert "# repeat_penalty = 1\n" in text
    assert "# [presets.wild]\n" in text
