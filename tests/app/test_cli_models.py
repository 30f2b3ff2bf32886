"""``slipstream models`` inside this process, against a hub on loopback."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from app import paths
from app.commands import client
from app.commands.models import common
from app.library.shelf import Shelf
from engine.protocol import Described, Device
from tests.fixtures.disks import write_ollama
from tests.fixtures.headers import write_model
from tests.fixtures.homes import ONE_TARGET, OTHER_TARGET, SHARED_DRAFT, Home
from tests.fixtures.hub import Hub
from tests.fixtures_cli.results import Slipstream


def test_list_shows_pairs_and_files_without_a_network(home: Home, hub: Hub, slipstream: Slipstream) -> None:
    home.studio("mistral-Q4_K_M.gguf", home.files[OTHER_TARGET])
    result = slipstream("models", "list")
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert lines[0].split() == "name model size memory speed here state".split()
    assert any(line.startswith("one ") and line.endswith("not here") for line in lines)
    assert "on this disk (LM Studio)" in lines
    assert any(line.startswith("mistral-Q4_K_M") and "ready, read in place" in line for line in lines)
    assert "free disk" in lines[-1]
    assert hub.requests == []


def test_the_column_of_names_keeps_its_width(home: Home, slipstream: Slipstream) -> None:
    store = home.user / ".ollama" / "models"
    write_ollama(store, "registry.ollama.ai/library/toy/latest", {"model": home.files[OTHER_TARGET]})
    home.studio(f"{'long' * 40}.gguf", home.files[ONE_TARGET])
    lines = slipstream("models", "list").out.splitlines()
    assert any(line.startswith("toy:latest ") for line in lines)
    assert any(line.startswith("…") and "longlong" in line for line in lines)
    assert lines[0].index("model") == 44 + 2
    cut = next(line.split()[0] for line in lines if line.startswith("…"))
    assert slipstream("models", "where", cut).out.endswith("longlong.gguf\n"), "what the list shows can be typed"
    assert "sha256" not in "".join(lines)
    blob = next((store / "blobs").iterdir())
    assert slipstream("models", "where", "toy:latest").out == f"{blob}\n"


def test_list_says_what_other_tools_left_behind(home: Home, slipstream: Slipstream) -> None:
    store = home.user / ".ollama" / "models"
    manifest = write_ollama(store, "registry.ollama.ai/library/toy/latest", {})
    manifest.write_text("none")
    words = f"{manifest}: its manifest cannot be understood."
    result = slipstream("models", "list")
    assert (result.code, result.err) == (0, f"{words}\n")
    assert json.loads(slipstream("models", "list", "--json").out)["complaints"] == [words]


def test_a_folder_that_is_a_link_to_nowhere_is_not_added(home: Home, slipstream: Slipstream, tmp_path: Path) -> None:
    link = tmp_path / "models-disk"
    link.symlink_to(tmp_path / "unplugged")
    result = slipstream("models", "add", str(link))
    assert (result.code, result.err) == (
        1, f"{link} is a link that leads nowhere; a folder with model files is wanted.\n",
    )  # fmt: skip


@pytest.mark.parametrize("context", [-1, 0, 15, 2**31, 10**20])
def test_a_check_names_the_contexts_that_there_are(home: Home, slipstream: Slipstream, context: int) -> None:
    home.put(ONE_TARGET)
    result = slipstream("models", "check", "one-Q8_0", "--context", str(context))
    assert (result.code, result.err) == (
        1, f"There is no context of {context:,} tokens: 16 to 2,147,483,647 tokens are possible.\n",
    )  # fmt: skip


def test_without_a_command_the_list_is_shown(slipstream: Slipstream) -> None:
    assert slipstream("models").out == slipstream("models", "list").out


def test_list_as_json(home: Home, slipstream: Slipstream) -> None:
    listed = json.loads(slipstream("models", "list", "--json").out)
    one = next(model for model in listed["models"] if model["key"] == "one")
    assert (one["state"], one["usable"], one["fetchable"], one["speed"]) == ("not here", False, True, None)
    assert listed["free_disk"] > 0


def test_mistakes_in_the_users_catalogue_are_said_on_stderr(home: Home, slipstream: Slipstream) -> None:
    (home.folder / "models.toml").write_text('[[pair]]\nname = "mine"\n')
    result = slipstream("models", "list")
    assert result.code == 0
    assert 'entry "mine"' in result.err
    assert "the entry is left out." in result.err


def test_rm_shows_what_goes_asks_and_deletes(home: Home, slipstream: Slipstream) -> None:
    assert slipstream("models", "pull", "one", "--yes").code == 0
    kept = slipstream("models", "rm", "one", answer="n\n")
    assert kept.code == 1
    assert "delete " in kept.out
    assert kept.err.endswith("Nothing was deleted.\n")
    assert (home.models / ONE_TARGET).exists()
    done = slipstream("models", "rm", "one", "--yes")
    assert done.code == 0
    assert "One with draft is deleted;" in done.out
    assert "are free again" in done.out
    assert home.names() == []
    again = slipstream("models", "rm", "one", "--yes")
    assert (again.code, again.err) == (1, "Nothing of One with draft is on this disk; nothing was deleted.\n")


def test_rm_leaves_what_others_put_there(home: Home, slipstream: Slipstream) -> None:
    mine, theirs = home.put("mine.gguf", home.files[ONE_TARGET]), home.studio("theirs.gguf", home.files[OTHER_TARGET])
    for name, file in (("mine", mine), ("theirs", theirs)):
        result = slipstream("models", "rm", name, "--yes")
        assert result.code == 1
        assert "Slipstream did not fetch it. Delete it yourself if you want it gone." in result.err
        assert file.exists()
    unknown = slipstream("models", "rm", "nobody", "--yes")
    assert unknown.err == "Nothing on this disk is called nobody. See: slipstream models list\n"


def test_check_judges_a_pair_by_its_files(
    home: Home, random_model: Path, slipstream: Slipstream, tmp_path: Path
) -> None:
    home.put(ONE_TARGET)
    home.put(SHARED_DRAFT)
    home.put("random.gguf", random_model.read_bytes())
    good = slipstream("models", "check", "one-Q8_0", "draft-Q8_0", "--context", "256")
    assert good.code == 0
    assert "256 tokens of context" in good.out
    assert good.out.endswith(
        "\n\nThis works here, but this draft will not pay: answers stay the same and do not come faster.\n"
    )
    bad = slipstream("models", "check", "one-Q8_0", "random")
    assert bad.code == 1
    assert "vocabulary" in bad.out
    assert bad.out.endswith("\n\nThe target works here, alone or with prompt lookup; this draft cannot serve it.\n")
    told = json.loads(slipstream("models", "check", "one-Q8_0", "random", "--json").out)
    assert told["usable"] is False
    assert told["words"] == "The target works here, alone or with prompt lookup; this draft cannot serve it."
    assert any(fact["warning"] for fact in told["facts"])
    alone = slipstream("models", "check", "one-Q8_0")
    assert alone.code == 0
    assert alone.out.endswith("\n\nThe target works here, alone or with prompt lookup.\n")
    drafts = alone.out[alone.out.index("drafts ") :]
    assert drafts.startswith("drafts  prompt lookup: free, needs no file")
    assert "draft F32: " in drafts
    assert "random" in drafts
    assert "vocabulary" in drafts
    home.studio("plain.gguf", write_model(tmp_path / "m.gguf", tensors=[]).read_bytes())
    unknown = slipstream("models", "check", "plain").out.splitlines()[0]
    assert unknown.split() == ["target", "plain,", str(home.user / ".lmstudio/models/pub/model/plain.gguf")]
    absent = slipstream("models", "check", "other")
    assert absent.code == 1
    assert absent.err == ("other-Q8_0.gguf of other is not on this disk. Get it with: slipstream models pull other\n")
    nothing = slipstream("models", "check")
    assert nothing.code == 1
    assert nothing.err.startswith("Name a target (slipstream models check TARGET [DRAFT])")


def test_check_counts_the_gpus_that_the_engine_reports(
    monkeypatch: pytest.MonkeyPatch, home: Home, slipstream: Slipstream
) -> None:
    home.put(ONE_TARGET)
    card = Device(name="CUDA0", description="a card", kind="gpu", memory_total=24 * 10**9, memory_free=20 * 10**9)
    described = Described(
        id=0, versions={}, system_info="", devices=(card,), gpu_offload=True, threads=2, cores="", environment={},
        exact_settings={},
    )  # fmt: skip
    monkeypatch.setattr(client, "describe_engine", lambda patience: described)
    assert "layers on the GPU" in slipstream("models", "check", "one-Q8_0").out

    def silent(patience: float) -> None:
        raise TimeoutError

    monkeypatch.setattr(client, "describe_engine", silent)
    alone = slipstream("models", "check", "one-Q8_0")
    assert "on the GPU" not in alone.out
    assert alone.err == "The engine did not say which GPUs there are; main memory alone is counted.\n"


def test_the_catalogue_is_compared_with_the_hub(home: Home, hub: Hub, slipstream: Slipstream) -> None:
    result = slipstream("models", "check", "--catalogue")
    lines = result.out.splitlines()
    assert result.code == 1, "the shipped pairs are not on this hub"
    assert any(line.startswith("ok    one") for line in lines)
    assert any(line.startswith("FAIL  qwen3-4b") for line in lines)
    told = json.loads(slipstream("models", "check", "--catalogue", "--json").out)
    assert {file["ok"] for file in told["files"] if file["pair"] == "one"} == {True}


def test_add_uses_a_folder_and_forget_leaves_it(home: Home, tmp_path: Path, slipstream: Slipstream) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "own.gguf").write_bytes(home.files[ONE_TARGET])
    added = slipstream("models", "add", str(folder))
    assert added.out == f"Models in {folder} are used where they lie: 1 model. See: slipstream models list\n"
    assert str(folder) in slipstream("models", "where").out
    assert slipstream("models", "where", "own").out == f"{folder / 'own.gguf'}\n"
    gone = slipstream("models", "add", str(folder), "--forget")
    assert gone.out == f"{folder} is not looked at any more; its files stay where they are.\n"
    again = slipstream("models", "add", str(folder), "--forget")
    assert (again.code, again.err) == (1, f"{folder} was not looked at before; nothing was changed.\n")
    missing = slipstream("models", "add", str(tmp_path / "nowhere"))
    assert missing.code == 1
    assert "does not exist; a folder with model files is wanted." in missing.err
    where = slipstream("models", "where", "one")
    assert (where.code, where.err) == (
        1, "Nothing of one is on this disk. Get it with: slipstream models pull one\n"
    )  # fmt: skip


def test_where_of_what_is_partly_here_says_so(home: Home, slipstream: Slipstream) -> None:
    part = home.put("some/Model-GGUF/Model-Q4_K_M.gguf.part", bytes(1200))
    loose = slipstream("models", "where", "Model-Q4_K_M")
    assert (loose.code, loose.out, loose.err) == (
        1, "", f"Model-Q4_K_M.gguf is not whole: 1 kB are here ({part}); this continues it: slipstream models pull "
        "some/Model-GGUF/Model-Q4_K_M.gguf.\n",
    )  # fmt: skip
    draft = home.put(SHARED_DRAFT)
    home.put(f"{ONE_TARGET}.part", bytes(1200))
    pair = slipstream("models", "where", "one")
    assert (pair.code, pair.out) == (0, f"{draft}\n")
    assert pair.err.startswith("one-Q8_0.gguf is not whole: 1 of ")
    assert pair.err.endswith(" are here; this continues it: slipstream models pull one.\n")
    draft.unlink()
    alone = slipstream("models", "where", "one")
    assert (alone.code, alone.out, alone.err) == (1, "", pair.err)


def test_a_disk_that_keeps_no_facts_is_said_to_the_log_alone(
    home: Home, slipstream: Slipstream, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    home.put(ONE_TARGET)
    paths.model_facts_file().mkdir(parents=True)
    result = slipstream("models", "where", "one-Q8_0")
    assert (result.code, result.err) == (0, "")
    told = [record for record in caplog.records if record.name == "app.library.facts"]
    assert ["not used" in told[0].message, "not kept" in told[-1].message] == [True, True]
    assert not [record for record in told if record.levelno >= logging.WARNING], "without a log file that is on stderr"


def test_verify_compares_and_names_what_is_damaged(home: Home, slipstream: Slipstream) -> None:
    nothing = slipstream("models", "verify")
    assert (nothing.code, nothing.out) == (0, "")
    assert nothing.err == "There is no file that Slipstream fetched yet; nothing was compared.\n"
    assert slipstream("models", "pull", "one", "--yes").code == 0
    whole = slipstream("models", "verify", "one")
    assert whole.code == 0
    assert whole.out.count(": whole, ") == 2
    data = bytearray(home.files[ONE_TARGET])
    data[-1] ^= 1
    (home.models / ONE_TARGET).write_bytes(data)
    damaged = slipstream("models", "verify")
    assert damaged.code == 1
    assert "one-Q8_0.gguf is damaged: hash" in damaged.out


def test_model_names_resolve_to_what_is_on_the_disk(home: Home, slipstream: Slipstream) -> None:
    absent = slipstream("ask", "hi", "--model", "one")
    assert absent.code == 1
    assert absent.err == "one-Q8_0.gguf is not on this machine yet; this gets it: slipstream models pull one\n"
    hub_model = slipstream("ask", "hi", "--model", "org/one-GGUF:Q8_0")
    assert hub_model.err == (
        "org/one-GGUF:Q8_0 is not on this machine yet; this gets it: slipstream models pull org/one-GGUF:Q8_0\n"
    )
    home.studio("one-Q8_0.gguf", home.files[ONE_TARGET])
    half = slipstream("ask", "hi", "--model", "one")
    assert half.code == 0
    assert half.err.startswith(
        "Until its draft is here, One with draft drafts from the text so far: draft-Q8_0.gguf is not on this machine "
        "yet; this gets it: slipstream models pull one\n"
    )
    assert slipstream("models", "pull", "one", "--yes").code == 0
    whole = slipstream("ask", "hi", "--model", "one")
    assert whole.code == 0
    assert "not on this machine" not in whole.err
    home.studio("page.gguf", b"<html>404</html>" * 50)
    broken = slipstream("ask", "hi", "--model", "page")
    assert broken.code == 1
    assert broken.err.startswith("page.gguf is not a GGUF model file")


def test_an_empty_folder_name_is_not_the_current_folder(slipstream: Slipstream) -> None:
    added = slipstream("models", "add", "")
    assert (added.code, added.out) == (1, "")
    assert added.err == "No folder was named: the name is empty. The current folder is named by a dot.\n"


def test_help_names_every_command(slipstream: Slipstream) -> None:
    text = slipstream("models", "--help").out
    assert all(f" {name} " in text for name in "list pull rm check add verify where".split())


def test_the_shelf_of_the_commands_is_the_real_one(home: Home) -> None:
    assert isinstance(common.open_shelf(), Shelf)
