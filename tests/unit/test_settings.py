from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from app.settings import MOST_BYTES, TABLES, Samplers, Settings, default_file, load_settings
from app.settings_check import NAMED
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
        max_tokens = 500
        seed = 7
        thinking = false
        preset = "wild"
        temperature = 1
        top_k = 0
        top_p = 1.0
        min_p = 0
        typical_p = 0.9
        top_n_sigma = 1.5
        repeat_penalty = 1.1
        repeat_last_n = -1
        frequency_penalty = -0.5
        presence_penalty = 0.5
        dry_multiplier = 0.8
        dry_base = 2
        dry_allowed_length = 3
        dry_penalty_last_n = 512
        dry_sequence_breakers = ["\\n", "§"]
        xtc_probability = 0.5
        xtc_threshold = 0.2
        context = 4096
        overflow = "drop-oldest"
        threads = 3
        mode = "exact"
        gpu_layers = 20
        draft_gpu_layers = "all"
        system = "Be brief."
        save_folder = "~/answers"
        theme = "slipstream-light"
        motion = "reduced"
        keys = { "chat.compare" = "f5" }

        [system_prompts]
        brief = "One sentence."
        "in Dutch" = "Answer in Dutch."

        [presets.wild]
        temperature = 1.3
        dry_sequence_breakers = []
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
    assert (settings.seed, settings.thinking, settings.dry_sequence_breakers) == (7, False, ("\n", "§"))
    assert settings.system_prompts == {"brief": "One sentence.", "in Dutch": "Answer in Dutch."}
    assert settings.presets == {"wild": Samplers(temperature=1.3, dry_sequence_breakers=())}
    assert settings.presets["wild"].model_dump(exclude_unset=True) == {
        "temperature": 1.3,
        "dry_sequence_breakers": (),
    }
    assert set(settings.model_dump()) == settings.model_fields_set


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("temperature = 'hot'", "temperature = 'hot' should be 0 to 10; using the default (0.7)"),
        ("temperature = -1", "temperature = -1 should be 0 to 10; using the default (0.7)"),
        ("min_p = nan", "min_p = nan should be 0 to 1; using the default (0.05)"),
        ("top_k = true", "top_k = True should be a whole number, 0 to 2,147,483,647; using the default (40)"),
        ("top_p = 0", "top_p = 0 should be above 0, up to 1; using the default (0.95)"),
        ("context = 8", "context = 8 should be 16 to 2,147,483,647 tokens; using the default (not set)"),
        (
            "context = 2147483648",
            "context = 2147483648 should be 16 to 2,147,483,647 tokens; using the default (not set)",
        ),
        ("draft_max = 65", "draft_max = 65 should be a whole number, 0 to 64; using the default (not set)"),
        (
            "speculation = 'on'",
            "speculation = 'on' should be 'off', 'lookup', 'draft' or 'auto'; using the default (\"auto\")",
        ),
        (
            "overflow = 'drop'",
            "overflow = 'drop' should be 'ask', 'stop' or 'drop-oldest'; using the default (\"ask\")",
        ),
        (
            "gpu_layers = 'some'",
            "gpu_layers = 'some' should be a whole number from 0 up or 'auto' or 'all'; using the default (\"auto\")",
        ),
        ("temprature = 1", "there is no setting 'temprature' (did you mean 'temperature'?); it is ignored"),
        ("[sampling]\ntemperature = 1", "there is no setting 'sampling'; it is ignored"),
        ("typical_p = 0", "typical_p = 0 should be above 0, up to 1; using the default (1)"),
        ("repeat_penalty = 101", "repeat_penalty = 101 should be 0.01 to 100; using the default (1)"),
        (
            "repeat_last_n = 0.5",
            "repeat_last_n = 0.5 should be a whole number, -1 to 2,147,483,647; using the default (64)",
        ),
        ("seed = -1", "seed = -1 should be a whole number, 0 to 2^63-1; using the default (not set)"),
        ("thinking = 'on'", "thinking = 'on' should be true or false; using the default (not set)"),
        (
            "dry_sequence_breakers = ['a', 1]",
            'dry_sequence_breakers = [\'a\', 1] should be a text; using the default (["\\n", ":", "\\"", "*"])',
        ),
        ("grammar = 'root ::= x'", "there is no setting 'grammar'; it is ignored"),
        ("presets = 3", "presets = 3 should be a table; using the default (none)"),
        (f"model = {list(range(50))}", "model = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1… should be a text;"),
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
    assert max(map(len, text.splitlines())) <= 120
    for key, field in Settings.model_fields.items():
        assert field.description
        assert "\n" not in field.description
        assert f"# {field.description}\n" in text
        if key not in TABLES:
            assert f"# {field.description}\n# {'[keys]' if key == 'keys' else f'{key} ='}" in text
    settings_of_it = [line[2:] for line in text.splitlines() if re.match(r"# \w+ = ", line)]
    tables = text.index("# [system_prompts]")
    file.write_text("\n".join(line for line in settings_of_it if text.index(f"# {line}") < tables))
    assert load_settings(file) == (Settings(), ())


