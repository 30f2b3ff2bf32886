"""``slipstream models pull``: the plan, the question, the bytes, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixtures.headers import write_model
from tests.fixtures.homes import ONE_TARGET, Home
from tests.fixtures.hub import Hub, refusing_port
from tests.fixtures_cli.results import Slipstream


def test_pull_shows_the_plan_asks_and_fetches(home: Home, slipstream: Slipstream) -> None:
    result = slipstream("models", "pull", "one", answer="y\n")
    assert result.code == 0
    assert "target  one-Q8_0.gguf" in result.out
    assert "licence  Apache-2.0" in result.out
    assert result.err.startswith("\nFetch ")
    assert "[y/N]" in result.err
    assert result.out.endswith("One with draft is here. Use it with: slipstream --model one\n")
    assert (home.models / ONE_TARGET).read_bytes() == home.files[ONE_TARGET]
    again = slipstream("models", "pull", "one")
    assert (again.code, again.err) == (0, "One with draft is here already; nothing is to be fetched.\n")


@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
def test_no_fetches_nothing(home: Home, hub: Hub, slipstream: Slipstream, answer: str) -> None:
    result = slipstream("models", "pull", "one", answer=answer)
    assert result.code == 1
    assert result.err.endswith("Nothing was fetched.\n")
    assert hub.sent("cdn/*") == 0
    assert home.names() == []


def test_where_nobody_can_be_asked_yes_is_wanted(home: Home, slipstream: Slipstream) -> None:
    result = slipstream("models", "pull", "one")
    assert result.code == 1
    assert result.err == "Nothing was fetched: there is nobody to ask here. Add --yes to agree beforehand.\n"


def test_a_dry_run_shows_the_plan_only(home: Home, hub: Hub, slipstream: Slipstream) -> None:
    result = slipstream("models", "pull", "one", "--dry-run")
    assert (result.code, result.err) == (0, "")
    assert "to fetch" in result.out
    assert hub.sent("cdn/*") == 0


def test_a_file_of_the_users_in_the_way_is_left_alone_and_the_way_out_is_named(
    home: Home, hub: Hub, slipstream: Slipstream
) -> None:
    mine = home.put(ONE_TARGET, b"my own notes")
    result = slipstream("models", "pull", "one", "--yes")
    assert result.code == 1
    assert result.err == (
        f"{mine} is another file than the hub's, and Slipstream did not fetch it; nothing was changed. Move or delete "
        "it, then start again. To see what would be lost and replace it: slipstream models pull one --replace\n"
    )
    assert hub.sent("cdn/*") == 0


def test_replace_shows_what_would_be_lost_and_asks(home: Home, slipstream: Slipstream) -> None:
    mine = home.put(ONE_TARGET, b"my own notes")
    kept = slipstream("models", "pull", "one", "--replace", answer="n\n")
    assert kept.code == 1
    assert f"replaces {mine}, 12 bytes, changed " in kept.out
    assert "SHA-256 " in kept.out
    assert " and replace 1 file of yours? [y/N]" in kept.err
    assert kept.err.endswith("Nothing was fetched.\n")
    assert slipstream("models", "pull", "one", "--replace", "--dry-run").code == 0
    assert mine.read_bytes() == b"my own notes"
    assert slipstream("models", "pull", "one", "--replace", "--yes").code == 0
    assert mine.read_bytes() == home.files[ONE_TARGET]


def test_replace_does_not_touch_a_link(home: Home, slipstream: Slipstream) -> None:
    elsewhere = home.user / "elsewhere.gguf"
    elsewhere.write_bytes(b"my own notes")
    link = home.models / ONE_TARGET
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere)
    result = slipstream("models", "pull", "one", "--replace", "--yes")
    assert result.code == 1
    assert f"it is a link to {elsewhere}, and links are never replaced; nothing was changed." in result.err
    assert "--replace" not in result.err
    assert elsewhere.read_bytes() == b"my own notes"


def test_a_pipe_gets_a_plain_line_now_and_then(home: Home, hub: Hub, slipstream: Slipstream) -> None:
    hub.misbehave("cdn/*", throttle=200_000)
    result = slipstream("models", "pull", "one", "--yes")
    assert result.code == 0
    lines = result.err.splitlines()
    assert all(line.startswith("One with draft: ") and " %  " in line for line in lines)
    shares = [int(line.removeprefix("One with draft: ").partition(" %")[0]) for line in lines]
    assert shares == sorted(shares)
    assert {share // 25 for share in shares} >= {0, 1, 2, 3}, "also a short transfer is seen to rise"
    assert len(lines) <= 6
    assert "\x1b" not in result.err


def test_a_disk_that_cannot_hold_it_is_refused_before_the_first_byte(
    monkeypatch: pytest.MonkeyPatch, home: Home, hub: Hub, slipstream: Slipstream
) -> None:
    monkeypatch.setattr("app.library.plan.free_bytes", lambda folder: 1_000)
    result = slipstream("models", "pull", "one", "--yes")
    assert result.code == 1
    assert "one-Q8_0.gguf" in result.out
    assert "1 kB free" in result.err
    assert "nothing was fetched" in result.err
    assert len(result.err.splitlines()) == 1
    assert hub.sent("cdn/*") == 0


def test_a_hub_that_is_away_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, home: Home, slipstream: Slipstream
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{refusing_port()}")
    result = slipstream("models", "pull", "one", "--yes")
    assert result.code == 1
    assert len(result.err.splitlines()) == 1
    assert "127.0.0.1" in result.err


def test_a_broken_download_says_what_was_kept(home: Home, hub: Hub, slipstream: Slipstream) -> None:
    hub.misbehave("cdn/org/one-GGUF/*", cut_after=3_000, times=2)
    hub.misbehave("cdn/org/one-GGUF/*", skip=2, silent=True)
    result = slipstream("models", "pull", "one", "--yes")
    last = result.err.splitlines()[-1]
    assert result.code == 1
    assert "one-Q8_0.gguf" in last
    assert "kept" in last


def test_what_is_no_model_is_said_and_not_offered(home: Home, hub: Hub, slipstream: Slipstream) -> None:
    hub.repo("some/Model-GGUF").put("Model-Q4_K_M.gguf", b"random bytes " * 1000)
    result = slipstream("models", "pull", "some/Model-GGUF", "--yes")
    assert result.code == 1
    assert result.err.splitlines()[-1] == (
        "Model-Q4_K_M.gguf: all of it arrived, and it is no model that can be used: it is not a GGUF model file; it "
        "was deleted; the hub has nothing else under that name, so choose another file."
    )
    assert "Use it with" not in result.out
    assert home.names() == []


def test_a_projector_is_fetched_and_not_offered_as_a_model(
    home: Home, hub: Hub, slipstream: Slipstream, tmp_path: Path
) -> None:
    data = write_model(tmp_path / "m.gguf", architecture="clip").read_bytes()
    hub.repo("some/Model-GGUF").put("vision-F16.gguf", data)
    wanted = "some/Model-GGUF/vision-F16.gguf"
    words = (
        "It cannot be chosen as a model: it is a projector that lets another model see or hear, not a model of its own."
    )
    result = slipstream("models", "pull", wanted, "--yes")
    assert result.code == 0
    assert result.out.endswith(f"{wanted} is here. {words}\n")
    again = slipstream("models", "pull", wanted)
    assert (again.code, again.err) == (0, f"{wanted} is here already; nothing is to be fetched. {words}\n")


def test_what_was_here_before_and_is_no_model_is_a_failure(home: Home, hub: Hub, slipstream: Slipstream) -> None:
    hub.repo("some/Model-GGUF").put("Model-Q4_K_M.gguf", b"random bytes")
    home.put("some/Model-GGUF/Model-Q4_K_M.gguf", b"random bytes")
    result = slipstream("models", "pull", "some/Model-GGUF")
    assert result.code == 1
    assert result.err.endswith(
        "is here already; nothing is to be fetched. It cannot be chosen as a model: Model-Q4_K_M.gguf is not a GGUF "
        "model file.\n"
    )


def test_a_start_from_zero_is_told(home: Home, slipstream: Slipstream) -> None:
    home.put(f"{ONE_TARGET}.part", b"x" * (len(home.files[ONE_TARGET]) + 1))
    result = slipstream("models", "pull", "one", "--yes")
    assert result.code == 0
    assert result.err.count("one-Q8_0.gguf: what was kept was damaged: started from zero.\n") == 1


def test_names_that_lead_elsewhere_are_refused_before_any_request(home: Home, hub: Hub, slipstream: Slipstream) -> None:
    result = slipstream("models", "pull", "../../evil")
    assert result.code == 1
    assert "is a path on this disk, not a model of the hub" in result.err
    assert hub.requests == []
