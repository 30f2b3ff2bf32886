"""``slipstream doctor``."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from app.commands import client, doctor
from engine.protocol import ErrorCode
from tests.app.tui.fake_client import FakeClient, failure
from tests.fixtures.disks import write_parts
from tests.fixtures.headers import write_model
from tests.fixtures_cli.results import Slipstream

# ----------------------------------------------------------------------------------------------------------- doctor


def test_doctor_says_that_all_is_well(slipstream: Slipstream) -> None:
    result = slipstream("doctor")
    assert (result.code, result.err) == (0, "")
    assert result.out.endswith("All is well.\n")
    for fact in ("2 (2 usable cores)", "CPU: A processor", "type_v=bf16", "GGML_CPU_TILED_MM=0", "SmolLM2", "whole"):
        assert fact in result.out


def test_doctor_as_json(slipstream: Slipstream, tmp_path: Path) -> None:
    report = json.loads(slipstream("doctor", "--json").out)
    assert report["problems"] == []
    assert report["engine"]["threads"] == 2
    assert {folder["path"] for folder in report["folders"]} >= {str(tmp_path / "home")}


def test_doctor_survives_an_engine_that_does_not_start(slipstream: Slipstream) -> None:
    result = slipstream("doctor", play={"exit": 3, "last_words": "no such library"})
    assert result.code == 1
    assert "1 problem:\n  The engine stopped (exit code 3). Its last words: no such library\n" in result.out


def test_doctor_names_a_broken_model_file(slipstream: Slipstream, tmp_path: Path) -> None:
    models = tmp_path / "home" / "models"
    models.mkdir(parents=True)
    (models / "page.gguf").write_bytes(b"<html>not found</html>")
    result = slipstream("doctor")
    assert result.code == 1
    assert "1 problem:" in result.out
    assert "page.gguf" in result.out.split("1 problem:")[1]


def test_doctor_names_a_model_whose_header_cannot_be_true_and_parts_that_are_not_whole(
    slipstream: Slipstream, tmp_path: Path
) -> None:
    models = tmp_path / "home" / "models"
    write_model(models / "none.gguf", heads=0)
    paths = write_parts(models, "Cut", 2)
    os.truncate(paths[1], paths[1].stat().st_size - 500)
    problems = slipstream("doctor").out.split("2 problems:")[1]
    assert "none.gguf: its header is damaged: it claims no attention head.\n" in problems
    assert f"Cut-00001-of-00002.gguf: part 2 of 2: {paths[1].name} is incomplete: " in problems


def test_doctor_names_a_folder_that_cannot_be_written_to(slipstream: Slipstream, tmp_path: Path) -> None:
    (tmp_path / "home").write_text("in the way")
    result = slipstream("doctor")
    assert result.code == 1
    assert f"The data folder {tmp_path / 'home'} cannot be written to: {tmp_path / 'home'} is a file." in result.out


# ---------------------------------------------------------------------------------------------------------- self-test

UNTESTABLE = "This model keeps running states."


@pytest.mark.parametrize(("code", "problems"), [(ErrorCode.BAD_REQUEST, []), (ErrorCode.LOAD_FAILED, [UNTESTABLE])])
def test_a_model_with_nothing_to_compare_is_no_problem(
    slipstream: Slipstream, monkeypatch: pytest.MonkeyPatch, code: ErrorCode, problems: list[str]
) -> None:
    class Untestable(FakeClient):
        async def self_test(self) -> Any:
            return failure(code, UNTESTABLE)

    monkeypatch.setattr(client, "make_client", Untestable)
    result = slipstream("doctor", "--self-test", "--json")
    report = json.loads(result.out)
    assert report["exactness"] == {"error": UNTESTABLE}
    assert report["problems"] == problems
    assert result.code == (1 if problems else 0)


def test_what_is_known_is_said_where_the_self_test_is_stopped(
    slipstream: Slipstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(model: str | None, problems: list[str]) -> dict[str, Any]:
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "examine_exactness", stopped)
    result = slipstream("doctor", "--self-test")
    assert "The self-test was stopped; nothing of it is kept." in result.out
    assert "A processor" in result.out
    assert result.code == 130