def test_the_examples_of_the_default_file_can_be_used(file: Path) -> None:
    text = default_file()
    examples = text[text.index("# [system_prompts]") : text.index(f"# {Settings.model_fields['keys'].description}")]
    file.write_text(re.sub(r"^# ?", "", examples, flags=re.MULTILINE))
    settings, complaints = load_settings(file)
    assert complaints == ()
    assert list(settings.system_prompts) == ["brief", "proofreader"]
    assert list(settings.presets) == ["wild", "no-repeats"]


def test_a_wrong_entry_of_a_table_is_named_and_the_others_count(file: Path) -> None:
    file.write_text(
        """
        threads = 3
        [system_prompts]
        brief = "One sentence."
        long = 5
        default = "x"
        "two\\nlines" = "x"
        theme = "slipstream-light"
        [presets]
        loud = 3
        temperature = 0.5
        [presets.wild]
        temperature = 99
        top_k = 7
        model = "qwen3-4b"
        top_kk = 3
        [presets.none]
        temperature = "hot"
        """
    )
    settings, complaints = load_settings(file)
    assert settings == Settings(
        threads=3, system_prompts={"brief": "One sentence."}, presets={"wild": Samplers(top_k=7)}
    )
    assert sorted(complaints) == sorted(
        f"settings.toml: {words}"
        for words in (
            "system_prompts.long = 5 should be a text; it is left out",
            "[system_prompts]: 'default' is a word of the commands and cannot be a name; it is left out",
            "[system_prompts]: 'two lines' holds control codes or spaces that would not be seen, and cannot be a name; "
            "it is left out",
            "[system_prompts]: 'theme' is a setting; settings stand above the first [table]; it is left out",
            "presets.loud = 3 should be a table; it is left out",
            "[presets]: 'temperature' is a setting; settings stand above the first [table]; it is left out",
            "presets.wild.temperature = 99 should be 0 to 10; it is left out",
            "in [presets.wild] there is no sampler 'model' (a setting of this name stands above the first [table]); "
            "it is ignored",
            "in [presets.wild] there is no sampler 'top_kk' (did you mean 'top_k'?); it is ignored",
            "[presets]: 'none' is a word of the commands and cannot be a name; it is left out",
            "presets.none.temperature = 'hot' should be 0 to 10; it is left out",
        )
    )


def test_a_file_that_is_no_settings_file_at_all_is_not_named_line_by_line(file: Path) -> None:
    file.write_text("".join(f"a{number} = 1\n" for number in range(1000)))
    settings, complaints = load_settings(file)
    assert settings == Settings()
    assert len(complaints) == NAMED + 1
    assert complaints[-1] == f"settings.toml: and {1000 - NAMED} more entries that cannot be used"


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda file: os.mkfifo(file), "It is a pipe"),
        (lambda file: file.symlink_to("/dev/zero"), "It is a device or a socket, not a file"),
        (lambda file: file.write_bytes(b"# " * MOST_BYTES), f"It holds more than {MOST_BYTES:,} bytes"),
        (lambda file: file.write_text("a = " + "[" * 100_000), "It is nested too deeply"),
    ],
    ids=["pipe", "device", "large", "deep"],
)
def test_what_would_be_waited_for_or_has_no_end_is_said(
    file: Path, make: Callable[[Path], object], reason: str
) -> None:
    make(file)
    assert load_settings(file) == (Settings(), (f"{file} cannot be read: {reason}. The defaults are used.",))


def test_values_that_cannot_be_shown_are_no_fault(file: Path) -> None:
    file.write_text(f"model = 0x{'f' * 9000}\n{'.'.join('a' * 2000)} = 1\n")
    settings, complaints = load_settings(file)
    assert settings == Settings()
    assert complaints


def test_defaults_are_the_engines() -> None:
    settings, sampling = Settings(), Sampling()
    for name in Samplers.model_fields:
        assert getattr(settings, name) == getattr(sampling, name)
    of_one_question = {"logit_bias", "grammar", "json_schema"}
    assert set(Samplers.model_fields) == set(Sampling.model_fields) - of_one_question
    generate = GenerateSettings(messages=())
    for name in ("speculation", "draft_max", "max_tokens", "seed", "thinking"):
        assert getattr(settings, name) == getattr(generate, name)
    load = LoadSettings(target=ModelFile(path="/m.gguf"))
    assert (settings.context, settings.threads, settings.mode) == (load.context, load.threads, load.mode)
    assert settings.gpu_layers == load.target.gpu_layers
