"""What is on the disk already: whole or not, once each, read in place, and quickly."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from app.library import facts as facts_module
from app.library.catalog import catalog
from app.library.found import Candidate
from app.library.local import LocalModel, LocalScan, parameter_words, scan
from app.library.ollama import OllamaStore
from app.library.origins import Origin, write_origin
from app.library.places import Folder, Packages
from app.library.walk import LeftOut
from engine.files.fingerprint import SPAN, fingerprint
from engine.files.fit import judge_fit
from tests.fixtures.disks import write_ollama, write_parts
from tests.fixtures.headers import F16, I8, Q4_K, write_header, write_model

Only = Callable[[], LocalModel]
Scan = Callable[..., LocalScan]


def test_the_starter_as_it_is_read() -> None:
    (source,) = [pair.target for pair in catalog().pair if pair.name == "smollm2-135m"]
    (model,) = scan([Packages((source,))]).models
    assert (model.name, model.origin, model.quantization) == ("SmolLM2-135M-Instruct", "Python package", "Q4_1")
    assert (model.architecture, model.size_label, model.context_trained) == ("llama", "135M", 8192)
    assert (model.size, model.facts.layers, model.facts.has_template) == (98_362_432, 30, True)
    assert model.parts == (model.path,)
    assert model.usable
    assert judge_fit(model.shape, free=8_000_000_000).words == "fits"


def test_what_a_file_says_of_itself(folder: Path, only: Only) -> None:
    tensors = [("token_embd.weight", (256, 1000), F16), ("blk.0.x", (256, 4_000_000), Q4_K)]
    extra = {"general.file_type": 15, "general.size_label": "1.0B"}
    write_model(folder / "org" / "Some-1B-Q4_K_M.gguf", extra=extra, tensors=tensors, context=32_768)
    model = only()
    assert (model.name, model.origin, model.quantization, model.size_label) == ("Some-1B", "here", "Q4_K_M", "1.0B")
    assert (model.context_trained, model.parameters) == (32_768, 1_024_256_000)
    assert model.size == model.path.stat().st_size
    assert model.shape.weights > 500_000_000


@pytest.mark.parametrize(
    ("parameters", "words"),
    [(0, ""), (270_000, "0.3M"), (134_515_008, "135M"), (1_710_000_000, "1.7B"), (999_600_000, "1.0B"),
     (13_900_000_000, "14B")],
)  # fmt: skip
def test_parameters_in_words(parameters: int, words: str) -> None:
    assert parameter_words(parameters) == words


# ---------------------------------------------------------------------------------------------------- whole or not


def test_every_broken_file_is_listed_with_its_reason(folder: Path, look: Scan, text_gguf: Path) -> None:
    write_model(folder / "good.gguf")
    cut = write_model(folder / "cut.gguf")
    os.truncate(cut, cut.stat().st_size - 1000)
    (folder / "empty.gguf").touch()
    shutil.copy(text_gguf, folder / "page.gguf")
    (folder / "old.gguf").write_bytes(b"GGUF\x01\0\0\0" + bytes(16))
    write_header(folder / "zero.gguf", {}, [("a", (0,), I8)])
    faults = {model.path.name: model.fault for model in look().models}
    size = cut.stat().st_size
    assert faults == {
        "good.gguf": None,
        "cut.gguf": f"cut.gguf is incomplete: the header promises {size + 1000:,} bytes, {size:,} are here",
        "empty.gguf": "empty.gguf is empty",
        "page.gguf": "page.gguf is not a GGUF model file",
        "old.gguf": "old.gguf is GGUF version 1; versions 2 and 3 are supported",
        "zero.gguf": "zero.gguf is broken: tensor 'a' has a dimension of zero",
    }
    assert all(model.why_not == model.fault for model in look().models)


def test_a_file_that_may_not_be_read(folder: Path, only: Only, monkeypatch: pytest.MonkeyPatch) -> None:
    write_model(folder / "m.gguf")

    def refuse(path: Path, *, seen: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(facts_module, "read_header", refuse)
    assert only().fault == "it cannot be read: permission denied"


def test_a_model_in_parts_is_one_model(folder: Path, only: Only) -> None:
    paths = write_parts(folder / "big", "Cut-7B-Q8_0", 3)
    model = only()
    assert (model.name, model.path, model.parts) == ("Cut-7B", paths[0], tuple(paths))
    assert model.size == sum(path.stat().st_size for path in paths)
    assert model.parameters == 3 * 1032
    assert 3 * 1064 <= model.shape.weights <= 3 * 1200
    assert model.fault is None


@pytest.mark.parametrize(
    ("leave_out", "fault"),
    [
        ([2], "part 2 of 3 is missing (Cut-00002-of-00003.gguf)"),
        ([1], "part 1 of 3 is missing (Cut-00001-of-00003.gguf)"),
        ([2, 3], "parts 2 and 3 of 3 are missing (Cut-00002-of-00003.gguf)"),
    ],
)
def test_missing_parts_are_named(folder: Path, only: Only, leave_out: list[int], fault: str) -> None:
    write_parts(folder, "Cut", 3, leave_out=leave_out)
    assert only().fault == fault


def test_many_missing_parts_are_counted(folder: Path, only: Only) -> None:
    write_parts(folder, "Cut", 12, leave_out=range(2, 13))
    assert only().fault == "parts 2, 3, 4, 5, 6 and 6 more of 12 are missing (Cut-00002-of-00012.gguf)"


def test_parts_in_two_folders_are_not_together(folder: Path, look: Scan) -> None:
    paths = write_parts(folder, "Cut", 2)
    (folder / "other").mkdir()
    paths[1].rename(folder / "other" / paths[1].name)
    assert sorted(model.fault or "" for model in look().models) == [
        "part 1 of 2 is missing (Cut-00001-of-00002.gguf)",
        "part 2 of 2 is missing (Cut-00002-of-00002.gguf)",
    ]


def test_a_part_that_is_cut_short(folder: Path, only: Only) -> None:
    paths = write_parts(folder, "Cut", 2)
    size = paths[1].stat().st_size
    os.truncate(paths[1], size - 500)
    assert only().fault == (
        f"part 2 of 2: {paths[1].name} is incomplete: the header promises {size:,} bytes, {size - 500:,} are here"
    )


def test_parts_that_do_not_belong_together(folder: Path, only: Only) -> None:
    write_parts(folder, "Cut", 2, tensors_of_all=7)
    assert only().fault == "its parts do not belong together: they hold 4 tensors, and 7 are announced"


def test_a_file_that_only_bears_the_name_of_a_part(folder: Path, only: Only) -> None:
    paths = write_parts(folder, "Cut", 2)
    write_model(paths[1])
    assert only().fault == "the header of part 2 of 2 does not say that it is that part"


def test_a_part_under_another_name(folder: Path, only: Only) -> None:
    paths = write_parts(folder, "Cut", 2)
    paths[1].unlink()
    paths[0].rename(folder / "renamed.gguf")
    assert only().fault == ("it is part 1 of 2 of a model, and its name does not say so, so the others cannot be found")


def test_a_name_like_a_part_of_one(folder: Path, only: Only) -> None:
    write_model(folder / "m-00001-of-00001.gguf")
    assert only().fault is None


def test_what_other_tools_rename(tmp_path: Path) -> None:
    store = tmp_path / "store"
    write_ollama(store, "registry.ollama.ai/library/ok/1b", {"model": write_model(tmp_path / "m.gguf")})
    (part, _) = write_parts(tmp_path, "Cut", 2)
    write_ollama(store, "registry.ollama.ai/library/cut/1b", {"model": part})
    write_ollama(store, "registry.ollama.ai/library/mlx/1b", {"model": b"safetensors and more"})
    found = scan([OllamaStore(store)])
    assert {model.name: model.fault for model in found.models} == {
        "ok:1b": None,
        "cut:1b": "it is part 1 of 2 of a model, and the tool that keeps it has renamed it, so the others cannot be "
        "found",
    }
    assert [one.reason for one in found.left_out] == ["mlx:1b is kept in another format than GGUF"]


# ------------------------------------------------------------------------------------------------------- once each


def test_links_to_one_file_are_one_model(folder: Path, only: Only) -> None:
    path = write_model(folder / "a.gguf")
    (folder / "b.gguf").symlink_to(path)
    os.link(path, folder / "c.gguf")
    model = only()
    assert (model.path.name, [other.name for other in model.also_at]) == ("a.gguf", ["b.gguf", "c.gguf"])


def test_copies_are_one_model_where_it_was_looked_first(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    original = write_model(theirs / "m.gguf")
    ours.mkdir()
    shutil.copy(original, ours / "copy.gguf")
    found = scan([Folder(ours, "first"), Folder(theirs, "second")])
    (model,) = found.models
    assert (model.path, model.origin, model.also_at) == (ours / "copy.gguf", "first", (original,))
    assert found.at(original) is model
    assert found.at(tmp_path) is None


def test_files_of_one_size_that_differ_are_two(folder: Path, look: Scan) -> None:
    for number, data in enumerate((b"a", b"b")):
        path = write_model(folder / f"{number}.gguf")
        with open(path, "r+b") as file:
            file.seek(-1, os.SEEK_END)
            file.write(data)
    assert len(look().models) == 2


LARGE = 3 * SPAN
"""A file whose fingerprint leaves out its middle."""


def test_files_that_differ_in_the_middle_alone_are_two(folder: Path, look: Scan) -> None:
    one, other = (write_model(folder / f"{name}.gguf", size=LARGE) for name in "ab")
    with open(other, "r+b") as file:
        file.seek(LARGE // 2)
        file.write(b"other")
    assert fingerprint(one) == fingerprint(other)
    assert [model.also_at for model in look().models] == [(), ()]


def test_large_files_are_copies_only_where_their_hashes_are_known(folder: Path, look: Scan) -> None:
    paths = [write_model(folder / f"{name}.gguf", size=LARGE) for name in "abc"]
    for path, known in zip(paths, ("0" * 64, "0" * 64, "1" * 64), strict=True):
        write_origin(path, Origin("o/r", "c" * 40, path.name, path.stat().st_size, sha256=known))
    write_model(folder / "d.gguf", size=LARGE)
    found = {model.path.name: [also.name for also in model.also_at] for model in look().models}
    assert found == {"a.gguf": ["b.gguf"], "c.gguf": [], "d.gguf": []}


def test_broken_files_are_never_copies_of_each_other(folder: Path, look: Scan) -> None:
    (folder / "a.gguf").touch()
    (folder / "b.gguf").touch()
    assert len(look().models) == 2


def test_two_snapshots_of_a_model_in_parts(tmp_path: Path) -> None:
    whole, old = tmp_path / "new", tmp_path / "old"
    paths = write_parts(whole, "Cut", 2)
    old.mkdir()
    (old / paths[0].name).symlink_to(paths[0])
    for order in ([old, whole], [whole, old]):
        (model,) = scan([Folder(folder, "hub") for folder in order]).models
        assert (model.path, model.fault, len(model.also_at)) == (paths[0], None, 1)


class Vanishing:
    """A place whose file is gone when it is looked at."""

    origin = "here"

    def __init__(self, path: Path) -> None:
        self._path = path

    def find(self) -> list[Candidate]:
        return [Candidate(self._path, self.origin)]


def test_a_file_that_vanishes_meanwhile(tmp_path: Path) -> None:
    found = scan([Vanishing(tmp_path / "m.gguf")])  # type: ignore[list-item]
    assert found.models == ()
    assert found.left_out == (LeftOut(tmp_path / "m.gguf", "here", "it cannot be read: no such file or directory"),)


def test_an_impossible_number_of_layers_is_a_reason_and_not_ready(folder: Path, only: Only) -> None:
    write_model(folder / "m.gguf", layers=0)
    model = only()
    assert (model.usable, model.why_not) == (False, "m.gguf is broken: it claims 0 layers, and 1 to 512 are possible")


@pytest.mark.parametrize(
    ("extra", "why"),
    [
        ({"llama.attention.head_count": 0}, "its header is damaged: it claims no attention head"),
        (
            {"llama.attention.head_count_kv": 2**32 - 1},
            "its header is damaged: it claims 4 attention heads and 4,294,967,295 for keys and values",
        ),
        (
            {"llama.attention.key_length": 2**31},
            "its header is damaged: it claims sizes that take 549,755,817,984 weights, and has 99,968",
        ),
        (
            {"llama.context_length": 2**32 - 1},
            "m.gguf is broken: it claims to be trained for 4,294,967,295 tokens of context, and 1 to 2,147,483,647 are "
            "possible",
        ),
    ],
    ids=["no heads", "heads", "keys", "context"],
)
def test_a_header_that_cannot_be_true_is_a_reason_and_not_ready(
    folder: Path, only: Only, extra: dict[str, int], why: str
) -> None:
    write_model(folder / "m.gguf", extra=extra)
    model = only()
    assert (model.usable, model.fault, model.why_not) == (False, why, why)


def test_parts_whose_weights_are_too_few_together(folder: Path, only: Only) -> None:
    (first, _) = write_parts(folder, "Cut", 2)
    assert only().fault is None
    tensors = [("blk.0.a", (1000,), I8), ("blk.0.b", (32,), F16)]
    split = {"split.no": 0, "split.count": 2, "split.tensors.count": 4, "llama.feed_forward_length": 2**20}
    write_model(first, name="Cut", extra=split, tensors=tensors)
    assert only().fault == ("its header is damaged: it claims sizes that take 67,108,864 weights, and has 2,064")
