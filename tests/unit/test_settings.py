from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from app.settings import Settings, default_file, load_settings
from engine.protocol import GenerateSettings, LoadSettings, ModelFile, Sampling


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def test_no_file_means_the_defaults(file: Path) -> None:
    assert load_settings(file) == (Settings(), ())
    assert not file.exists()


def test_everything_can_be_set(file: Path) -> None:
    file.write_text(
        """
        model = "qwen3-4b"
        draft = "/models/small.gguf"
        speculation = "draft"
        draft_max = 5
        temperature = 1
        top_k = 0
        top_p = 1.0
        min_p = 0
        context = 4096
        threads = 3
        mode = "exact"
        gpu_layers = 20
        draft_gpu_layers = "all"
        system = "Be brief."
        save_folder = "~/answers"
        theme = "slipstream-light"
        """
    )
    settings, complaints = load_settings(file)
    assert complaints == ()
    assert (settings.model, settings.speculation, settings.draft_max, settings.temperature) == (
        "qwen3-4b",
        "draft",
        5,
        1.0,
    )
    assert (settings.gpu_layers, settings.draft_gpu_layers, settings.system) == (20, "all", "Be brief.")
    assert set(settings.model_dump()) == settings.model_fields_set


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("temperature = 'hot'", "temperature = 'hot' should be a valid number; using the default (0.7)"),
        ("temperature = -1", "temperature = -1 should be greater than or equal to 0; using the default (0.7)"),
        ("min_p = nan", "min_p = nan should be a finite number; using the default (0.05)"),
        ("top_k = true", "top_k = True should be a valid integer; using the default (40)"),
        ("top_p = 0", "top_p = 0 should be greater than 0; using the default (0.95)"),
        ("context = 8", "context = 8 should be greater than or equal to 16; using the default (not set)"),
        ("draft_max = 65", "draft_max = 65 should be less than or equal to 64; using the default (not set)"),
        (
            "speculation = 'on'",
            "speculation = 'on' should be 'off', 'lookup', 'draft' or 'auto'; using the default (\"auto\")",
        ),
        (
            "gpu_layers = 'some'",
            "gpu_layers = 'some' should be a valid integer or 'auto' or 'all'; using the default (\"auto\")",
        ),
        ("temprature = 1", "there is no setting 'temprature' (did you mean 'temperature'?); it is ignored"),
        ("[sampling]\ntemperature = 1", "there is no setting 'sampling'; it is ignored"),
        (f"model = {list(range(50))}", "model = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1… should be a valid string;"),
    ],
)
def test_a_wrong_key_is_named_and_the_rest_counts(file: Path, line: str, complaint: str) -> None:
    text = f"# mine\nthreads = 3\n{line}\n"
    file.write_text(text)
    settings, complaints = load_settings(file)
    assert settings == Settings(threads=3)
    assert len(complaints) == 1
    assert complaints[0].startswith(f"settings.toml: {complaint}")
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"threads = ", "Invalid value"), (b"\xff\xfe", "codec can't decode"), (b"a = 1\na = 2", "Cannot overwrite")],
)
def test_a_file_that_is_no_toml(file: Path, content: bytes, reason: str) -> None:
    file.write_bytes(content)
    settings, (complaint,) = load_settings(file)
    assert settings == Settings()
    assert re.fullmatch(rf"{re.escape(str(file))} cannot be read: .*{reason}.*\. The defaults are used\.", complaint)


def test_a_folder_instead_of_a_file(file: Path) -> None:
    file.mkdir()
    assert load_settings(file).complaints == (f"{file} cannot be read: Is a directory. The defaults are used.",)


def test_a_byte_order_mark_is_no_mistake(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbfthreads = 2\n")
    assert load_settings(file) == (Settings(threads=2), ())


def test_the_default_file_explains_every_setting(file: Path) -> None:
    text = default_file()
    assert tomllib.loads(text) == {}
    for key, field in Settings.model_fields.items():
        assert field.description
        assert f"# {field.description}\n# {key} =" in text
    file.write_text("\n".join(line[2:] for line in text.splitlines() if re.match(r"# \w+ = ", line)))
    assert load_settings(file) == (Settings(), ())


def test_defaults_are_the_engines() -> None:
    settings, sampling = Settings(), Sampling()
    names = ("temperature", "top_k", "top_p", "min_p")
    assert [getattr(settings, name) for name in names] == [getattr(sampling, name) for name in names]
    generate = GenerateSettings(messages=())
    assert (settings.speculation, settings.draft_max) == (generate.speculation, generate.draft_max)
    load = LoadSettings(target=ModelFile(path="/m.gguf"))
    assert (settings.context, settings.threads, settings.mode) == (load.context, load.threads, load.mode)
    assert settings.gpu_layers == load.target.gpu_layers
