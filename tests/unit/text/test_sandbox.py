"""The helper process: started once, replaced after trouble, never left behind."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from engine.text.sandbox import Sandbox, TemplateProblem

ROOT = Path(__file__).resolve().parents[3]
NOW = datetime(2030, 1, 1)
ENDLESS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    sandbox = Sandbox(time_limit=60, start_limit=60)  # a busy machine must not decide
    yield sandbox
    sandbox.close()


def test_one_process_serves_many_renderings(sandbox: Sandbox) -> None:
    before = sandbox.pid
    assert before is None
    assert sandbox.render("{{ bos_token }}", [], "<s>", "", NOW) == "<s>"
    first = sandbox.pid
    assert first is not None
    assert sandbox.render("{{ eos_token }}", [], "", "</s>", NOW) == "</s>"
    assert sandbox.pid == first


def test_it_is_replaced_after_a_time_out(sandbox: Sandbox) -> None:
    sandbox.render("", [], "", "", NOW)
    first = sandbox.pid
    sandbox.time_limit = 0.3
    with pytest.raises(TemplateProblem) as caught:
        sandbox.render(ENDLESS, [], "", "", NOW)
    assert caught.value.kind == "timeout"
    sandbox.time_limit = 60
    assert sandbox.render("fine", [], "", "", NOW) == "fine"
    assert sandbox.pid != first


def test_it_is_replaced_after_a_death(sandbox: Sandbox) -> None:
    sandbox.render("", [], "", "", NOW)
    process = sandbox._process
    assert process is not None
    process.kill()
    process.wait()
    assert sandbox.render("fine", [], "", "", NOW) == "fine"


def test_the_line_of_a_failure_is_reported(sandbox: Sandbox) -> None:
    with pytest.raises(TemplateProblem) as caught:
        sandbox.render("\n\n{{ 1 / 0 }}", [], "", "", NOW)
    assert (caught.value.kind, caught.value.message, caught.value.line) == ("runtime", "division by zero", 3)


def test_output_without_end_is_refused(sandbox: Sandbox) -> None:
    with pytest.raises(TemplateProblem) as caught:
        sandbox.render("{{ 'x' * 17000000 }}", [], "", "", NOW)
    assert caught.value.kind == "too_long"


def test_a_long_conversation_passes(sandbox: Sandbox) -> None:
    text = "ä😀\n" * 100_000
    assert sandbox.render("{{ messages[0].content }}", [{"role": "user", "content": text}], "", "", NOW) == text


def test_other_packages_named_engine_are_not_imported(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text("raise SystemExit('wrong engine')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert sandbox.render("fine", [], "", "", NOW) == "fine"


@pytest.mark.parametrize("template", ["fine", ENDLESS], ids=["idle", "rendering"])
def test_the_helper_does_not_outlive_its_parent(template: str) -> None:
    parent = f"""
import datetime, json, os, signal
from engine.text.sandbox import Sandbox
sandbox = Sandbox(time_limit=60, start_limit=60)
sandbox.render("", [], "", "", datetime.datetime.now())
request = dict(template={template!r}, messages=[], bos="", eos="", now="2030-01-01", watchdog=0.5)
sandbox._process.stdin.write(json.dumps(request).encode() + b"\\n")
sandbox._process.stdin.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""
    process = subprocess.Popen([sys.executable, "-c", parent], cwd=ROOT, stderr=subprocess.PIPE)
    process.communicate(timeout=120)  # the helper holds the same stderr: this returns when both are gone
    assert process.returncode != 0


def test_the_limits_of_the_product() -> None:
    sandbox = Sandbox()
    assert (sandbox.time_limit, sandbox.start_limit) == (2.0, 5.0)
