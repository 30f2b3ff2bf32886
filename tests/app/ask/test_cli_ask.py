"""``slipstream ask``: the answer, the prompt, the options."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fixtures_cli.results import Slipstream, requests

# ------------------------------------------------------------------------------------------------------- the answer


def test_stdout_is_the_answer_and_stderr_the_receipt(ask: Slipstream) -> None:
    result = ask("hello", "--seed", "5")
    assert (result.code, result.out) == (0, "Hello there.\n")
    assert result.err == (
        "42.1 tok/s · accepted 50 % (1/2) · 1.0 tok/pass · 0.4 s to first · 3 tok · ctx 8/8k · lookup · seed 5 · "
        "exact settings, untested · CPU\n"
    )


def test_text_that_ends_its_line_gets_no_second_line_end(ask: Slipstream) -> None:
    assert ask("hello", play={"pieces": ["one\n", "two\n"]}).out == "one\ntwo\n"


def test_a_pipe_gets_the_text_as_it_is(ask: Slipstream) -> None:
    text = "\x1b[2J\x07 \u202eback\u202c \r\n\x00end \U0001f30a\n"
    assert ask("hello", play={"pieces": [text]}).out == text


def test_json_is_one_object_with_everything(ask: Slipstream) -> None:
    result = ask("hello", "--json", "--seed", "9")
    assert result.code == 0
    answer = json.loads(result.out)
    assert set(answer) == {"text", "token_ids", "finish_reason", "receipt", "stats"}
    assert (answer["text"], answer["token_ids"], answer["finish_reason"]) == ("Hello there.", [0, 1, 2], "stop")
    assert answer["receipt"]["seed"] == 9
    wanted = (
        "prompt_tokens prompt_tokens_cached output_tokens target_passes drafted accepted rejected discarded acceptance "
        "coverage tokens_per_pass decode_tokens_per_second time_to_first_token load_seconds prefill_seconds "
        "draft_seconds verify_seconds choose_seconds total_seconds"
    )
    assert set(wanted.split()) <= set(answer["stats"])
    assert answer["stats"]["coverage"] is None
    assert isinstance(answer["stats"]["load_seconds"], float)


def test_what_was_done_otherwise_than_asked_is_said(ask: Slipstream) -> None:
    play = {"draft_refused": "vocabulary differs at id 1204", "notes": ["context trimmed to 4096 tokens"]}
    lines = ask("hello", play=play).err.splitlines()
    assert lines[1:] == ["lookup: draft refused, vocabulary differs at id 1204", "context trimmed to 4096 tokens"]


def test_a_refused_draft_is_told_also_where_this_answer_would_not_have_used_it(ask: Slipstream) -> None:
    lines = ask(
        "hello", "--speculation", "off", play={"draft_refused": "vocabulary differs at id 1204"}
    ).err.splitlines()
    assert lines[1:] == ["draft refused: vocabulary differs at id 1204"]


def test_a_draft_that_cannot_be_used_is_one_that_was_refused(ask: Slipstream, tmp_path: Path) -> None:
    record = tmp_path / "requests"
    assert ask("hello", "--draft", "nosuch", play={"record": str(record)}).code == 0
    load = requests(record)[0]["settings"]
    assert (load["draft"], load["draft_refused"]) == (None, "no model is named nosuch")


def test_an_answer_that_hit_its_limit_says_so(ask: Slipstream) -> None:
    result = ask("hello", play={"finish_reason": "length"})
    assert result.code == 0
    assert result.err.strip().endswith("stopped at the limit")


# ------------------------------------------------------------------------------------------------------- the prompt


@pytest.mark.parametrize(
    ("argument", "stdin", "prompt"),
    [
        (["hello"], None, "hello"),
        (["hello"], b"", "hello"),
        (["hello"], b" \n", "hello"),
        ([], b"from a pipe\n", "from a pipe\n"),
        (["sum up:"], b"a text", "sum up:\n\na text"),
        ([], b"\xef\xbb\xbfwith a mark", "with a mark"),
        ([], b"bad \xff\xc3 bytes", "bad \ufffd\ufffd bytes"),
        (["bad \udcff argument"], None, "bad \ufffd argument"),
        (["--", "--json"], None, "--json"),
    ],
)
def test_the_prompt(ask: Slipstream, tmp_path: Path, argument: list[str], stdin: bytes | None, prompt: str) -> None:
    record = tmp_path / "requests"
    assert ask(*argument, stdin=stdin, play={"record": str(record)}).code == 0
    messages = next(request for request in requests(record) if request["kind"] == "generate")["settings"]["messages"]
    assert messages == [{"role": "user", "content": prompt}]


def test_a_prompt_that_no_engine_could_take_is_refused_at_once(ask: Slipstream) -> None:
    result = ask(stdin=b"x" * (8 * 1024 * 1024 + 1))
    assert (result.code, result.out) == (1, "")
    assert result.err == "Standard input holds more than 8 MiB of text, too much for one prompt.\n"


def test_options_reach_the_engine(ask: Slipstream, tmp_path: Path, model: Path) -> None:
    record = tmp_path / "requests"
    draft = tmp_path / "draft.gguf"
    draft.write_bytes(b"GGUF")
    options = (
        f"hello --draft {draft} --speculation draft --draft-max 5 --temperature 0 --top-k 3 --top-p 0.5 --min-p 0.1 "
        "--seed 42 --max-tokens 7 --stop END --stop FIN --system Brief. --context 512 --threads 3 --mode exact "
        "--gpu-layers 12 --draft-gpu-layers all"
    ).split()
    assert ask(*options, play={"record": str(record)}).code == 0
    load, generate = requests(record)
    assert load["settings"] == {
        "target": {"path": str(model), "gpu_layers": 12},
        "draft": {"path": str(draft), "gpu_layers": "all"},
        "draft_refused": None,
        "context": 512,
        "threads": 3,
        "mode": "exact",
    }
    sampling = generate["settings"].pop("sampling")
    assert sampling.items() >= {"temperature": 0.0, "top_k": 3, "top_p": 0.5, "min_p": 0.1}.items()
    assert generate["settings"] == {
        "messages": [{"role": "system", "content": "Brief."}, {"role": "user", "content": "hello"}],
        "seed": 42,
        "speculation": "draft",
        "draft_max": 5,
        "max_tokens": 7,
        "stop": ["END", "FIN"],
        "overflow": "stop",
        "prompt_ids": [],
        "fresh": False,
        "answer_so_far": None,
        "thinking": None,
    }


def test_the_settings_file_counts_below_the_options(ask: Slipstream, tmp_path: Path) -> None:
    record = tmp_path / "requests"
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.toml").write_text('temperature = 0.2\ntop_k = 9\ncolour = "red"\n')
    result = ask("hello", "--top-k", "5", play={"record": str(record)})
    sampling = requests(record)[1]["settings"]["sampling"]
    assert (sampling["temperature"], sampling["top_k"]) == (0.2, 5)
    assert result.err.splitlines()[0] == "settings.toml: there is no setting 'colour'; it is ignored"
