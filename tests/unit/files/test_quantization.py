"""How weights are stored, and how many there are."""

from __future__ import annotations

from pathlib import Path

import gguf
import pytest

from engine.files.header import read_header
from engine.files.quantization import FILE_TYPES, TENSOR_TYPES, parameters, quantization
from engine.files.tensor_types import BLOCKS
from tests.fixtures.headers import F32, Q4_K, Q8_0, write_model


def test_a_real_model(smol_path: Path) -> None:
    header = read_header(smol_path)
    assert quantization(header) == "Q4_1"
    assert round(parameters(header) / 1e6) == 135


@pytest.mark.parametrize(
    ("file_type", "words"), [(15, "Q4_K_M"), (7, "Q8_0"), (1024 + 15, "Q4_K"), (9999, "Q4_K"), (None, "Q4_K")]
)
def test_the_files_word_counts_where_it_is_known(tmp_path: Path, file_type: int | None, words: str) -> None:
    tensors = [("a", (256, 8), Q4_K), ("b", (64,), F32), ("c", (32, 8), Q8_0)]
    path = write_model(tmp_path / "m.gguf", extra={"general.file_type": file_type}, tensors=tensors)
    assert quantization(read_header(path)) == words


def test_a_file_of_which_nothing_is_known(tmp_path: Path) -> None:
    header = read_header(write_model(tmp_path / "m.gguf", tensors=[]))
    assert (quantization(header), parameters(header)) == (None, 0)


def test_the_names_are_the_librarys_own() -> None:
    theirs = {int(kind): kind.name.removeprefix("MOSTLY_").removeprefix("ALL_") for kind in gguf.LlamaFileType}
    for number, name in FILE_TYPES.items():
        if number in theirs:
            assert theirs[number].removesuffix("_MOE") == name
    for number, name in TENSOR_TYPES.items():
        assert number in BLOCKS
        if number in set(gguf.GGMLQuantizationType):
            assert gguf.GGMLQuantizationType(number).name == name
